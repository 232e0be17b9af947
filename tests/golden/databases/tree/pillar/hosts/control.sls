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
        "production/postgres": {
          "recipe": "postgres",
          "version": "17.6",
          "options": {
            "port": 5432
          },
          "volumes": {
            "data": {
              "size": "20 GiB",
              "filesystem": "directory"
            }
          }
        },
        "production/redis": {
          "recipe": "redis",
          "version": "8.2",
          "volumes": {
            "data": {
              "size": "2 GiB",
              "filesystem": "directory"
            }
          }
        }
      }
    },
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
        "digest": "92b2489025e9fd88e9e35093e8bc0970f28661c2417a1c3b8fcee452c69d6dec",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "be9524ff36b9431793e293677244e40ba41acae4264be7c7790ea5e60b26e35c",
          "terraform/environments/production/postgres/outputs.tf": "0f0c5f39d1dcae3cc06e9ab501d9777cc90dcb2c394083c34d1e61a1b8e17f8c",
          "terraform/environments/production/postgres/terraform.tfvars.json": "130a200c0ff8221737336a23aa9d630c2767589383d06e83ca8ae98ea12a90a5",
          "terraform/environments/production/postgres/variables.tf": "bd1648b8c7a1ce64dc0389e864a060283387d221abbca1f08735f47820fbf562",
          "terraform/modules/postgres/251e28747c70/main.tf": "d3f7d0886ceaf82cca759456f1425a1f29ba392f1d80b0f55fccf203fa839c15",
          "terraform/modules/postgres/251e28747c70/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/251e28747c70/postgres.nomad.hcl": "939875ed36d6ccd1a089049157c8435549eedc4963e006f4a5735d4d9da9a175",
          "terraform/modules/postgres/251e28747c70/recipe_outputs.tf": "901ff7dfce31cf78ffb3bd1e8fb0b8148ed9ce32c599333b0e467b8f1b905b73",
          "terraform/modules/postgres/251e28747c70/variables.tf": "8a99508b05f2ed5482067614cd17e599479bb1f7b8febaf2cdbe9ce79a57cd47"
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
        ],
        "service": "postgres"
      },
      "production/redis": {
        "digest": "937d67ea8fe5dea98f3a8bea102b9f064161f09046decbdab0cb74ad613f46f4",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/redis/main.tf": "73ad68742caf1631c29eb9da62cdb06f230941a5bb015a76e281bf1fad31287e",
          "terraform/environments/production/redis/outputs.tf": "8dda65b9667275115ad6775a8e7956f218ca7972df856ae33236e2b294c2f02b",
          "terraform/environments/production/redis/terraform.tfvars.json": "93c765982300e1303d260e8d2b7e11b3cb9f062b5be94255eb74767a309db9ea",
          "terraform/environments/production/redis/variables.tf": "f7c6b783ed34358c1f08d598540ef0af0cab3a4ca64950d04c7a69ff80328bb6",
          "terraform/modules/redis/88884668b04c/main.tf": "3d9c1b961d6e9665386898778009cf9d557622380e078d68cd73d70f1d0aa2e1",
          "terraform/modules/redis/88884668b04c/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/redis/88884668b04c/recipe_outputs.tf": "fac65fd687b2444282fb1f5721368f6567e2df689fbc5351cc1cb173b492cd8c",
          "terraform/modules/redis/88884668b04c/redis.nomad.hcl": "2e036d1bbd0fc4ca6097ca58e0a6312ce7b0a166eab0b5bfbe1e14fdce69bfbd",
          "terraform/modules/redis/88884668b04c/variables.tf": "d608d0a6a22eb1443a3b879dab3f567416de5435c081099dbd15bf9d066230f2"
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
        ],
        "service": "redis"
      }
    }
  }
}
