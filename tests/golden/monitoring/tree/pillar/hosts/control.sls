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
        "digest": "5abe7396f1cd6dad75f4335233e97d4210fcb76eb093c6209580828bcd88646f",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/alertmanager/main.tf": "ab2c84fcefa1bf8d5b48266cdafb4ff1d37d69ad93fa0602347a633461043d8f",
          "terraform/environments/production/alertmanager/terraform.tfvars.json": "9fc3cf3b9f770fedcd6bd9e1649a8bcc0d750ba9768db7d947af84c43a848b96",
          "terraform/environments/production/alertmanager/variables.tf": "da719e9ee15b3d9c3fd1e5fd944db2cc590eeff2b3d78deb81493a9dd4711bad",
          "terraform/modules/alertmanager/a96c09438405/alertmanager.nomad.hcl": "c349da0022fbda25c03afe704dc2860e9d2be297f4702f72901ef2d327a40ffa",
          "terraform/modules/alertmanager/a96c09438405/main.tf": "fc7c77d654eb0b78131c3b88106b3e18b49d32df2c5e6d86e6f43fa2dd82a1b1",
          "terraform/modules/alertmanager/a96c09438405/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/alertmanager/a96c09438405/variables.tf": "17915ce45f357df7f6f0dffa3b8750a1503039fcb38ce1d8755e7082d7120e8e"
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
        "digest": "13fb90117819e918995dfe16b0915caa3b05dc1374db2ce5a52e847d1e9b3d53",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/prometheus/main.tf": "7711414dc8ebdcf6299de753a5e1cfc5a94c2cad215f4614fbeba2606226dcbd",
          "terraform/environments/production/prometheus/terraform.tfvars.json": "f2e6755bc72fc06d2dd9d291c5086ef18cbbdb4539616f1049e4f55fae43ae17",
          "terraform/environments/production/prometheus/variables.tf": "4bef5873b03316026c533380520749c7fcd524b806c5b9f48d58fd9d749211ce",
          "terraform/modules/prometheus/ddc4fbcdf559/main.tf": "a6caa8c603e076fb2c935bac88a4445b22a3f79c1e4761dc88ca9c5796b423e3",
          "terraform/modules/prometheus/ddc4fbcdf559/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/prometheus/ddc4fbcdf559/prometheus.nomad.hcl": "29cc579ae274217b311bf3f77c9312dfe76e88fa6ef0779ca06936063bab65f3",
          "terraform/modules/prometheus/ddc4fbcdf559/variables.tf": "b720416d58adf782fa8f12e6698242ffc72ab2f7dae1e08fbfd9becbc35ace07"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      }
    }
  }
}
