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
        "digest": "1b30cc44850383bdaaffe69c176b09fb691126e67d043dc3c98279c5a780b688",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "f2c15608ad599063a40144e6dd6ed5f7f79e0dce78d179e63aaee5fd973f18b4",
          "terraform/environments/production/grafana/terraform.tfvars.json": "839c28ac5e830702b0ed439c955bd9d1d4fdc2eeca609f4ca87c44eea81e51bb",
          "terraform/environments/production/grafana/variables.tf": "f4391c6ff1586673e5cee5739d9e798bcac7e186beb9a6618a4fb3a7ed63b8bc",
          "terraform/modules/grafana/caca28f7e6fe/grafana.nomad.hcl": "d02c11ef0a8b93237cfd08326c07883403797a71af6284c4f5cc33197dcedfc3",
          "terraform/modules/grafana/caca28f7e6fe/main.tf": "4886f74b490b13dcd860476ff0c38b410e1d91f2e1e7c1544d9be7b7be1d7617",
          "terraform/modules/grafana/caca28f7e6fe/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/caca28f7e6fe/variables.tf": "84ad7e154d78952d2e4a4c3570c7e56fc9581b6a516bae290e2d821f0981ce42"
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
