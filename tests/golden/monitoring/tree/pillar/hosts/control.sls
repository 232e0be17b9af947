#!json
{
  "eos": {
    "monitoring": {
      "production/alertmanager": {
        "monitor": "prometheus",
        "rules": "13949a40b111e78f3f1dbe009e73ca4a7a39455bf585ad1502a7c01c617f22d8",
        "risk": "medium"
      },
      "production/prometheus": {
        "monitor": "prometheus",
        "rules": "05a6623de2a45d3deb3914a1cf7f793ef74332ea9fd6c1d2b0f51362d989f3ff",
        "risk": "medium"
      }
    },
    "monitors": {
      "production/prometheus": {
        "directory": "/srv/lab/volumes/opt/prometheus/data/eos-rules",
        "user": "65534",
        "group": "65534",
        "port": 9090
      }
    },
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
        "digest": "d9d4c99e88cf950a0d4fb38b52f01444af13b5acd03e3cc52049aa1047b7d94e",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/alertmanager/main.tf": "b9cdc3d34ec5e3ff7144642177f035515f7db7a1d77be336fff6cd5a6128d5a3",
          "terraform/environments/production/alertmanager/terraform.tfvars.json": "4613186a8d678fd457d34a0daeac0dec28fe4f576fa61f4cb5523685df22c817",
          "terraform/environments/production/alertmanager/variables.tf": "da719e9ee15b3d9c3fd1e5fd944db2cc590eeff2b3d78deb81493a9dd4711bad",
          "terraform/modules/alertmanager/7ee583166622/alertmanager.nomad.hcl": "5cd1260704efc0f72081aa2cd520d6b6c32433958aecea26f5cf2e61d6b937cd",
          "terraform/modules/alertmanager/7ee583166622/main.tf": "fc7c77d654eb0b78131c3b88106b3e18b49d32df2c5e6d86e6f43fa2dd82a1b1",
          "terraform/modules/alertmanager/7ee583166622/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/alertmanager/7ee583166622/variables.tf": "17915ce45f357df7f6f0dffa3b8750a1503039fcb38ce1d8755e7082d7120e8e"
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
        "digest": "0ca71c7f4145211d83a86e3dae15a287ddc21cd56072d7f0bc7493739a38fdfa",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/prometheus/main.tf": "5b133b0a3b65c4043c435f4152c9cf8a0dca934d0d9edfd0e95a5a4b2177dbe7",
          "terraform/environments/production/prometheus/terraform.tfvars.json": "31040d82eea188268cd47406cf7a532be1baecee780ed1a5d767aff35d4c8a06",
          "terraform/environments/production/prometheus/variables.tf": "9d5830b55f1dc655a0f2833f33b16cc39bb5c656ec2174053d44d06e09f7ed71",
          "terraform/modules/prometheus/67b327d2efe0/main.tf": "af7f76b77b54fc162a7089a4eaf1f9a55737d966cf1deee2b0da7a66f83dbbdf",
          "terraform/modules/prometheus/67b327d2efe0/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/prometheus/67b327d2efe0/prometheus.nomad.hcl": "ee1ec5212ecc5dfe4cf09f5b889d866aae29e441225113b5f18c93de9c38f37c",
          "terraform/modules/prometheus/67b327d2efe0/variables.tf": "e6fc8edef092b44b24c353a0198e3b3d03611303403f5a4c355baab38089c75f"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      }
    }
  }
}
