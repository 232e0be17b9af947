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
        "digest": "1b2442fd005ca965b4c5448877edd9062fac1ac3ff73d5252a51bb86dceb6bd5",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/alertmanager/main.tf": "82ea5120dde30b53fc82545ef0ce3c7bdd080d616d7fd282fa1c1178b46f6df3",
          "terraform/environments/production/alertmanager/terraform.tfvars.json": "b83d8919d1783fd1b4d6e684493cf1fcef661715d0900a2152a06dfc9ac1b3a0",
          "terraform/environments/production/alertmanager/variables.tf": "da719e9ee15b3d9c3fd1e5fd944db2cc590eeff2b3d78deb81493a9dd4711bad",
          "terraform/modules/alertmanager/b10c14112894/alertmanager.nomad.hcl": "5d812a52514aa97c158d705fd79e40ca9cf8593ab87bf0a3ad4e02defc170bc1",
          "terraform/modules/alertmanager/b10c14112894/main.tf": "fc7c77d654eb0b78131c3b88106b3e18b49d32df2c5e6d86e6f43fa2dd82a1b1",
          "terraform/modules/alertmanager/b10c14112894/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/alertmanager/b10c14112894/variables.tf": "17915ce45f357df7f6f0dffa3b8750a1503039fcb38ce1d8755e7082d7120e8e"
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
        "digest": "bc8b97a44e0a039db7c306360a6736ebcff38eb118b84623360eb5a31c17c7ab",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/prometheus/main.tf": "2d546ae3374a46c4fdc0aecc963a39c152bd5d3545d67ddd03dc0ac99d8a7a74",
          "terraform/environments/production/prometheus/terraform.tfvars.json": "11f1dfe830178e801eeb975108149788abd0c4be3cf448ca6eb0e56ebcfdf0da",
          "terraform/environments/production/prometheus/variables.tf": "ed0f24920b22e3c176691ec5a373ff2e90472fafa5544ee4b3394672e0dda235",
          "terraform/modules/prometheus/b1ecd270e34d/main.tf": "355441bf9ccea708bde734245bfa8a27e01250f32a52c7276dda763b983453c1",
          "terraform/modules/prometheus/b1ecd270e34d/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/prometheus/b1ecd270e34d/prometheus.nomad.hcl": "412dca80a9b5db21a7d13ae85567ce6c84671e1f4c8fa1894cd00de7148bf299",
          "terraform/modules/prometheus/b1ecd270e34d/variables.tf": "619e86f29a2807cd03cf29d8870aabea1eb205f06c08ae0f71de14028adad8fc"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      }
    }
  }
}
