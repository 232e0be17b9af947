#!json
{
  "eos": {
    "volumes": {
      "production/grafana/data": {
        "path": "/srv/lab/volumes/opt/grafana/data",
        "user": "472",
        "group": "472",
        "mode": "0750",
        "durability": "redundant"
      }
    },
    "workspaces": {
      "production/grafana": {
        "digest": "603f158ab21938e84b118301cb09d54e4227015f844c628271f9e0fd30fe362b",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "8070b98971af16eecdf55a302de8b77da6b0829bf8c57befa1b464809b56ae08",
          "terraform/environments/production/grafana/terraform.tfvars.json": "8e421aeb5c8290f4a1615af0e876b688f503c53e573453157f02069b4384e901",
          "terraform/environments/production/grafana/variables.tf": "f9248cd7b8c289ce19984fd41739caa8ad82e6a5406b5edfca59e883076e7854",
          "terraform/modules/grafana/4551fa42ba23/grafana.nomad.hcl": "cd2a08135a487d89a213e28f6912793dfc338d0f0f74cdac8a05ef62b08bbe6c",
          "terraform/modules/grafana/4551fa42ba23/main.tf": "cc345290cd957ec79ed656e8c6312e8e6806ddc239d4c50d47ca17eae5501290",
          "terraform/modules/grafana/4551fa42ba23/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/4551fa42ba23/variables.tf": "607c17b47fa57e57d4e940dfcecfd0c42cd533e44d4aaec6d79a553e84b9abd1"
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
