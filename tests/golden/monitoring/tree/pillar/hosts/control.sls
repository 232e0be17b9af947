#!json
{
  "eos": {
    "volumes": {
      "production/alertmanager/data": {
        "path": "/srv/lab/volumes/opt/alertmanager/data",
        "user": "65534",
        "group": "65534",
        "mode": "0750",
        "durability": "redundant",
        "risk": "medium"
      },
      "production/prometheus/data": {
        "path": "/srv/lab/volumes/opt/prometheus/data",
        "user": "65534",
        "group": "65534",
        "mode": "0750",
        "durability": "redundant",
        "risk": "medium"
      }
    },
    "workspaces": {
      "production/alertmanager": {
        "digest": "fd8ae63c6f1c8a6ff332b1f987f89e7656836303966e4fe8ee9892391e9120d3",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/alertmanager/main.tf": "69273f9750ee3d27337effe8ffa90ed3ba7f27cfdcabeccf8c131d86518ed715",
          "terraform/environments/production/alertmanager/terraform.tfvars.json": "2e7d0ace161bfe49f582c44bae591355d29242b80416e917166308ec642abcf8",
          "terraform/environments/production/alertmanager/variables.tf": "da719e9ee15b3d9c3fd1e5fd944db2cc590eeff2b3d78deb81493a9dd4711bad",
          "terraform/modules/alertmanager/0510d82147da/alertmanager.nomad.hcl": "ccd93839306711508d030ddfedf90174c12ecaf2afe82ea3197adc89bce2d5de",
          "terraform/modules/alertmanager/0510d82147da/main.tf": "fc7c77d654eb0b78131c3b88106b3e18b49d32df2c5e6d86e6f43fa2dd82a1b1",
          "terraform/modules/alertmanager/0510d82147da/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/alertmanager/0510d82147da/variables.tf": "17915ce45f357df7f6f0dffa3b8750a1503039fcb38ce1d8755e7082d7120e8e"
        },
        "hosts": [
          "control"
        ],
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
      },
      "production/prometheus": {
        "digest": "f733c488180163147c77da768366838c5756bcf6094a37672c5b4a49200e313f",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/prometheus/main.tf": "70114c0acd3e57c426f857f5b8e95e196cb8d169acdda5eedf9eb388490d4d64",
          "terraform/environments/production/prometheus/terraform.tfvars.json": "12dc55956f9280976be383348a3faadc1acfdb7b3b2efa4f99ddcde44d55b82d",
          "terraform/environments/production/prometheus/variables.tf": "4bef5873b03316026c533380520749c7fcd524b806c5b9f48d58fd9d749211ce",
          "terraform/modules/prometheus/e87e29bcc4e7/main.tf": "a6caa8c603e076fb2c935bac88a4445b22a3f79c1e4761dc88ca9c5796b423e3",
          "terraform/modules/prometheus/e87e29bcc4e7/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/prometheus/e87e29bcc4e7/prometheus.nomad.hcl": "527c91e70b87b361acdfa4e806c20833a3311ac94dc5f77c3116eb3aa303a8fe",
          "terraform/modules/prometheus/e87e29bcc4e7/variables.tf": "b720416d58adf782fa8f12e6698242ffc72ab2f7dae1e08fbfd9becbc35ace07"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      }
    }
  }
}
