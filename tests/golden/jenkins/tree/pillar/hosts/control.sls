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
        "digest": "670ac26c6dc9eb2958512a5759406e27a5bf71e526ed7de9ba81cc83d06df2ba",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/development/jenkins/main.tf": "a674a8b2cb12c17c456dcd3e6460526ca646449655dc0a109c04b8c2d2a0cf1b",
          "terraform/environments/development/jenkins/terraform.tfvars.json": "0dca1ada8953ca358c48eb890d5205f92564ceb0da3fd3a07d3a6f90f99242c3",
          "terraform/environments/development/jenkins/variables.tf": "7908209b9717f2607ff3d12374ab9ecd211dac0c3e2ed0b9956cae89eb3f1c7e",
          "terraform/modules/jenkins/04c08151e81b/jenkins.nomad.hcl": "0a2b201642051a8114e119c7c1551a640606e481a002ab11e5b02d6070921e02",
          "terraform/modules/jenkins/04c08151e81b/main.tf": "8164baf797dcb38f69584c97bffaa7a38833712f6cc4b6e94b1163f8857cbc83",
          "terraform/modules/jenkins/04c08151e81b/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/jenkins/04c08151e81b/variables.tf": "267d4f4817bf37c1603f1c767dbe42af65ef50733b459324a769c942095e4057"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      },
      "development/platform": {
        "digest": "4ba87647a291fe3ebe9a9d5a4f75004165e1c3cdf85324ebc8c7d19940004382",
        "risk": "low",
        "token": "management",
        "files": {
          "terraform/environments/development/platform/main.tf": "fadebbc1ffff8698aef98fd3879d463a1f6d5161000372d496693f91dfadf0dc",
          "terraform/environments/development/platform/terraform.tfvars.json": "6cc4777e0221878ddc6d85f4321187e1bfab007e41a101b5319f189d25ff8fcb",
          "terraform/environments/development/platform/variables.tf": "8febb2a0a0717314188826616bb1daeefdea47142998a9c2009e7e18a9d724cf",
          "terraform/modules/platform/d33dab82c6a1/main.tf": "633209d1852a200d671e5e977c22ef6e5e41c54159e56db7fd83146c04435b63",
          "terraform/modules/platform/d33dab82c6a1/outputs.tf": "47161ba1b19970fcda7bfdfe4180ce68335bd5820b192b224c3eca96c81b4b48",
          "terraform/modules/platform/d33dab82c6a1/variables.tf": "5706d7d66ee6db2df66c75b8f9a4f1ae81bfbedf80e97ade0773c6b247b8dece"
        },
        "hosts": [],
        "secrets": []
      },
      "production/jenkins": {
        "digest": "521813e1bce14637a1faed6796717e5bcb5409c2de5a732885059aa44af37579",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/jenkins/main.tf": "a674a8b2cb12c17c456dcd3e6460526ca646449655dc0a109c04b8c2d2a0cf1b",
          "terraform/environments/production/jenkins/terraform.tfvars.json": "3bf04ee0b4804a0e996301343956221c37dae7a15435b157f1356b978cfe6f37",
          "terraform/environments/production/jenkins/variables.tf": "7908209b9717f2607ff3d12374ab9ecd211dac0c3e2ed0b9956cae89eb3f1c7e",
          "terraform/modules/jenkins/04c08151e81b/jenkins.nomad.hcl": "0a2b201642051a8114e119c7c1551a640606e481a002ab11e5b02d6070921e02",
          "terraform/modules/jenkins/04c08151e81b/main.tf": "8164baf797dcb38f69584c97bffaa7a38833712f6cc4b6e94b1163f8857cbc83",
          "terraform/modules/jenkins/04c08151e81b/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/jenkins/04c08151e81b/variables.tf": "267d4f4817bf37c1603f1c767dbe42af65ef50733b459324a769c942095e4057"
        },
        "hosts": [
          "control",
          "node1"
        ],
        "secrets": []
      },
      "production/platform": {
        "digest": "587a1c36acfe66f0c2483ae82a5b2366d4d731a845a47d7531d95e09450ff064",
        "risk": "low",
        "token": "management",
        "files": {
          "terraform/environments/production/platform/main.tf": "fadebbc1ffff8698aef98fd3879d463a1f6d5161000372d496693f91dfadf0dc",
          "terraform/environments/production/platform/terraform.tfvars.json": "a3d73aeff1f40c2a6770479466a9dac51328780a00b5d9d055a7e5609767d9c2",
          "terraform/environments/production/platform/variables.tf": "8febb2a0a0717314188826616bb1daeefdea47142998a9c2009e7e18a9d724cf",
          "terraform/modules/platform/d33dab82c6a1/main.tf": "633209d1852a200d671e5e977c22ef6e5e41c54159e56db7fd83146c04435b63",
          "terraform/modules/platform/d33dab82c6a1/outputs.tf": "47161ba1b19970fcda7bfdfe4180ce68335bd5820b192b224c3eca96c81b4b48",
          "terraform/modules/platform/d33dab82c6a1/variables.tf": "5706d7d66ee6db2df66c75b8f9a4f1ae81bfbedf80e97ade0773c6b247b8dece"
        },
        "hosts": [],
        "secrets": []
      }
    }
  }
}
