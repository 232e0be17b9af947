#!json
{
  "eos": {
    "volumes": {
      "production/grafana/data": {
        "path": "/srv/lab/volumes/opt/grafana/data",
        "user": "472",
        "group": "472",
        "mode": "0750"
      }
    },
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
      "production/grafana": {
        "digest": "34156d9b8fe54345dfd9b70e1b921ed44432a852f9b98b3a9ac0746ec247d62a",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "f5e2e728730afa53cf2d91481bd07e3a4be9af804883a4dbff95cf2d9f7f23dc",
          "terraform/environments/production/grafana/terraform.tfvars.json": "a5964f15cff44a6ed4ae48bb84d6dd577e2f82c8c2d6694a51636c10d4aafa6e",
          "terraform/environments/production/grafana/variables.tf": "0dbbe2e44df662cc4db8dc44fbc30c7ba81ddaf5730e95e52a2d58b68f7a49ae",
          "terraform/modules/grafana/c0bf1a8dee97/grafana.nomad.hcl": "cd2a08135a487d89a213e28f6912793dfc338d0f0f74cdac8a05ef62b08bbe6c",
          "terraform/modules/grafana/c0bf1a8dee97/main.tf": "cc345290cd957ec79ed656e8c6312e8e6806ddc239d4c50d47ca17eae5501290",
          "terraform/modules/grafana/c0bf1a8dee97/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/c0bf1a8dee97/variables.tf": "b96a66207c52b04fd3817d77a7cfb715d18232e5f847f64cbcbad10aeb555fe5"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "production",
            "path": "nomad/jobs/grafana",
            "items": [
              "admin_password"
            ]
          }
        ]
      }
    }
  }
}
