#!json
{
  "eos": {
    "volumes": {
      "production/postgres/data": {
        "path": "/srv/lab/volumes/opt/postgres/data",
        "user": "999",
        "group": "999",
        "mode": "0700",
        "durability": "redundant",
        "risk": "medium"
      },
      "production/redis/data": {
        "path": "/srv/lab/volumes/opt/redis/data",
        "user": "999",
        "group": "999",
        "mode": "0750",
        "durability": "redundant",
        "risk": "medium"
      }
    },
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
        "digest": "6d295f681dd42ba7db1367854db3de2617dc2eae8cfca6850e67c58c55156b45",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "887212cd9d922a9d79af869b859c42f75001b5e871402fada93159f0788cbe5d",
          "terraform/environments/production/postgres/terraform.tfvars.json": "c63f0d505089ea1422998d4a197afc31f924cb591dc498eb6f2f1124bdc55481",
          "terraform/environments/production/postgres/variables.tf": "14a0d641dc76c8b0795198aabc812a0434755e8d886524fd1c25fa2b0d46c322",
          "terraform/modules/postgres/7f4b626244d2/main.tf": "d3f7d0886ceaf82cca759456f1425a1f29ba392f1d80b0f55fccf203fa839c15",
          "terraform/modules/postgres/7f4b626244d2/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/7f4b626244d2/postgres.nomad.hcl": "ef35b7b25aad325627845ce204b4d4dac82a0474fd41b87dbe98ebcb4e7a7705",
          "terraform/modules/postgres/7f4b626244d2/variables.tf": "8a99508b05f2ed5482067614cd17e599479bb1f7b8febaf2cdbe9ce79a57cd47"
        },
        "hosts": [
          "control"
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
      },
      "production/redis": {
        "digest": "f51a47cf9c5fc9a9511e60b41eb221913a8fdebbf0a0ca50b03c85288217fa39",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/redis/main.tf": "b35eac2886c932413d1f06d1f115d657398909633a1f647cb6836822721b4b35",
          "terraform/environments/production/redis/terraform.tfvars.json": "6fda980d7313d3097a276f74f96c265585ad4719aa0d16f973b28b40624de57b",
          "terraform/environments/production/redis/variables.tf": "1d708c19b0cd73b1edbc5528bfe59b3df034bd090e8fed5c1d9db386ed537633",
          "terraform/modules/redis/5721a4965bcc/main.tf": "3d9c1b961d6e9665386898778009cf9d557622380e078d68cd73d70f1d0aa2e1",
          "terraform/modules/redis/5721a4965bcc/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/redis/5721a4965bcc/redis.nomad.hcl": "67dafe87254028f7f7a481d7e1149119b8e7d7bc854c5974576a467abd7730a0",
          "terraform/modules/redis/5721a4965bcc/variables.tf": "d608d0a6a22eb1443a3b879dab3f567416de5435c081099dbd15bf9d066230f2"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "production",
            "path": "nomad/jobs/redis",
            "items": [
              "password"
            ]
          }
        ]
      }
    }
  }
}
