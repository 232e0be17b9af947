#!json
{
  "eos": {
    "estate": {
      "host": {
        "address": "127.0.0.1",
        "roles": [
          "client",
          "control"
        ],
        "datacenter": "dc1"
      },
      "components": {
        "production/hello": {
          "recipe": "hello",
          "version": "1",
          "options": {
            "greeting": "it's ready: \"$ {x}\" %{ % # ü 🦀"
          }
        },
        "staging/hello": {
          "recipe": "hello",
          "version": "1",
          "options": {
            "replicas": 3
          }
        }
      }
    },
    "volumes": {},
    "workspaces": {
      "production/hello": {
        "digest": "55f771b77e9ad8324b14d347b887d8927194e63731db05d91b72957a02ce2ffa",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/hello/main.tf": "d926bce0844db752ed1ccbfaac214cb756ee7f26b6ae138b711cdd8dde6c0a7d",
          "terraform/environments/production/hello/outputs.tf": "f41802c1cd6157727e4ddfa186e3e16110ee30881ba50a302d36efdd699e1606",
          "terraform/environments/production/hello/terraform.tfvars.json": "78b953921c49d26ec570455425fe608214e3517ae39b4328b4ea9838ba4a9d13",
          "terraform/environments/production/hello/variables.tf": "a6c6e385e3ff8e69c2b563cb2ea9580c479ffb25669b02d6cfcb46e166988f59",
          "terraform/modules/hello/db12f86a78de/hello.nomad.hcl": "b0b4831f8d6f7b3a0a1fd30b1b4d5d620b1c59c815e2b98ae43c8c332c1a27db",
          "terraform/modules/hello/db12f86a78de/main.tf": "bf3f0658109480d567e3ff6fece4c59d22fbf03d48696e5738c4dd3990193644",
          "terraform/modules/hello/db12f86a78de/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hello/db12f86a78de/recipe_outputs.tf": "9c892a9f75aa57e1130889efbf9e5ccdeb89e16b8ff3ed480980997e7cdc1098",
          "terraform/modules/hello/db12f86a78de/variables.tf": "63ce008c1999428a99b5cdc47381acdfd0b045c304429a5bd7af71980b62c05b"
        },
        "hosts": [],
        "secrets": [],
        "service": "hello"
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
        "digest": "0c414cdaf58ab7d14c233cf52ee1105d8385e79ff88fa6a1b2d049781f4a9e20",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/staging/hello/main.tf": "d926bce0844db752ed1ccbfaac214cb756ee7f26b6ae138b711cdd8dde6c0a7d",
          "terraform/environments/staging/hello/outputs.tf": "f41802c1cd6157727e4ddfa186e3e16110ee30881ba50a302d36efdd699e1606",
          "terraform/environments/staging/hello/terraform.tfvars.json": "ff3915b356e2d3ed4a40021bd4061d21abb8ce7c18d9fe3cecbff292bba0c477",
          "terraform/environments/staging/hello/variables.tf": "a6c6e385e3ff8e69c2b563cb2ea9580c479ffb25669b02d6cfcb46e166988f59",
          "terraform/modules/hello/db12f86a78de/hello.nomad.hcl": "b0b4831f8d6f7b3a0a1fd30b1b4d5d620b1c59c815e2b98ae43c8c332c1a27db",
          "terraform/modules/hello/db12f86a78de/main.tf": "bf3f0658109480d567e3ff6fece4c59d22fbf03d48696e5738c4dd3990193644",
          "terraform/modules/hello/db12f86a78de/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hello/db12f86a78de/recipe_outputs.tf": "9c892a9f75aa57e1130889efbf9e5ccdeb89e16b8ff3ed480980997e7cdc1098",
          "terraform/modules/hello/db12f86a78de/variables.tf": "63ce008c1999428a99b5cdc47381acdfd0b045c304429a5bd7af71980b62c05b"
        },
        "hosts": [],
        "secrets": [],
        "service": "hello-staging"
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
