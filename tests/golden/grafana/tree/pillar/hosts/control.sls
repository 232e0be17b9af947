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
        "digest": "ea233c655dfa7ae476f05253b56e488cbb055876c9abd6263aa8567d1cada907",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "52035d7d7fe034903796a56c1a2e5775f295ef7937d01cd70830684436f6c42e",
          "terraform/environments/production/grafana/terraform.tfvars.json": "7cdefa80f9e63f40ab9605744d35afadf62eba972cc4c2f52d85ac507afd0cec",
          "terraform/environments/production/grafana/variables.tf": "5a342798ef4fe8dfa94b89f3930b1e8ff503089d026b6d32706e9717cdab48d5",
          "terraform/modules/grafana/360783112ab5/grafana.nomad.hcl": "46bb3a8e501c58d1ae702862285868375bd84ba81d7c3af408d043cd3939a991",
          "terraform/modules/grafana/360783112ab5/main.tf": "553928d3065974390fcad0ca77eab6b0d408c90d9167778ed6e760b25a145af7",
          "terraform/modules/grafana/360783112ab5/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/360783112ab5/variables.tf": "909c14e6505710b19fc4047a97e78218984cd6b21a8ffa6562efd7465beeea6d"
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
