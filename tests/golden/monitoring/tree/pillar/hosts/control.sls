#!json
{
  "eos": {
    "volumes": {
      "production/alertmanager/data": {
        "path": "/srv/lab/volumes/opt/alertmanager/data",
        "user": "65534",
        "group": "65534",
        "mode": "0750",
        "durability": "redundant"
      },
      "production/prometheus/data": {
        "path": "/srv/lab/volumes/opt/prometheus/data",
        "user": "65534",
        "group": "65534",
        "mode": "0750",
        "durability": "redundant"
      }
    },
    "workspaces": {
      "production/alertmanager": {
        "digest": "67e91d4bcbe5730a2349dbf5324d536a50037ea7e21f8412d1d56376150c50af",
        "token": "client",
        "files": {
          "terraform/environments/production/alertmanager/main.tf": "21c31f52458ed3a25921fa804f38c4847cc0542caf5a7d6ff8002451c3c68f70",
          "terraform/environments/production/alertmanager/terraform.tfvars.json": "696656f0190be943460fd18b101c0842f7136ed0a79d59bdc26e10904c783782",
          "terraform/environments/production/alertmanager/variables.tf": "07d1d999c9e821a6cc50c0e81fe433ccd67b422f58b977da499591971ae9b235",
          "terraform/modules/alertmanager/4b2d7b65bc36/alertmanager.nomad.hcl": "4fee716012a2eeb0f00883a8de3778ee983f154192f04daf7550d694381a19c6",
          "terraform/modules/alertmanager/4b2d7b65bc36/main.tf": "11a6fc56124e16483b5382e84a8120a13a702de60e38f0178bac51710a73ae1d",
          "terraform/modules/alertmanager/4b2d7b65bc36/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/alertmanager/4b2d7b65bc36/variables.tf": "0659dad89b9897809e826dd94298d9ab62eea532c3961782e149e11cd24ee63a"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
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
      },
      "production/prometheus": {
        "digest": "80a62c31beb4a1cd0645aa6c8288e0660951473a653d1847fc449796f17f7eec",
        "token": "client",
        "files": {
          "terraform/environments/production/prometheus/main.tf": "716bd046a0e9f74e9053808c3a3520092b44be085016ca906a9eeae33a83b474",
          "terraform/environments/production/prometheus/terraform.tfvars.json": "10198fefa6288743aa64cbc5ac2d9ca3efac8b2c9e7a75b61e8da487e1824d5c",
          "terraform/environments/production/prometheus/variables.tf": "fc3a5b03898f21647b299ac8967f8ea422f66f15fb486da2cad919940097eda1",
          "terraform/modules/prometheus/62f2dcebb963/main.tf": "87270ed14928344d0515f37aec275b6a8b6e7b753305ccac302c59776d8f3684",
          "terraform/modules/prometheus/62f2dcebb963/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/prometheus/62f2dcebb963/prometheus.nomad.hcl": "e67809db389c36f6b7e50050d2da5a580c3716b0a4818f664efa30f3b9e0e7c2",
          "terraform/modules/prometheus/62f2dcebb963/variables.tf": "6160ca12c4aa326ff0637322dee1946660020d5416b1e5de571c75da2c062b69"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      }
    }
  }
}
