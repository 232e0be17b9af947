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
        "digest": "cb0c9446649a69fad26475e7fa0b7a9cc7b61dd39f699543e1a79b9abb366a5d",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "63d09a701fc539b8cfd4c4e2e5fe9ad528a37d3bcd83cf31142ec52564eccb7d",
          "terraform/environments/production/postgres/terraform.tfvars.json": "13035c07634df7d8ba9b46cc7069da363fa19c9497fed0943992cba80cd8559d",
          "terraform/environments/production/postgres/variables.tf": "a844b90d471e260151470d3ad6ffda0a92f0276453865f1af6669e83c9453aee",
          "terraform/modules/postgres/854bbc5908b9/main.tf": "188a95e1e4f384d1b1440f0ad5c6575b6796aece26690e6b2a84d4ee4ff70968",
          "terraform/modules/postgres/854bbc5908b9/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/854bbc5908b9/postgres.nomad.hcl": "d3c2f7faec3b2ca1d8bcfc7c9cf206c78335551ba8347c7c2e3e49d6e4c8b185",
          "terraform/modules/postgres/854bbc5908b9/variables.tf": "348ea2c2c5afb6d6d856f47b974c3bd42f0c8e86ea6ef43ca08dad9ffc03bd76"
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
