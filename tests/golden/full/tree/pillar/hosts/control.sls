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
        "digest": "25736d5075fcc5d7614820a3edbc730e74acc2ac5f0538adbdb946ad4e06a35d",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "0cb1ba51c6b8a73bc85934da3add45674ae4c0968a49bf59da3bbe89899a5472",
          "terraform/environments/production/grafana/terraform.tfvars.json": "5aefd1dd9af5f3197833011d1eb9fe6e133f622fd90555f00e008a0d9ba7bc0d",
          "terraform/environments/production/grafana/variables.tf": "812ce3756499b744edb162d490335cdb4f1e578a4980931d5b1bf18b7d3a3a0f",
          "terraform/modules/grafana/1a833f34d625/grafana.nomad.hcl": "feffcfbe3f320a4d8478a61e1557b79b6cac37a3aa7a5853c8fc00dbf35318bb",
          "terraform/modules/grafana/1a833f34d625/main.tf": "6e771d372777272d10f0c24a24bbeacd263e9773ae6d792de6a8471f8ebfa23d",
          "terraform/modules/grafana/1a833f34d625/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/1a833f34d625/variables.tf": "369d5d982b4deab51fc5b36fd67ea9b7caf6408236a1675689b7ca7cd4e9b05c"
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
        "digest": "fbb0d6c372166ae7b07bb13bd76b91a85b11f52fd4ba4e7c5021e7b9c27db5a2",
        "token": "client",
        "files": {
          "terraform/environments/production/hecate-proxy/main.tf": "3a38455cde2fdac51397ab8a3f1fb588f2c7ef28808634e769e395e557f87374",
          "terraform/environments/production/hecate-proxy/terraform.tfvars.json": "aba142b3f242bab0f51d19bf26067d8a3a4d301e7581a2148888d892bef76c7b",
          "terraform/environments/production/hecate-proxy/variables.tf": "20e5feeb9d39cd5dadc80efdb79d677c39b658fdb40166f6034e2fe4ef23c668",
          "terraform/modules/hecate-proxy/a18819372b33/hecate-proxy.nomad.hcl": "59bf5969aae89f73d4bdc5b6dd2638fb0004ba1cf7f260336e45da9d00fd5307",
          "terraform/modules/hecate-proxy/a18819372b33/main.tf": "820dee38f0970f0e9cdc4349cda6a12609a6f3766190e2e932f752462467f50b",
          "terraform/modules/hecate-proxy/a18819372b33/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hecate-proxy/a18819372b33/variables.tf": "b743ac6290039d3e067f6f2d106ac2124d050b779446cacaaf9546d7c57bfea5"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      },
      "production/mattermost": {
        "digest": "93a63c5cbe91978cb46c382120fe29fbc68a709d4b3c1303def58c641f024264",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost/main.tf": "1fd47c9cc351f0d6459ed9ec0de732608ab96d041d69c35f206a177e38bb90f8",
          "terraform/environments/production/mattermost/terraform.tfvars.json": "71a75f74aeabdc9d531d471a49b125a4ceb3fab5dd4560dfb5bd818582354c62",
          "terraform/environments/production/mattermost/variables.tf": "e711c4fcb3e664e5cda875ec1dbbb4fade3b4cac9ff714e2696910707ae80a97",
          "terraform/modules/mattermost/295b0cb89f53/main.tf": "4264769bb2ba0782bb094a651ce96a6c2d15085574bacedeb2f805e99540595f",
          "terraform/modules/mattermost/295b0cb89f53/mattermost.nomad.hcl": "1e0365c9e16b9eabbc67ce99cd9b81d082334929db37d9e7518d501779a0bd97",
          "terraform/modules/mattermost/295b0cb89f53/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/295b0cb89f53/variables.tf": "323c026e24ae9e37cd85c13d36a6bc509cedb750855d773ac9f46325a7472995"
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
        "digest": "b5b8f3fb1f36366f6a8aa104701b04fd1917a60b2279167d6dbadf3faff76e93",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost-database/main.tf": "3aed2976cc9125c2f668688fdee68f8fce04aa089b9c47f59b975353e1e7f948",
          "terraform/environments/production/mattermost-database/terraform.tfvars.json": "0838f84225c1fff0cabe1df11eb13bbaec3a19faa148f718207d0ec06e7a97c5",
          "terraform/environments/production/mattermost-database/variables.tf": "8e84cdfd3e34b60b4b80aeb9cf5a76696afaf02f1f56c8fa8c5a2e78fdc1d83f",
          "terraform/modules/mattermost-database/a0d103d3f799/main.tf": "b1fef7d2634920fb9c6a3b81b5f1ef8d4bf15213b4fb58a4600c075f2f8f0970",
          "terraform/modules/mattermost-database/a0d103d3f799/mattermost-database.nomad.hcl": "253b89e26cb51f7e308cecb5389dcecf354050b509dc19e6b6472405b5a465e6",
          "terraform/modules/mattermost-database/a0d103d3f799/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/a0d103d3f799/variables.tf": "fecfdf57bd1f62da5c4430a9624f226addb1fee20445dc55e8460c27de7844a7"
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
        "digest": "3d9d4952df601830fc32cab1a53290cfc87a4f224c52cb7320b9d6f98d1e5364",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost/main.tf": "1fd47c9cc351f0d6459ed9ec0de732608ab96d041d69c35f206a177e38bb90f8",
          "terraform/environments/staging/mattermost/terraform.tfvars.json": "3328ab521d366a5615549bbb9c1c70b8836ad1a4d553ac5a0af9347d1e4608fc",
          "terraform/environments/staging/mattermost/variables.tf": "e711c4fcb3e664e5cda875ec1dbbb4fade3b4cac9ff714e2696910707ae80a97",
          "terraform/modules/mattermost/295b0cb89f53/main.tf": "4264769bb2ba0782bb094a651ce96a6c2d15085574bacedeb2f805e99540595f",
          "terraform/modules/mattermost/295b0cb89f53/mattermost.nomad.hcl": "1e0365c9e16b9eabbc67ce99cd9b81d082334929db37d9e7518d501779a0bd97",
          "terraform/modules/mattermost/295b0cb89f53/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/295b0cb89f53/variables.tf": "323c026e24ae9e37cd85c13d36a6bc509cedb750855d773ac9f46325a7472995"
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
        "digest": "fc507e724ff22911a11787da754851320893e1661c6f43560f0da83eb1444f48",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost-database/main.tf": "3aed2976cc9125c2f668688fdee68f8fce04aa089b9c47f59b975353e1e7f948",
          "terraform/environments/staging/mattermost-database/terraform.tfvars.json": "d018e406efe7660919223d0f98c46a79cc83c0f5f44efcb1346c5a376beb4dc4",
          "terraform/environments/staging/mattermost-database/variables.tf": "8e84cdfd3e34b60b4b80aeb9cf5a76696afaf02f1f56c8fa8c5a2e78fdc1d83f",
          "terraform/modules/mattermost-database/a0d103d3f799/main.tf": "b1fef7d2634920fb9c6a3b81b5f1ef8d4bf15213b4fb58a4600c075f2f8f0970",
          "terraform/modules/mattermost-database/a0d103d3f799/mattermost-database.nomad.hcl": "253b89e26cb51f7e308cecb5389dcecf354050b509dc19e6b6472405b5a465e6",
          "terraform/modules/mattermost-database/a0d103d3f799/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/a0d103d3f799/variables.tf": "fecfdf57bd1f62da5c4430a9624f226addb1fee20445dc55e8460c27de7844a7"
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
