#!json
{
  "eos": {
    "volumes": {
      "production/grafana/data": {
        "path": "/srv/lab/volumes/opt/grafana/data",
        "user": "472",
        "group": "472",
        "mode": "0750",
        "durability": "redundant"
      },
      "production/hecate-proxy/data": {
        "path": "/srv/lab/volumes/opt/hecate-proxy/data",
        "user": "root",
        "group": "root",
        "mode": "0750",
        "durability": "redundant"
      },
      "production/mattermost/data": {
        "path": "/srv/lab/volumes/opt/mattermost/data",
        "user": "2000",
        "group": "2000",
        "mode": "0750",
        "durability": "redundant"
      },
      "production/mattermost-database/data": {
        "path": "/srv/lab/volumes/opt/mattermost-database/data",
        "user": "999",
        "group": "999",
        "mode": "0700",
        "durability": "redundant"
      },
      "staging/mattermost/data": {
        "path": "/srv/lab/volumes/opt/mattermost-staging/data",
        "user": "2000",
        "group": "2000",
        "mode": "0750",
        "durability": "persistent"
      },
      "staging/mattermost-database/data": {
        "path": "/srv/lab/volumes/opt/mattermost-database-staging/data",
        "user": "999",
        "group": "999",
        "mode": "0700",
        "durability": "persistent"
      }
    },
    "workspaces": {
      "production/grafana": {
        "digest": "bc1b63e63e265ea6e733e91fc1c751de86cd46ae70f97833d16cae8f2087a6e1",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "af85c29fa29c27a387fb032d4c3f901efdffabcf6664c6d13e3dfbff21dd403e",
          "terraform/environments/production/grafana/terraform.tfvars.json": "10a55e7a76668a3465aa0c595280a3e69409d91814567a4ca5ed80a0fdf73b52",
          "terraform/environments/production/grafana/variables.tf": "8b400d025e5975c55053a05cc6ac0ae0131505f08d1b256966db185fd119d1b4",
          "terraform/modules/grafana/85513271efe7/grafana.nomad.hcl": "7645967f3ada88509459a1ea492d319aa427f0bb2db6eb94e2bc1c4510fd2ae5",
          "terraform/modules/grafana/85513271efe7/main.tf": "50c150bf9c56f239f8cf32b63c8ce11431ded8e3d1b771bfa5bfcd1b94d4cd44",
          "terraform/modules/grafana/85513271efe7/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/85513271efe7/variables.tf": "e24c4e8d1c2ecf62aeba03a8efd46eb6c51d117b4e2fa5dc3042b8cde8ae1ee7"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "production",
            "path": "production/grafana/app",
            "items": [
              "admin_password"
            ]
          }
        ]
      },
      "production/hecate-proxy": {
        "digest": "83f6f0c4a123c14b7971d5b89650829432ac11a67bf0458b5e823f43e217a030",
        "token": "client",
        "files": {
          "terraform/environments/production/hecate-proxy/main.tf": "39853444337e64c1c5e74e18cd4a431e0efcb1e0154c1eccd7de2974059edf26",
          "terraform/environments/production/hecate-proxy/terraform.tfvars.json": "a18178b2c58d72c2e7f53e263cd9badfbea34dc8ffbd9cb45945a7aa15859632",
          "terraform/environments/production/hecate-proxy/variables.tf": "60a56031a2099ce7a5d0ff8f80c5973851faeceb3019f69590c4711f9b9aa61d",
          "terraform/modules/hecate-proxy/d724cb5b6deb/hecate-proxy.nomad.hcl": "86d73479396a952c006e958643e8cda0cf9eb298d7ace120f61d9453ba012899",
          "terraform/modules/hecate-proxy/d724cb5b6deb/main.tf": "7a9c0cdbfa29ae6a09e5e0f098171044fd83d369a2761bace3dedce1262baa9b",
          "terraform/modules/hecate-proxy/d724cb5b6deb/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hecate-proxy/d724cb5b6deb/variables.tf": "4191e62e8d42fa287d8ac7dd0059ed6772f6810c3ba625d361c83bbef92d0c0f"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      },
      "production/mattermost": {
        "digest": "2ce5447ae39b1b76f5ea57b6f2c19465927bd843a1fe44113e3f3151a94383f7",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost/main.tf": "30dc87f3fa43e8145191a5163a558b661ad32517edf1bf9ef363385fe0b190e6",
          "terraform/environments/production/mattermost/terraform.tfvars.json": "579510f68e6be7ab385b9d0cc1970b7ecda905bbf1f202ced83a8cc6f15183be",
          "terraform/environments/production/mattermost/variables.tf": "db3d65568249d94778c450e02d238b8ed898267e5fd3f6bd49d96804a81785b6",
          "terraform/modules/mattermost/b1b1d06593d5/main.tf": "24696fe8ad58fba93f5b45a1f054bafa3cb2ae39852165b1f27b6bef2a434915",
          "terraform/modules/mattermost/b1b1d06593d5/mattermost.nomad.hcl": "6ae2107564ae9f76dc7b0a844a20ddfb1e5befa2979775b76a76c8953c8b0c8d",
          "terraform/modules/mattermost/b1b1d06593d5/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/b1b1d06593d5/variables.tf": "468e931723625658058817a51b5605d14234cae520207f637685b77502b0e1d2"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "production",
            "path": "production/mattermost/app",
            "items": [
              "database_password"
            ]
          }
        ]
      },
      "production/mattermost-database": {
        "digest": "75256b20e9b983aa32048fe43befb9b33d95b6de682fa973973bc3da499bf48d",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost-database/main.tf": "bb210604993c6aa847e55d7e82a200fca6720261bf60d19845e557085546f132",
          "terraform/environments/production/mattermost-database/terraform.tfvars.json": "0bdf91e9b1a66583c309a4c917186ff643403a6cf4aef7982e1aeacd6857c48b",
          "terraform/environments/production/mattermost-database/variables.tf": "4aec7cf275baabc15d000d328d51953304e3097d9aaac25dcfcdbf8716d40dad",
          "terraform/modules/mattermost-database/c2efcbab9aa0/main.tf": "ef92f1db1de0e6d90826faf367db69d87a6ec9fc6dc56b982fc6401b1ca5e584",
          "terraform/modules/mattermost-database/c2efcbab9aa0/mattermost-database.nomad.hcl": "8b4a6c06cdceee64f33acb2f124cc89a3dec9bb2ee406e9a2ded43354d356173",
          "terraform/modules/mattermost-database/c2efcbab9aa0/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/c2efcbab9aa0/variables.tf": "08f28827d6053f4afbc8062754ac9bdadcb9cdb1a1e002520f0408932426e91d"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "production",
            "path": "production/mattermost-database/app",
            "items": [
              "password"
            ]
          }
        ]
      },
      "production/platform": {
        "digest": "f12f5f9555a39dceddcc81f2269525ffe4f0921f43ccdb00718c01b5e39e96c6",
        "token": "management",
        "files": {
          "terraform/environments/production/platform/main.tf": "659405f9d79f674f169924857e6764219ca92c9f904ea0eb59e82b290f3ff1a8",
          "terraform/environments/production/platform/terraform.tfvars.json": "c7f521a02c3c45f11f60542f98f963d998680142c21cd31a79f33772b61db441",
          "terraform/environments/production/platform/variables.tf": "391d4eeeb216c825ea8e31470bd522d8babb2f5cf6236991bd08a49db9b58043",
          "terraform/modules/platform/4c09b8f9a47a/main.tf": "633209d1852a200d671e5e977c22ef6e5e41c54159e56db7fd83146c04435b63",
          "terraform/modules/platform/4c09b8f9a47a/outputs.tf": "47161ba1b19970fcda7bfdfe4180ce68335bd5820b192b224c3eca96c81b4b48",
          "terraform/modules/platform/4c09b8f9a47a/variables.tf": "391d4eeeb216c825ea8e31470bd522d8babb2f5cf6236991bd08a49db9b58043"
        },
        "hosts": [],
        "secrets": []
      },
      "staging/mattermost": {
        "digest": "0fc8c0fe010265c6dc60104a59ff14aea0fd85cf605896fb63d999af2720cecb",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost/main.tf": "e6d833e2e5068a4f26d52d26844cf5d1dca08089d7ee6bb91c12a50fa297763b",
          "terraform/environments/staging/mattermost/terraform.tfvars.json": "a22cbce0e2d84969a024e9b19b349a1226b79c5f9203deda19b1d033e1e9021e",
          "terraform/environments/staging/mattermost/variables.tf": "940d017c287dd6a1ff8847b954009f86cbe4d3013cebdbb7a0cb9d19f55d5ac4",
          "terraform/modules/mattermost/be5a3d01a236/main.tf": "08e7f3a7f589ec4baa68903e4fe33478c02034f5c4ed5ef3debdb8924c24fcf1",
          "terraform/modules/mattermost/be5a3d01a236/mattermost.nomad.hcl": "6ae2107564ae9f76dc7b0a844a20ddfb1e5befa2979775b76a76c8953c8b0c8d",
          "terraform/modules/mattermost/be5a3d01a236/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/be5a3d01a236/variables.tf": "762ac56714a461a17cb4221b6826b390abe1b31246c22e3851ca98037b3eec2b"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "staging",
            "path": "staging/mattermost/app",
            "items": [
              "database_password"
            ]
          }
        ]
      },
      "staging/mattermost-database": {
        "digest": "a864cdef06b60d5e8c4c2c302b6f56a060c39db7bb941cf45328e5918dc33434",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost-database/main.tf": "bb210604993c6aa847e55d7e82a200fca6720261bf60d19845e557085546f132",
          "terraform/environments/staging/mattermost-database/terraform.tfvars.json": "9add0ed36b10acd8c9a6927403cab7bb5dcb587eb169d43de96f194a0843ea3c",
          "terraform/environments/staging/mattermost-database/variables.tf": "4aec7cf275baabc15d000d328d51953304e3097d9aaac25dcfcdbf8716d40dad",
          "terraform/modules/mattermost-database/c2efcbab9aa0/main.tf": "ef92f1db1de0e6d90826faf367db69d87a6ec9fc6dc56b982fc6401b1ca5e584",
          "terraform/modules/mattermost-database/c2efcbab9aa0/mattermost-database.nomad.hcl": "8b4a6c06cdceee64f33acb2f124cc89a3dec9bb2ee406e9a2ded43354d356173",
          "terraform/modules/mattermost-database/c2efcbab9aa0/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/c2efcbab9aa0/variables.tf": "08f28827d6053f4afbc8062754ac9bdadcb9cdb1a1e002520f0408932426e91d"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "staging",
            "path": "staging/mattermost-database/app",
            "items": [
              "password"
            ]
          }
        ]
      },
      "staging/platform": {
        "digest": "015e62a8a31e8424aa7c5e95358e71366e1741cbaf60834bf9c874e9d23bb1c1",
        "token": "management",
        "files": {
          "terraform/environments/staging/platform/main.tf": "659405f9d79f674f169924857e6764219ca92c9f904ea0eb59e82b290f3ff1a8",
          "terraform/environments/staging/platform/terraform.tfvars.json": "252f986352ff7ad8094f38b18ffd65a34fe5903d28908127e842665a5a650088",
          "terraform/environments/staging/platform/variables.tf": "391d4eeeb216c825ea8e31470bd522d8babb2f5cf6236991bd08a49db9b58043",
          "terraform/modules/platform/4c09b8f9a47a/main.tf": "633209d1852a200d671e5e977c22ef6e5e41c54159e56db7fd83146c04435b63",
          "terraform/modules/platform/4c09b8f9a47a/outputs.tf": "47161ba1b19970fcda7bfdfe4180ce68335bd5820b192b224c3eca96c81b4b48",
          "terraform/modules/platform/4c09b8f9a47a/variables.tf": "391d4eeeb216c825ea8e31470bd522d8babb2f5cf6236991bd08a49db9b58043"
        },
        "hosts": [],
        "secrets": []
      }
    }
  }
}
