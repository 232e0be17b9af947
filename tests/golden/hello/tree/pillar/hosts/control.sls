#!json
{
  "eos": {
    "volumes": {},
    "workspaces": {
      "production/hello": {
        "digest": "d13b48f8658a31d1b8aa19ee49446ab831d0abade725a39309fe325e75e03ea7",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/hello/main.tf": "091aaab03d17b5d581bda7dbc151b6adc9b51fbd75b40f47f768b9fad5e50216",
          "terraform/environments/production/hello/terraform.tfvars.json": "7d5dc705e5a533e3f9575d021c229d374319a0b77319e232b455562b49455cdb",
          "terraform/environments/production/hello/variables.tf": "c88989b6554dec84fd722cb78c49aaf5895ef2832f54862e7ef21378b123220c",
          "terraform/modules/hello/545fdd64d787/hello.nomad.hcl": "8a363c4275ab50792b586bc586560e92e736ac1bab4f52599e50ee595c9c8846",
          "terraform/modules/hello/545fdd64d787/main.tf": "9ee4abc2bea71893450a6212bf08d68afc905f0699e628e3f50636d73fc7e295",
          "terraform/modules/hello/545fdd64d787/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hello/545fdd64d787/variables.tf": "6cd1bbfed327f68583041d55ade345110b72e4a5d7989d39831da1ffc1a23fbb"
        },
        "hosts": [],
        "secrets": []
      },
      "production/platform": {
        "digest": "979cd0b5839e33386add654a9eac64a64302808cb8e58792c691af37fac367b2",
        "risk": "low",
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
      }
    }
  }
}
