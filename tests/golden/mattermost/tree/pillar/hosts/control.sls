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
        "production/grafana": {
          "recipe": "grafana",
          "version": "11.6.0",
          "options": {
            "domain": "metrics.example.org"
          },
          "volumes": {
            "data": {
              "size": "5 GiB",
              "filesystem": "directory"
            }
          }
        },
        "production/hecate-proxy": {
          "recipe": "hecate-proxy",
          "version": "2.10",
          "volumes": {
            "data": {
              "size": "1 GiB",
              "filesystem": "directory"
            }
          }
        },
        "production/mattermost": {
          "recipe": "mattermost",
          "version": "10.11.2",
          "options": {
            "domain": "chat.example.org"
          },
          "volumes": {
            "data": {
              "size": "10 GiB",
              "filesystem": "directory"
            }
          }
        },
        "production/mattermost-database": {
          "recipe": "postgres",
          "version": "17.6",
          "owner": "mattermost",
          "options": {
            "size": "50G"
          },
          "volumes": {
            "data": {
              "size": "50 GiB",
              "filesystem": "directory"
            }
          }
        },
        "staging/mattermost": {
          "recipe": "mattermost",
          "version": "10.11.2",
          "options": {
            "port": 8066
          },
          "volumes": {
            "data": {
              "size": "10 GiB",
              "filesystem": "directory"
            }
          }
        },
        "staging/mattermost-database": {
          "recipe": "postgres",
          "version": "17.6",
          "owner": "mattermost",
          "volumes": {
            "data": {
              "size": "20 GiB",
              "filesystem": "directory"
            }
          }
        }
      }
    },
    "volumes": {
      "production/grafana/data": {
        "path": "/srv/lab/volumes/opt/grafana/data",
        "user": "472",
        "group": "472",
        "mode": "0750",
        "durability": "redundant",
        "risk": "low"
      },
      "production/hecate-proxy/data": {
        "path": "/srv/lab/volumes/opt/hecate-proxy/data",
        "user": "root",
        "group": "root",
        "mode": "0750",
        "durability": "redundant",
        "risk": "medium"
      },
      "production/mattermost/data": {
        "path": "/srv/lab/volumes/opt/mattermost/data",
        "user": "2000",
        "group": "2000",
        "mode": "0750",
        "durability": "redundant",
        "risk": "low"
      },
      "production/mattermost-database/data": {
        "path": "/srv/lab/volumes/opt/mattermost-database/data",
        "user": "999",
        "group": "999",
        "mode": "0700",
        "durability": "redundant",
        "risk": "medium"
      },
      "staging/mattermost/data": {
        "path": "/srv/lab/volumes/opt/mattermost-staging/data",
        "user": "2000",
        "group": "2000",
        "mode": "0750",
        "durability": "persistent",
        "risk": "low"
      },
      "staging/mattermost-database/data": {
        "path": "/srv/lab/volumes/opt/mattermost-database-staging/data",
        "user": "999",
        "group": "999",
        "mode": "0700",
        "durability": "persistent",
        "risk": "medium"
      }
    },
    "workspaces": {
      "production/grafana": {
        "digest": "b5abeea9001b4f713963458c829e3f69ac11a44bb206ef1a50502a8035766c42",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "953320727bffdd2090ea6ec9e7ea74387f51c38e1dd3da2ef340bdebe36e694e",
          "terraform/environments/production/grafana/outputs.tf": "4c9b1b7a706c080b4767f83fc8e4332346205690e927a66de80137755168cbf7",
          "terraform/environments/production/grafana/terraform.tfvars.json": "8c277c30b3a0cfce1e134f481124ff2a87d75662c8149f6be8cb6981d49e4ef7",
          "terraform/environments/production/grafana/variables.tf": "f4537061e1efb4125a7d1cca0e5aad0a30baa1a8741d712d55d880697ad60eab",
          "terraform/modules/grafana/4177614adc1f/grafana.nomad.hcl": "a24ea8584c836fae954d45f9d6da720e94c5260130d78b18bc86b9c0e0030e47",
          "terraform/modules/grafana/4177614adc1f/main.tf": "cb78ab97880a2edde3bbdf94ee1c94863e53cfcc7c269bee444e024d7647fc84",
          "terraform/modules/grafana/4177614adc1f/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/4177614adc1f/recipe_outputs.tf": "b33c46a6a9fa26ed86a008c45225754d99c99b024989b44828a234074f689c7e",
          "terraform/modules/grafana/4177614adc1f/variables.tf": "fba81f4bf32f1654bd97eff693243b0c175997eb042eb5b83650df1be7da045a"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "production",
            "path": "nomad/jobs/grafana",
            "items": [
              "admin_password"
            ]
          }
        ],
        "service": "grafana"
      },
      "production/hecate-proxy": {
        "digest": "726e8ffd0a738cebaec572976ce3e4b895d26d723825125e08429a95dcfded34",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/hecate-proxy/main.tf": "7e06101020f00be2aafa4d0a56aaee12154a36f9bf8f506eff24e18b9aca2362",
          "terraform/environments/production/hecate-proxy/outputs.tf": "b140a687ffc3b1b73d1a9f14220aaf4804f1853258f1f338d399efda4e6a56b2",
          "terraform/environments/production/hecate-proxy/terraform.tfvars.json": "cdf67a8597ac546907750aea249bd7c7c48e25ea746dff3ce968847142fb3a55",
          "terraform/environments/production/hecate-proxy/variables.tf": "4ed3a2add0f96faa65524ec45aa1691adb4e198446559310f63f1b5b08739d24",
          "terraform/modules/hecate-proxy/39e9b2824593/hecate-proxy.nomad.hcl": "af6156fa1b424a28aab6e5b0af3197bed691ef81630e95922e101bfd257c35b6",
          "terraform/modules/hecate-proxy/39e9b2824593/main.tf": "6b2be4b4210b0b2c91d9be0ff4c46310fb8f466debfbde2b82c34df2e81cf992",
          "terraform/modules/hecate-proxy/39e9b2824593/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hecate-proxy/39e9b2824593/recipe_outputs.tf": "10c11057d42e37d235e7fa6c378d6f8b1f29401be59485bd8bae1cb3e7bfbd65",
          "terraform/modules/hecate-proxy/39e9b2824593/variables.tf": "0fbae5c00dd49db886c0e74424acdefb566d9a392270cbd9b0c77697c88d81e5"
        },
        "hosts": [
          "control"
        ],
        "secrets": [],
        "service": "hecate-proxy"
      },
      "production/mattermost": {
        "digest": "fc28293d57317e097d5580a2eebee128feb8f0f0196419ba26567e8f5c62f1e5",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost/main.tf": "619b2d1552d22b49b0e09620f59fa1e4ab25f3e165098f55407773d7e00dfd36",
          "terraform/environments/production/mattermost/outputs.tf": "a034fa924e8245d6b77dcc9bfec79f56bafda2eb43c4e828a7f5f0a20142094e",
          "terraform/environments/production/mattermost/terraform.tfvars.json": "d0b6617f41cf125483197fb9d66615f0a2f8c3a4f0b94765e1d0c8449e1d3a7d",
          "terraform/environments/production/mattermost/variables.tf": "6d859f7cf1b97b4be7e6e23df80cf81b33ff316998aa4698d2489a88fa9fe5c4",
          "terraform/modules/mattermost/0a39e1281fc7/main.tf": "cf8127bf0c98aaa0e6f005d1efa7483c432be2092ede6df9e447d076317c0ed6",
          "terraform/modules/mattermost/0a39e1281fc7/mattermost.nomad.hcl": "f59f5407f58a27342207deb7d57f2f5dd9ff3bb5b84e53ee3bb5eac0c4ba7f84",
          "terraform/modules/mattermost/0a39e1281fc7/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/0a39e1281fc7/recipe_outputs.tf": "f7df40d30c40c234cb77571c2c992061c80cba2a0a84992f72217607a8bd7290",
          "terraform/modules/mattermost/0a39e1281fc7/variables.tf": "f2225e6559efbdcf0a4153df04350af77da4937aec46a59bbc353f06621168c6"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "production",
            "path": "nomad/jobs/mattermost",
            "items": [
              "database_password"
            ]
          }
        ],
        "service": "mattermost"
      },
      "production/mattermost-database": {
        "digest": "8482ca7579b232d4962987554ca2707c8eda2a73824280e986335d9562c84ac8",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost-database/main.tf": "cad7149fdfd927b1fe4ab37e4cb67240749dd2d09c95c5a1b1abaf079c528962",
          "terraform/environments/production/mattermost-database/outputs.tf": "78d0280a70441d6a068cc21ce0d1a99559a8cc8160403936ff42325903c00526",
          "terraform/environments/production/mattermost-database/terraform.tfvars.json": "b820946b0344f64155a78d3d98291071ef47a96cc4a2da51ac7b62fa3af82f56",
          "terraform/environments/production/mattermost-database/variables.tf": "04b6d92a150f9dd7d30e7cd4cccdb582aea240fbfe97bc4d190e80318015a9a3",
          "terraform/modules/mattermost-database/0ec00c4130d1/main.tf": "1ef34824b40c6d751bafc056245f978e8f3113e4d3637984c7dcd49c6822354a",
          "terraform/modules/mattermost-database/0ec00c4130d1/mattermost-database.nomad.hcl": "eb10e1859e7f989a43c0cb84c9b2accd282ede3bb89e5d94c43ff6a14a412eb3",
          "terraform/modules/mattermost-database/0ec00c4130d1/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/0ec00c4130d1/recipe_outputs.tf": "17a25ee41ab4a9c238f33333ee793761bb3a2897fefcf5454a69ddd94132f75c",
          "terraform/modules/mattermost-database/0ec00c4130d1/variables.tf": "a0c82dfaf2db424cd6ea2d03ca770f8b6160c1427913181a0b3fe73cdfcd1abf"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "production",
            "path": "nomad/jobs/mattermost-database",
            "items": [
              "password"
            ]
          }
        ],
        "service": "mattermost-database"
      },
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
      "staging/mattermost": {
        "digest": "3729891458a3952670a318baafcf59c917fd3e71e5ce8a10dfe2facf77406abd",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost/main.tf": "d55e7bb1b28303344e6ab67408861e5a37ebfddde61da114b975ea80999f854b",
          "terraform/environments/staging/mattermost/outputs.tf": "24aa86f68a47d3cefcd0bb07eea058b6107f41585264cc7fade55e753c51d29c",
          "terraform/environments/staging/mattermost/terraform.tfvars.json": "0609ad9d575bab5268f553a8c47aca252117cf5034668b400442f647d42a33fa",
          "terraform/environments/staging/mattermost/variables.tf": "9599bc1f93cebcbca20acfa585b1661e37e98aae4859253bae86b67c874c4142",
          "terraform/modules/mattermost/411ca1d8b12b/main.tf": "05629237d9033514c583f38b40da6d309037630f0c1d373dd5ed241f7afa90d1",
          "terraform/modules/mattermost/411ca1d8b12b/mattermost.nomad.hcl": "46bd0350a805b989f5207b0884368f1d88cce917cc4366ffc22c1f2117a0d0cd",
          "terraform/modules/mattermost/411ca1d8b12b/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/411ca1d8b12b/recipe_outputs.tf": "d23f61f983bb6b869760f9caa141e4cdca57c55b8ffa6c1ae6d0fed285a714d5",
          "terraform/modules/mattermost/411ca1d8b12b/variables.tf": "189d8a1893903e5d96e4175fec4d08b629dcde8d8a5120b8059041078d332ce4"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "staging",
            "path": "nomad/jobs/mattermost",
            "items": [
              "database_password"
            ]
          }
        ],
        "service": "mattermost-staging"
      },
      "staging/mattermost-database": {
        "digest": "af27da4a28e10f9e71dcdad9aec0a0b32ae19d3066cd82b93faf0856f52abde9",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost-database/main.tf": "cad7149fdfd927b1fe4ab37e4cb67240749dd2d09c95c5a1b1abaf079c528962",
          "terraform/environments/staging/mattermost-database/outputs.tf": "78d0280a70441d6a068cc21ce0d1a99559a8cc8160403936ff42325903c00526",
          "terraform/environments/staging/mattermost-database/terraform.tfvars.json": "12520e811400600ab03ea565c19677596a476b319cd3a0d446c0618c0feb8f15",
          "terraform/environments/staging/mattermost-database/variables.tf": "04b6d92a150f9dd7d30e7cd4cccdb582aea240fbfe97bc4d190e80318015a9a3",
          "terraform/modules/mattermost-database/0ec00c4130d1/main.tf": "1ef34824b40c6d751bafc056245f978e8f3113e4d3637984c7dcd49c6822354a",
          "terraform/modules/mattermost-database/0ec00c4130d1/mattermost-database.nomad.hcl": "eb10e1859e7f989a43c0cb84c9b2accd282ede3bb89e5d94c43ff6a14a412eb3",
          "terraform/modules/mattermost-database/0ec00c4130d1/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/0ec00c4130d1/recipe_outputs.tf": "17a25ee41ab4a9c238f33333ee793761bb3a2897fefcf5454a69ddd94132f75c",
          "terraform/modules/mattermost-database/0ec00c4130d1/variables.tf": "a0c82dfaf2db424cd6ea2d03ca770f8b6160c1427913181a0b3fe73cdfcd1abf"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "staging",
            "path": "nomad/jobs/mattermost-database",
            "items": [
              "password"
            ]
          }
        ],
        "service": "mattermost-database-staging"
      },
      "staging/platform": {
        "digest": "829eb0b64a1e8962754514cc84201e89eaf908e6be14ebb4a3c247fa3afe4a43",
        "risk": "low",
        "token": "management",
        "files": {
          "terraform/environments/staging/platform/main.tf": "fadebbc1ffff8698aef98fd3879d463a1f6d5161000372d496693f91dfadf0dc",
          "terraform/environments/staging/platform/terraform.tfvars.json": "8b48ece72226c161dbea4c5fc893cf4844964dbffce631640a12533e9c8fffa1",
          "terraform/environments/staging/platform/variables.tf": "8febb2a0a0717314188826616bb1daeefdea47142998a9c2009e7e18a9d724cf",
          "terraform/modules/platform/d33dab82c6a1/main.tf": "633209d1852a200d671e5e977c22ef6e5e41c54159e56db7fd83146c04435b63",
          "terraform/modules/platform/d33dab82c6a1/outputs.tf": "47161ba1b19970fcda7bfdfe4180ce68335bd5820b192b224c3eca96c81b4b48",
          "terraform/modules/platform/d33dab82c6a1/variables.tf": "5706d7d66ee6db2df66c75b8f9a4f1ae81bfbedf80e97ade0773c6b247b8dece"
        },
        "hosts": [],
        "secrets": []
      }
    }
  }
}
