#!json
{
  "eos": {
    "volumes": {
      "development/jenkins/data": {
        "path": "/opt/jenkins-development/data",
        "user": "1000",
        "group": "1000",
        "mode": "0750",
        "durability": "ephemeral",
        "risk": "low"
      },
      "production/jenkins/data": {
        "path": "/opt/jenkins/data",
        "user": "1000",
        "group": "1000",
        "mode": "0750",
        "durability": "redundant",
        "risk": "low"
      }
    },
    "workspaces": {
      "development/jenkins": {
        "digest": "3b26cfae56830cb67aa011d27f2ecaf69d6c53926662cf29a600141649d2a988",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/development/jenkins/main.tf": "dfae15e0f24a0be94ca57e692d251776e2e4a085914f7904c585d82a46f805e9",
          "terraform/environments/development/jenkins/terraform.tfvars.json": "85fdec6b6adba157d46b8e7020aaddb2922e3ebde8adfb553ceeb3aaecc6360a",
          "terraform/environments/development/jenkins/variables.tf": "142a04a98681a0346912a912f908685e424b44776ac043ed3649c8b0ca579b27",
          "terraform/modules/jenkins/58a3d190d52e/jenkins.nomad.hcl": "d48b59486bbb507f6fae83898a5edd6ffd39baaa2d133949aafa405b88f55e71",
          "terraform/modules/jenkins/58a3d190d52e/main.tf": "4dc680ecaa5e5d7517b4b8a412c8008b943dab3e13941df9462746375594d6a2",
          "terraform/modules/jenkins/58a3d190d52e/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/jenkins/58a3d190d52e/variables.tf": "7e013dc91578c30628c5854604221089bd151af7c522caf568b49946bcab107a"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      },
      "development/platform": {
        "digest": "41be7df33e691be0ab99de376690bbc95e2cc4c52d3d2cfea47403c699afc2db",
        "risk": "low",
        "token": "management",
        "files": {
          "terraform/environments/development/platform/main.tf": "89fae863ace655cdacab5501715a1520428308fce5521bccc62937de6eb1b3c5",
          "terraform/environments/development/platform/terraform.tfvars.json": "04b7776a283468fe115d7cba819e7a5323a680b18928978a3fcb2c167279b65e",
          "terraform/environments/development/platform/variables.tf": "391d4eeeb216c825ea8e31470bd522d8babb2f5cf6236991bd08a49db9b58043",
          "terraform/modules/platform/4c09b8f9a47a/main.tf": "633209d1852a200d671e5e977c22ef6e5e41c54159e56db7fd83146c04435b63",
          "terraform/modules/platform/4c09b8f9a47a/outputs.tf": "47161ba1b19970fcda7bfdfe4180ce68335bd5820b192b224c3eca96c81b4b48",
          "terraform/modules/platform/4c09b8f9a47a/variables.tf": "391d4eeeb216c825ea8e31470bd522d8babb2f5cf6236991bd08a49db9b58043"
        },
        "hosts": [],
        "secrets": []
      },
      "production/jenkins": {
        "digest": "04c62c2555345c1000c5750872be9d992d461fddb4d0cefd23bcf83f2c1910ed",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/jenkins/main.tf": "dfae15e0f24a0be94ca57e692d251776e2e4a085914f7904c585d82a46f805e9",
          "terraform/environments/production/jenkins/terraform.tfvars.json": "e1aed7ad8b648dcc97b8da1e949ddce006388a0d839e55bb5ff583b858a3ce95",
          "terraform/environments/production/jenkins/variables.tf": "142a04a98681a0346912a912f908685e424b44776ac043ed3649c8b0ca579b27",
          "terraform/modules/jenkins/58a3d190d52e/jenkins.nomad.hcl": "d48b59486bbb507f6fae83898a5edd6ffd39baaa2d133949aafa405b88f55e71",
          "terraform/modules/jenkins/58a3d190d52e/main.tf": "4dc680ecaa5e5d7517b4b8a412c8008b943dab3e13941df9462746375594d6a2",
          "terraform/modules/jenkins/58a3d190d52e/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/jenkins/58a3d190d52e/variables.tf": "7e013dc91578c30628c5854604221089bd151af7c522caf568b49946bcab107a"
        },
        "hosts": [
          "control",
          "node1"
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
      }
    }
  }
}
