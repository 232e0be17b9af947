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
        "digest": "0a2608f7126efc53839e7766e817bf45912104509c63dca47cf1c8e90de1432e",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "a7a1052aebadd7cd278f5f70a9d853704c1d57376bd14e9272e1bb8dc59023d5",
          "terraform/environments/production/postgres/terraform.tfvars.json": "70c3b34c4b37648f4f2b39eb497b50afaa0bf4026798b11ac2dfac27b783d019",
          "terraform/environments/production/postgres/variables.tf": "14a0d641dc76c8b0795198aabc812a0434755e8d886524fd1c25fa2b0d46c322",
          "terraform/modules/postgres/bcb1a07313bc/main.tf": "72a206ee93189683cea5e9036024dc57d6089010c939da8e4d9e08238b7e86ae",
          "terraform/modules/postgres/bcb1a07313bc/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/bcb1a07313bc/postgres.nomad.hcl": "939875ed36d6ccd1a089049157c8435549eedc4963e006f4a5735d4d9da9a175",
          "terraform/modules/postgres/bcb1a07313bc/variables.tf": "8a99508b05f2ed5482067614cd17e599479bb1f7b8febaf2cdbe9ce79a57cd47"
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
        "digest": "0bb4b369a0a4fbf5c718d71b3c0eefb1911deb98dff11170ca52ce600cf04870",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/redis/main.tf": "e9b6bd6bb4cc5feb52c5562ac5ebac0cfceaa978062a832e648b0c0a38836b64",
          "terraform/environments/production/redis/terraform.tfvars.json": "a33d61654a8feddfe8b2b2400a6cd4b9e450a554ec0561d1991df725b15e3a10",
          "terraform/environments/production/redis/variables.tf": "1d708c19b0cd73b1edbc5528bfe59b3df034bd090e8fed5c1d9db386ed537633",
          "terraform/modules/redis/3a5220960def/main.tf": "3a5e65c1fa3c3a96b736efca60915aa604ab5273c59f5ede10c2a4ba180dc269",
          "terraform/modules/redis/3a5220960def/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/redis/3a5220960def/redis.nomad.hcl": "2e036d1bbd0fc4ca6097ca58e0a6312ce7b0a166eab0b5bfbe1e14fdce69bfbd",
          "terraform/modules/redis/3a5220960def/variables.tf": "d608d0a6a22eb1443a3b879dab3f567416de5435c081099dbd15bf9d066230f2"
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
