#!json
{
  "eos": {
    "estate": {
      "host": {
        "address": "10.0.0.1",
        "roles": [
          "client",
          "control"
        ],
        "datacenter": "dc1"
      },
      "components": {
        "development/jenkins": {
          "recipe": "jenkins",
          "version": "lts",
          "options": {
            "port": 8081
          },
          "volumes": {
            "data": {
              "size": "10 GiB",
              "filesystem": "directory"
            }
          }
        },
        "production/jenkins": {
          "recipe": "jenkins",
          "version": "lts",
          "volumes": {
            "data": {
              "size": "10 GiB",
              "filesystem": "directory"
            }
          }
        }
      }
    },
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
        "digest": "1c4b3f9d716b1cfa37edf01b62bc4cf984e4402fbe89b170cc44ab8af7260b14",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/development/jenkins/main.tf": "c6594031cb7c61a80a8ac4584c1715936971aba88df0f464a5e138a0f0ffed51",
          "terraform/environments/development/jenkins/outputs.tf": "075d834e30d0b6e3c1236a27d9ab327a3d1c33d27275e9e3c553fb0fe7daa8e2",
          "terraform/environments/development/jenkins/terraform.tfvars.json": "e1182e3936e7e18d338b401e4f90a9e2117558184edd75de325e9c631ad92a3b",
          "terraform/environments/development/jenkins/variables.tf": "a03ea0c25f5ca4b96dcf4b85f2297787d60ef3da2e0ec0c2a08ef681a2bdc487",
          "terraform/modules/jenkins/9a24d9201b66/jenkins.nomad.hcl": "0a2b201642051a8114e119c7c1551a640606e481a002ab11e5b02d6070921e02",
          "terraform/modules/jenkins/9a24d9201b66/main.tf": "8164baf797dcb38f69584c97bffaa7a38833712f6cc4b6e94b1163f8857cbc83",
          "terraform/modules/jenkins/9a24d9201b66/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/jenkins/9a24d9201b66/recipe_outputs.tf": "f8bb78b75a2ae5d543895a0c526296ce55c40e1cf928e6aa9635650a43f594a9",
          "terraform/modules/jenkins/9a24d9201b66/variables.tf": "267d4f4817bf37c1603f1c767dbe42af65ef50733b459324a769c942095e4057"
        },
        "hosts": [
          "control"
        ],
        "secrets": [],
        "service": "jenkins-development"
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
        "digest": "daf4d9d4c2e7c40870a4afc515d61b18830ccb9638137e7e658421fbc1c9ffac",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/jenkins/main.tf": "c6594031cb7c61a80a8ac4584c1715936971aba88df0f464a5e138a0f0ffed51",
          "terraform/environments/production/jenkins/outputs.tf": "075d834e30d0b6e3c1236a27d9ab327a3d1c33d27275e9e3c553fb0fe7daa8e2",
          "terraform/environments/production/jenkins/terraform.tfvars.json": "cf306c1e93bd1451c87db85288005c17b18930274781f60db5c00599e24ae786",
          "terraform/environments/production/jenkins/variables.tf": "a03ea0c25f5ca4b96dcf4b85f2297787d60ef3da2e0ec0c2a08ef681a2bdc487",
          "terraform/modules/jenkins/9a24d9201b66/jenkins.nomad.hcl": "0a2b201642051a8114e119c7c1551a640606e481a002ab11e5b02d6070921e02",
          "terraform/modules/jenkins/9a24d9201b66/main.tf": "8164baf797dcb38f69584c97bffaa7a38833712f6cc4b6e94b1163f8857cbc83",
          "terraform/modules/jenkins/9a24d9201b66/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/jenkins/9a24d9201b66/recipe_outputs.tf": "f8bb78b75a2ae5d543895a0c526296ce55c40e1cf928e6aa9635650a43f594a9",
          "terraform/modules/jenkins/9a24d9201b66/variables.tf": "267d4f4817bf37c1603f1c767dbe42af65ef50733b459324a769c942095e4057"
        },
        "hosts": [
          "control",
          "node1"
        ],
        "secrets": [],
        "service": "jenkins"
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
