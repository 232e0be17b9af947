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
        "digest": "225df55fc096a72e7e2609e29875659243054a0eecfe1a302bf42c058bf2d269",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "3e175beb2c149aa0a004320e49418b58d1b740d94453fdba7f27a56bdbf7c3a0",
          "terraform/environments/production/postgres/terraform.tfvars.json": "12ebd450a74df3491c5d057c25975f410309efeebc016077d736170bfa6b5924",
          "terraform/environments/production/postgres/variables.tf": "14a0d641dc76c8b0795198aabc812a0434755e8d886524fd1c25fa2b0d46c322",
          "terraform/modules/postgres/49a5fe1a1eff/main.tf": "d3f7d0886ceaf82cca759456f1425a1f29ba392f1d80b0f55fccf203fa839c15",
          "terraform/modules/postgres/49a5fe1a1eff/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/49a5fe1a1eff/postgres.nomad.hcl": "939875ed36d6ccd1a089049157c8435549eedc4963e006f4a5735d4d9da9a175",
          "terraform/modules/postgres/49a5fe1a1eff/variables.tf": "8a99508b05f2ed5482067614cd17e599479bb1f7b8febaf2cdbe9ce79a57cd47"
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
        "digest": "a9adf618797c1633b4c38faa8b8eeaa30fe0e635c77f0d5a20c3f017cebf7d40",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/redis/main.tf": "9ce354f4786e3940419522de370b3a18fc707e577097fa9ad1c14be57409ab95",
          "terraform/environments/production/redis/terraform.tfvars.json": "5e89869aeced20ccf72c6b989433295a56d82ebd02b4caa17265b93935918394",
          "terraform/environments/production/redis/variables.tf": "1d708c19b0cd73b1edbc5528bfe59b3df034bd090e8fed5c1d9db386ed537633",
          "terraform/modules/redis/5f6c240cb348/main.tf": "3d9c1b961d6e9665386898778009cf9d557622380e078d68cd73d70f1d0aa2e1",
          "terraform/modules/redis/5f6c240cb348/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/redis/5f6c240cb348/redis.nomad.hcl": "2e036d1bbd0fc4ca6097ca58e0a6312ce7b0a166eab0b5bfbe1e14fdce69bfbd",
          "terraform/modules/redis/5f6c240cb348/variables.tf": "d608d0a6a22eb1443a3b879dab3f567416de5435c081099dbd15bf9d066230f2"
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
