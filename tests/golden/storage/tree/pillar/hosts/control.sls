#!json
{
  "eos": {
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
        "digest": "589a63b4cc48532c9fbe56e8b0632a23a5507f65d0feb942311135d6baa2abd6",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "a652df2f01830cf02a7976075b3e7f6d5d8831049b5902e6bfa8026b030322a4",
          "terraform/environments/production/postgres/terraform.tfvars.json": "bb2469c33ed7d4b088f16c1484089238918d18d11552a90da3b7d3348c157871",
          "terraform/environments/production/postgres/variables.tf": "1a9804caa5ed4d24fb00656b5ad6cc81f927a2c00b0c986741be68af9475ca41",
          "terraform/modules/postgres/8c945d9b97db/main.tf": "858957ae354ffddebffa03467d88434c4a62045863481d6ecda80db5edc450c7",
          "terraform/modules/postgres/8c945d9b97db/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/8c945d9b97db/postgres.nomad.hcl": "5e7b48fd9790a6cfae253f943dd33cca6cec7b3e887dc9ed9785af35b37bef77",
          "terraform/modules/postgres/8c945d9b97db/variables.tf": "a0c82dfaf2db424cd6ea2d03ca770f8b6160c1427913181a0b3fe73cdfcd1abf"
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
        ]
      }
    }
  }
}
