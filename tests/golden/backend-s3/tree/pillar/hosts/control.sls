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
          "version": "1"
        }
      }
    },
    "volumes": {},
    "workspaces": {
      "production/hello": {
        "digest": "558826417da90e6c3981685411f319482ead991aaaf069dde171fa5af19985a3",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/hello/main.tf": "7529a88b58afa0804d48f62ddf5e27cdd3bfeb1af5510389dd091c7123cbe600",
          "terraform/environments/production/hello/outputs.tf": "f41802c1cd6157727e4ddfa186e3e16110ee30881ba50a302d36efdd699e1606",
          "terraform/environments/production/hello/terraform.tfvars.json": "9a0c94fcc5fac54adf943b6b546b540b3687c2c31e97eb0d374350d6958cbe7a",
          "terraform/environments/production/hello/variables.tf": "a6c6e385e3ff8e69c2b563cb2ea9580c479ffb25669b02d6cfcb46e166988f59",
          "terraform/modules/hello/db12f86a78de/hello.nomad.hcl": "b0b4831f8d6f7b3a0a1fd30b1b4d5d620b1c59c815e2b98ae43c8c332c1a27db",
          "terraform/modules/hello/db12f86a78de/main.tf": "bf3f0658109480d567e3ff6fece4c59d22fbf03d48696e5738c4dd3990193644",
          "terraform/modules/hello/db12f86a78de/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hello/db12f86a78de/recipe_outputs.tf": "9c892a9f75aa57e1130889efbf9e5ccdeb89e16b8ff3ed480980997e7cdc1098",
          "terraform/modules/hello/db12f86a78de/variables.tf": "63ce008c1999428a99b5cdc47381acdfd0b045c304429a5bd7af71980b62c05b"
        },
        "hosts": [],
        "secrets": [],
        "service": "hello",
        "backend": {
          "kind": "s3",
          "bucket": "eos-terraform-state",
          "region": "eu-central-1",
          "endpoint": "https://store.example.org:9000",
          "prefix": "eos"
        }
      },
      "production/platform": {
        "digest": "8a067c2eec4f0f674d5cc2f7e84d9d6e0e97d7906b19cf5a77aa7177f2051120",
        "risk": "low",
        "token": "management",
        "files": {
          "terraform/environments/production/platform/main.tf": "c06b1f52570ea45fc30ae1417014d20e67129e251d3f062cc1b07d564e3e75af",
          "terraform/environments/production/platform/terraform.tfvars.json": "a3d73aeff1f40c2a6770479466a9dac51328780a00b5d9d055a7e5609767d9c2",
          "terraform/environments/production/platform/variables.tf": "8febb2a0a0717314188826616bb1daeefdea47142998a9c2009e7e18a9d724cf",
          "terraform/modules/platform/d33dab82c6a1/main.tf": "633209d1852a200d671e5e977c22ef6e5e41c54159e56db7fd83146c04435b63",
          "terraform/modules/platform/d33dab82c6a1/outputs.tf": "47161ba1b19970fcda7bfdfe4180ce68335bd5820b192b224c3eca96c81b4b48",
          "terraform/modules/platform/d33dab82c6a1/variables.tf": "5706d7d66ee6db2df66c75b8f9a4f1ae81bfbedf80e97ade0773c6b247b8dece"
        },
        "hosts": [],
        "secrets": [],
        "backend": {
          "kind": "s3",
          "bucket": "eos-terraform-state",
          "region": "eu-central-1",
          "endpoint": "https://store.example.org:9000",
          "prefix": "eos"
        }
      }
    }
  }
}
