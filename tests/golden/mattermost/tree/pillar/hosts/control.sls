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
        "digest": "8601efeb17f0c83a11eb57308db7e84a38440d5331a9188a4d31507b57c04818",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "69ad5295181bcffb10a9470d5841d5810e78b563546f9fca24ea094c06a16947",
          "terraform/environments/production/grafana/outputs.tf": "4c9b1b7a706c080b4767f83fc8e4332346205690e927a66de80137755168cbf7",
          "terraform/environments/production/grafana/terraform.tfvars.json": "da703375f5f4d3d207372f45484035d1ab1e883c21f689935fa52fd1a4a50d22",
          "terraform/environments/production/grafana/variables.tf": "2deb8b7e21ac8daed215cd3e3e20be969747b1e7acc18fa1a2a08de7625eb2f4",
          "terraform/modules/grafana/0e3371b3cebb/grafana.nomad.hcl": "d4648df87af7a638427375496ef559f5f6afbc31a525b4f4ad67a7017b0ce060",
          "terraform/modules/grafana/0e3371b3cebb/main.tf": "c5028009efe156dbc37be92440d52cff89454457a55f2d39d2acfe2de11e5134",
          "terraform/modules/grafana/0e3371b3cebb/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/0e3371b3cebb/recipe_outputs.tf": "b33c46a6a9fa26ed86a008c45225754d99c99b024989b44828a234074f689c7e",
          "terraform/modules/grafana/0e3371b3cebb/variables.tf": "ce0d9571e0db1a5741a1a6b5221a9dacd92a433b833c868e0c027641a0792c64"
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
        "digest": "68acdad483ff5ca8a0ba726c170540696deb45120f3c90b15bb1af34599c570f",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/hecate-proxy/main.tf": "001b527186766fa07a75c3cc5c8301fb873b50bbadf7a246429d171875baa503",
          "terraform/environments/production/hecate-proxy/outputs.tf": "b140a687ffc3b1b73d1a9f14220aaf4804f1853258f1f338d399efda4e6a56b2",
          "terraform/environments/production/hecate-proxy/terraform.tfvars.json": "f50cf751720ad11e827a7d880a28b9d65419d23747b7b55ccad02acb427ac36e",
          "terraform/environments/production/hecate-proxy/variables.tf": "a38c53f999281ffc05bb41aee8516cade74697437afcae4aefb282070f0e3ebc",
          "terraform/modules/hecate-proxy/f492759d78cd/hecate-proxy.nomad.hcl": "a50fdce53a0f6e222feb0e66a78eb6d6e2f454fae894f57953bc6aea929b442e",
          "terraform/modules/hecate-proxy/f492759d78cd/main.tf": "904f3a52a0d3db1cd0520da14b6b4853e42fd7eda26f6ead792970495d1341d5",
          "terraform/modules/hecate-proxy/f492759d78cd/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hecate-proxy/f492759d78cd/recipe_outputs.tf": "10c11057d42e37d235e7fa6c378d6f8b1f29401be59485bd8bae1cb3e7bfbd65",
          "terraform/modules/hecate-proxy/f492759d78cd/variables.tf": "65504d6e3fc907e5227f52cb615b98344cc656aaef479dd51d1399125ca55621"
        },
        "hosts": [
          "control"
        ],
        "secrets": [],
        "service": "hecate-proxy"
      },
      "production/mattermost": {
        "digest": "7904bbd58b3ea665c15d238fa3b66b7b0db99424b030a8f29cee8f3747e9aeb0",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost/main.tf": "82917cf5ec6c9f56dbb797e5a5abc8ae73fcd09571671f28d6014c4aa9401f37",
          "terraform/environments/production/mattermost/outputs.tf": "a034fa924e8245d6b77dcc9bfec79f56bafda2eb43c4e828a7f5f0a20142094e",
          "terraform/environments/production/mattermost/terraform.tfvars.json": "30e2b674af339d24052b9687c9af2ad770f0bd0c5c5c7410e5a3d5591e55ed62",
          "terraform/environments/production/mattermost/variables.tf": "9599bc1f93cebcbca20acfa585b1661e37e98aae4859253bae86b67c874c4142",
          "terraform/modules/mattermost/6085742ad5cb/main.tf": "05629237d9033514c583f38b40da6d309037630f0c1d373dd5ed241f7afa90d1",
          "terraform/modules/mattermost/6085742ad5cb/mattermost.nomad.hcl": "46bd0350a805b989f5207b0884368f1d88cce917cc4366ffc22c1f2117a0d0cd",
          "terraform/modules/mattermost/6085742ad5cb/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/6085742ad5cb/recipe_outputs.tf": "f7df40d30c40c234cb77571c2c992061c80cba2a0a84992f72217607a8bd7290",
          "terraform/modules/mattermost/6085742ad5cb/variables.tf": "189d8a1893903e5d96e4175fec4d08b629dcde8d8a5120b8059041078d332ce4"
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
