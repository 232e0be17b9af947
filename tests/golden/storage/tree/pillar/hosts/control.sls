#!json
{
  "eos": {
    "volumes": {},
    "workspaces": {
      "production/platform": {
        "digest": "7e1229e24dbea8af270786de56c31ae083dc90d3c4ac26e920e88c12c14ca1ad",
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
        "digest": "dc730ad5ce1f8f41fcb384535cfbcab13f0e894cb04b4afe619ae772da71cb37",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "6b132416e1d6cc5223be26d2a08b3d8b55d1007697fb98467fbca306c777d178",
          "terraform/environments/production/postgres/terraform.tfvars.json": "6f6f904c7fc2a609456089af991381b262e17bb43df97f0da1e06485849e959a",
          "terraform/environments/production/postgres/variables.tf": "1a9804caa5ed4d24fb00656b5ad6cc81f927a2c00b0c986741be68af9475ca41",
          "terraform/modules/postgres/e1d58d976341/main.tf": "c2e7bf1062428885a38953e542f5cb989b9e316a7c946a2acb4c33d315833632",
          "terraform/modules/postgres/e1d58d976341/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/e1d58d976341/postgres.nomad.hcl": "5e7b48fd9790a6cfae253f943dd33cca6cec7b3e887dc9ed9785af35b37bef77",
          "terraform/modules/postgres/e1d58d976341/variables.tf": "a0c82dfaf2db424cd6ea2d03ca770f8b6160c1427913181a0b3fe73cdfcd1abf"
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
