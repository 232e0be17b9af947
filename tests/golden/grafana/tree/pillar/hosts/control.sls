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
        "digest": "2b9de1e31465bf9a8cc97e54a9baa1f1cfdf00fd260115a279b7aedfe7a3e9db",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "a1ed5768b948ed847350a2065fb81cca31cd1bcab752588ea0ca38fbb157efc8",
          "terraform/environments/production/grafana/terraform.tfvars.json": "66c1da789ebed2985e53baae28a0c81c73724cce95303f36be2c0aa75526edb9",
          "terraform/environments/production/grafana/variables.tf": "5a342798ef4fe8dfa94b89f3930b1e8ff503089d026b6d32706e9717cdab48d5",
          "terraform/modules/grafana/fbac13a3947a/grafana.nomad.hcl": "ad1b11eaa829b3928d71dc1ac7d48fd6fb92b7ed055ed3aa7d5b6840a1ceedc4",
          "terraform/modules/grafana/fbac13a3947a/main.tf": "553928d3065974390fcad0ca77eab6b0d408c90d9167778ed6e760b25a145af7",
          "terraform/modules/grafana/fbac13a3947a/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/fbac13a3947a/variables.tf": "909c14e6505710b19fc4047a97e78218984cd6b21a8ffa6562efd7465beeea6d"
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
