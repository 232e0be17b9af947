#!json
{
  "eos": {
    "volumes": {},
    "workspaces": {
      "production/platform": {
        "digest": "979cd0b5839e33386add654a9eac64a64302808cb8e58792c691af37fac367b2",
        "token": "management",
        "files": {
          "terraform/environments/production/platform/main.tf": "89fae863ace655cdacab5501715a1520428308fce5521bccc62937de6eb1b3c5",
          "terraform/environments/production/platform/terraform.tfvars.json": "c7f521a02c3c45f11f60542f98f963d998680142c21cd31a79f33772b61db441",
          "terraform/environments/production/platform/variables.tf": "391d4eeeb216c825ea8e31470bd522d8babb2f5cf6236991bd08a49db9b58043",
          "terraform/modules/platform/4c09b8f9a47a/main.tf": "633209d1852a200d671e5e977c22ef6e5e41c54159e56db7fd83146c04435b63",
          "terraform/modules/platform/4c09b8f9a47a/outputs.tf": "47161ba1b19970fcda7bfdfe4180ce68335bd5820b192b224c3eca96c81b4b48",
          "terraform/modules/platform/4c09b8f9a47a/variables.tf": "391d4eeeb216c825ea8e31470bd522d8babb2f5cf6236991bd08a49db9b58043"
        },
        "hosts": [],
        "secrets": []
      },
      "production/hello": {
        "digest": "20d4e2e195d349a98d13cefd8ad44d5330f84fe725e75a1b687ededcdb057f14",
        "token": "client",
        "files": {
          "terraform/environments/production/hello/main.tf": "ea5e20234e9e4787670384f278a50b7e36f76ae5335ee7324b518767628f6ef8",
          "terraform/environments/production/hello/terraform.tfvars.json": "ec6d56f6f6a67ddc9a8193590cf6a125c55608ba413af05560761e4f3b1d01ac",
          "terraform/environments/production/hello/variables.tf": "4f2c0d5f77b287687aea5ad6cc257e42b2556085d5137856cdca760be3eab94f",
          "terraform/modules/hello/d6976e174bab/hello.nomad.hcl": "69e0534c73e646fd55c6067170057bd6644d090c3c9cdcbb3281aef13eaa2bca",
          "terraform/modules/hello/d6976e174bab/main.tf": "b30d0962676fc4120d6aa099a88dab3e2843ecdaab06397382259b9959bac76e",
          "terraform/modules/hello/d6976e174bab/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hello/d6976e174bab/variables.tf": "249879773ef45237363fb387af4fbc5b36d88ed1254552bbb99d71ab2e47a137"
        },
        "hosts": [],
        "secrets": []
      }
    }
  }
}
