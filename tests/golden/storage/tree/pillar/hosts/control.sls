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
        "digest": "18350d3be36dea70afb49f286eea8df94bbf598b79c8e7d53d396e45341c3815",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "bbe60461036d4f68af5df94b0f724623d9ef87a4b04a0d195c78bcefd4379eb2",
          "terraform/environments/production/postgres/terraform.tfvars.json": "46d135a81f0db5253b7438aaccfa39d2b47f3302cdc462a773d46ed7a162d246",
          "terraform/environments/production/postgres/variables.tf": "1a9804caa5ed4d24fb00656b5ad6cc81f927a2c00b0c986741be68af9475ca41",
          "terraform/modules/postgres/f72cd745a248/main.tf": "858957ae354ffddebffa03467d88434c4a62045863481d6ecda80db5edc450c7",
          "terraform/modules/postgres/f72cd745a248/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/f72cd745a248/postgres.nomad.hcl": "5f93c9797ecc4abb2601fc83fa652a79ef214e1c817700f6f212d0c6920c5d47",
          "terraform/modules/postgres/f72cd745a248/variables.tf": "a0c82dfaf2db424cd6ea2d03ca770f8b6160c1427913181a0b3fe73cdfcd1abf"
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
