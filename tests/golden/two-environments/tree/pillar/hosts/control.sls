#!json
{
  "eos": {
    "volumes": {},
    "workspaces": {
      "production/hello": {
        "digest": "efa959e5ea50868be95c1633484857af5b691bb9bb6ae6073703f2bbd345e8e0",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/hello/main.tf": "d1d431a9b0e1003ba7e9509548d7adbca6b4760893bbc3e69c0b1a819e623cef",
          "terraform/environments/production/hello/terraform.tfvars.json": "224a433a2ee3f2f3976a6e0df597433f19fb102ab566f6e7d55da95adef8117f",
          "terraform/environments/production/hello/variables.tf": "dde938b1222557bc9d84f0f4fad548e2178dcd9eb8ff6338c836931b23937cb8",
          "terraform/modules/hello/fe63562e68f0/hello.nomad.hcl": "b0b4831f8d6f7b3a0a1fd30b1b4d5d620b1c59c815e2b98ae43c8c332c1a27db",
          "terraform/modules/hello/fe63562e68f0/main.tf": "bf3f0658109480d567e3ff6fece4c59d22fbf03d48696e5738c4dd3990193644",
          "terraform/modules/hello/fe63562e68f0/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hello/fe63562e68f0/variables.tf": "63ce008c1999428a99b5cdc47381acdfd0b045c304429a5bd7af71980b62c05b"
        },
        "hosts": [],
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
      },
      "staging/hello": {
        "digest": "93552d46503521fc4fda64573dc3474544939868175dfbe68495836bccbbcf66",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/staging/hello/main.tf": "d1d431a9b0e1003ba7e9509548d7adbca6b4760893bbc3e69c0b1a819e623cef",
          "terraform/environments/staging/hello/terraform.tfvars.json": "665d2293ef8840620813007ba68d3d2d36a6add42be923d13a2f39c2bfcd9741",
          "terraform/environments/staging/hello/variables.tf": "dde938b1222557bc9d84f0f4fad548e2178dcd9eb8ff6338c836931b23937cb8",
          "terraform/modules/hello/fe63562e68f0/hello.nomad.hcl": "b0b4831f8d6f7b3a0a1fd30b1b4d5d620b1c59c815e2b98ae43c8c332c1a27db",
          "terraform/modules/hello/fe63562e68f0/main.tf": "bf3f0658109480d567e3ff6fece4c59d22fbf03d48696e5738c4dd3990193644",
          "terraform/modules/hello/fe63562e68f0/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hello/fe63562e68f0/variables.tf": "63ce008c1999428a99b5cdc47381acdfd0b045c304429a5bd7af71980b62c05b"
        },
        "hosts": [],
        "secrets": []
      },
      "staging/platform": {
        "digest": "829eb0b64a1e8962754514cc84201e89eaf908e6be14ebb4a3c247fa3afe4a43",
        "risk": "low",
        "token": "management",
        "files": {
          "terraform/environments/staging/platform/main.tf": "fadebbc1ffff8698aef98fd3879d463a1f6d5161000372d496693f91dfadf0dc",
          "terraform/environments/staging/platform/terraform.tfvars.json": "8b48ece72226c161dbea4c5fc893cf4844964dbffce631640a12533e9c8fffa1",
          "terraform/environments/staging/platform/variables.tf": "8febb2a0a0717314188826616bb1daeefdea47142998a9c2009e7e18a9d724cf",
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
