#!json
{
  "eos": {
    "volumes": {},
    "workspaces": {
      "production/hello": {
        "digest": "002024c81d43718c8948361c3493a8011669b003bab88f7ae8c4ef2bee90673f",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/hello/main.tf": "76528bb2716a4ee98253fdd8d0e17561896216a9a9bbd8070e54fdae2a61d80c",
          "terraform/environments/production/hello/terraform.tfvars.json": "bb921c1e23a3f764f5d7b8332f25a013b8ff2097c493250e375bd621a5f084e8",
          "terraform/environments/production/hello/variables.tf": "dde938b1222557bc9d84f0f4fad548e2178dcd9eb8ff6338c836931b23937cb8",
          "terraform/modules/hello/fe63562e68f0/hello.nomad.hcl": "b0b4831f8d6f7b3a0a1fd30b1b4d5d620b1c59c815e2b98ae43c8c332c1a27db",
          "terraform/modules/hello/fe63562e68f0/main.tf": "bf3f0658109480d567e3ff6fece4c59d22fbf03d48696e5738c4dd3990193644",
          "terraform/modules/hello/fe63562e68f0/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hello/fe63562e68f0/variables.tf": "63ce008c1999428a99b5cdc47381acdfd0b045c304429a5bd7af71980b62c05b"
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
