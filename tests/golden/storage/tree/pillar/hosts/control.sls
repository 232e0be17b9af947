#!json
{
  "eos": {
    "volumes": {},
    "workspaces": {
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
      },
      "production/postgres": {
        "digest": "10229996a3aa3447485f17b435c81c3efb7129d514bd240920d59dd649631a98",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "618ca82b219d07fc61cf1ab25a13c7324c7a5ac80763c82423721ff9568c346b",
          "terraform/environments/production/postgres/terraform.tfvars.json": "6c0c2a1cea3e2120860777f34e7d8e6b518648f045ba0a2aa95034f91afe231f",
          "terraform/environments/production/postgres/variables.tf": "a844b90d471e260151470d3ad6ffda0a92f0276453865f1af6669e83c9453aee",
          "terraform/modules/postgres/e18745035d30/main.tf": "188a95e1e4f384d1b1440f0ad5c6575b6796aece26690e6b2a84d4ee4ff70968",
          "terraform/modules/postgres/e18745035d30/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/e18745035d30/postgres.nomad.hcl": "328c0ace2a106a65f23015a599811a33773fcbfba1b7008de16b44999600bad3",
          "terraform/modules/postgres/e18745035d30/variables.tf": "348ea2c2c5afb6d6d856f47b974c3bd42f0c8e86ea6ef43ca08dad9ffc03bd76"
        },
        "hosts": [
          "node1"
        ],
        "secrets": [
          {
            "namespace": "production",
            "path": "nomad/jobs/postgres",
            "items": [
              "password"
            ]
          }
        ]
      }
    }
  }
}
