#!json
{
  "eos": {
    "volumes": {
      "production/grafana/data": {
        "path": "/srv/lab/volumes/opt/grafana/data",
        "user": "472",
        "group": "472",
        "mode": "0750",
        "durability": "redundant",
        "risk": "low"
      }
    },
    "workspaces": {
      "production/grafana": {
        "digest": "bf035894350a9ba560303ba47a72d91d4a873f58c774b49492f5390a23f33307",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "e0f8eaa0362a798f4fae6278cee2ea8ec8bed1a1cfe5adb62f103a48c6fc2cfd",
          "terraform/environments/production/grafana/terraform.tfvars.json": "b9557d375cd759149f7624e72ae2e1dd26903ab29123b8276cfabab029dc86a0",
          "terraform/environments/production/grafana/variables.tf": "5a342798ef4fe8dfa94b89f3930b1e8ff503089d026b6d32706e9717cdab48d5",
          "terraform/modules/grafana/2460e343f872/grafana.nomad.hcl": "b327f7fe62beba89759ae014de58e17127d89453d001081f72c4085633eab8d0",
          "terraform/modules/grafana/2460e343f872/main.tf": "553928d3065974390fcad0ca77eab6b0d408c90d9167778ed6e760b25a145af7",
          "terraform/modules/grafana/2460e343f872/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/2460e343f872/variables.tf": "909c14e6505710b19fc4047a97e78218984cd6b21a8ffa6562efd7465beeea6d"
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
