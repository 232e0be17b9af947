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
        "production/postgres": {
          "recipe": "postgres",
          "version": "17.6"
        }
      }
    },
    "volumes": {},
    "workspaces": {
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
      "production/postgres": {
        "digest": "85428b3b429651e2b24fd9134d815e0c79c5f135c46f4e4a9b31ca3cbfcabfb2",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "ef7c7ec9aa715ff15b21852185c88f564fbb33c5a4d46568a42999490ee04693",
          "terraform/environments/production/postgres/outputs.tf": "0f0c5f39d1dcae3cc06e9ab501d9777cc90dcb2c394083c34d1e61a1b8e17f8c",
          "terraform/environments/production/postgres/terraform.tfvars.json": "622490c7b7fe660d502eccef45eeb8a3220c1007351eaa1b872116a8f99c2098",
          "terraform/environments/production/postgres/variables.tf": "04b6d92a150f9dd7d30e7cd4cccdb582aea240fbfe97bc4d190e80318015a9a3",
          "terraform/modules/postgres/7ea5d6553902/main.tf": "858957ae354ffddebffa03467d88434c4a62045863481d6ecda80db5edc450c7",
          "terraform/modules/postgres/7ea5d6553902/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/7ea5d6553902/postgres.nomad.hcl": "5e7b48fd9790a6cfae253f943dd33cca6cec7b3e887dc9ed9785af35b37bef77",
          "terraform/modules/postgres/7ea5d6553902/recipe_outputs.tf": "17a25ee41ab4a9c238f33333ee793761bb3a2897fefcf5454a69ddd94132f75c",
          "terraform/modules/postgres/7ea5d6553902/variables.tf": "a0c82dfaf2db424cd6ea2d03ca770f8b6160c1427913181a0b3fe73cdfcd1abf"
        },
        "hosts": [
          "node1"
        ],
        "secrets": [
          {
            "namespace": "production",
            "path": "nomad/jobs/postgres",
            "items": [
              "password"
            ]
          }
        ],
        "service": "postgres"
      }
    }
  }
}
