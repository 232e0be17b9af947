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
        "digest": "cafc0fe3d24189f51f2f5c690a3de01ff2474f6ef511d39894043132e4b3f817",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "f5c4e5ef0cb0a765d44d6c6d9b0f5883a7c9b9beb9005e75efea0ab7fd1ed660",
          "terraform/environments/production/grafana/outputs.tf": "f7e5950325a80aeb9bce09ee9bba942b3411c5213dea170976a97b27b7f1f366",
          "terraform/environments/production/grafana/terraform.tfvars.json": "4d04a28b02c504a7262777fb8f7b85a521eaf361821e6d75238f3cfe82d82780",
          "terraform/environments/production/grafana/variables.tf": "50336f60e929cf33cea876b5ce6e56018873c767cebb76b1ceff78eb41e72aff",
          "terraform/modules/grafana/259c013bc8f1/grafana.nomad.hcl": "0c17de8039400692f83ffc886b0ab0865b12ff35d2065ad4664b5aa136ff9b08",
          "terraform/modules/grafana/259c013bc8f1/main.tf": "0709cee53adf8b89e9e9c04bd8610b8760b80c26070e23ce5a257de3cd3737b9",
          "terraform/modules/grafana/259c013bc8f1/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/259c013bc8f1/recipe_outputs.tf": "f3f6bf147b9731eaab7f682a523da73be5f4a4c652d7871fb0d1c3e8c3f93105",
          "terraform/modules/grafana/259c013bc8f1/variables.tf": "e22d78e118814b27cda9e15099b106b5f56f5c9d5e25e11737f840c8d650d314"
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
        ],
        "service": "grafana"
      },
      "production/hecate-proxy": {
        "digest": "009f67ad7e03a27991804dbeb6e62cc8186268b3cf9bbc4250de1201d9e082d2",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/hecate-proxy/main.tf": "1a8e89bdb2bdb82b8be508d09f228bb07eeccdfe4587f5a8e59625d7e3383003",
          "terraform/environments/production/hecate-proxy/outputs.tf": "dac4d3eb1c744812dc08fc57fe872e563ea0d7b2fabad0e6010216c5c815661c",
          "terraform/environments/production/hecate-proxy/terraform.tfvars.json": "64b5930146af762071c656ac5d29ac77d8a55d3bf3020440befdf2474643859e",
          "terraform/environments/production/hecate-proxy/variables.tf": "9a4044ef49cc2610fc5f239756e851612510b5c10d12146c2eb7b01dc8c7b7a2",
          "terraform/modules/hecate-proxy/0e3fe83c5ca3/hecate-proxy.nomad.hcl": "573c5202d809f6b31183eeca31a4c1046a5e82404624317ce90cd85ab1ad2791",
          "terraform/modules/hecate-proxy/0e3fe83c5ca3/main.tf": "1f37784de5928f9d7660029d11a4f359fa5df3bc9ae39d93536930fc6795aeae",
          "terraform/modules/hecate-proxy/0e3fe83c5ca3/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hecate-proxy/0e3fe83c5ca3/recipe_outputs.tf": "9917de4ae7766509c85d00e9cdcb237ffd72377f5a7bfa40877976229fe3ebe4",
          "terraform/modules/hecate-proxy/0e3fe83c5ca3/variables.tf": "809ff725a5d89fe26aa9d1e3bec80cd9e62de1b6d92719a1e8cd8e3d24309b09"
        },
        "hosts": [
          "control"
        ],
        "secrets": [],
        "service": "hecate-proxy"
      },
      "production/mattermost": {
        "digest": "36864a26d9c1694acb8f65a8da4f07b8d1353e4c52e25238e68cbb417fbb5824",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost/main.tf": "b88670eaf1861ded8119f13392b3cbde62f8a55a468c18d34882fa346b0548e5",
          "terraform/environments/production/mattermost/outputs.tf": "f8a5a3b5f4a6f93373fa3be862bfa2c3bdd7ed4259eb3f70807af3f7965a7313",
          "terraform/environments/production/mattermost/terraform.tfvars.json": "374ade0a878c35c42c1de19b199d71fe4bacb0333b8847cb39275cc5a315b9aa",
          "terraform/environments/production/mattermost/variables.tf": "0c9a16565e02a998679cbeb2a6cae51b13bf4adda4ef8d0fc08bcc698e1c89f7",
          "terraform/modules/mattermost/37ff8c74fda9/main.tf": "15d1a08644df6c1dbd52fb764feb539b286b4f6bf600182ea24e61a86cd10b14",
          "terraform/modules/mattermost/37ff8c74fda9/mattermost.nomad.hcl": "d56c38587e8f62213f133879d7e511885373b9ac669e7de988b66edd4cdd5897",
          "terraform/modules/mattermost/37ff8c74fda9/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/37ff8c74fda9/recipe_outputs.tf": "70a1f14267ed6ee25c49a23561599d54b689cddefb45fa0b34f78748f6eeec39",
          "terraform/modules/mattermost/37ff8c74fda9/variables.tf": "36c3cdda6d0cf60344b66f01a2243c5aaf5e562dda952f78c3b25c5794f8558a"
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
        ],
        "service": "mattermost"
      },
      "production/mattermost-database": {
        "digest": "245a8de7e268462745da0b777aa9348796e80411b32d83d46f8dee03f725a1cc",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost-database/main.tf": "a5b2f9a8342bd9ab3a6b6d74ad0b16eec205365bf3b4393ad84c13405e5614a5",
          "terraform/environments/production/mattermost-database/outputs.tf": "7d93da129655afe6e1da32a8ae413cdae377c8477237c37e3bfdd627b27f342c",
          "terraform/environments/production/mattermost-database/terraform.tfvars.json": "883bb41d2ea04f4e7318b60f9f3f98be33bfb0dd5515a142c828d1f1b4b37a24",
          "terraform/environments/production/mattermost-database/variables.tf": "a32b2e9e67d42f54a2fb01bb3fa1aa605d3d9ffa237ae2e6c783633bc02ab0c9",
          "terraform/modules/mattermost-database/7c3029dad9f1/main.tf": "e674bd0f8db9b71f8caa58c9844ff8cf08fa874da9d1bebd78db1f0e309b563c",
          "terraform/modules/mattermost-database/7c3029dad9f1/mattermost-database.nomad.hcl": "a59a25c7f9654067d925dbb5d68249533d6021e7092e850fc86c0e6d57396e13",
          "terraform/modules/mattermost-database/7c3029dad9f1/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/7c3029dad9f1/recipe_outputs.tf": "af5addbef97faf2b2bafc353f5211f1ff959070d66f180c93a093f6c06c89ce0",
          "terraform/modules/mattermost-database/7c3029dad9f1/variables.tf": "f7e1170b9af921a12a7834ac54bba7793a9b3b3a7b3a0e821e6d238c7a6c4d2f"
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
        ],
        "service": "mattermost-database"
      },
      "production/platform": {
        "digest": "5022f272dfb6b301450bc95a753345a47a061451a1cf0f1a994398c1ca09cc0e",
        "risk": "low",
        "token": "management",
        "files": {
          "terraform/environments/production/platform/main.tf": "5680ef5c3fd815f56c0a69e95584a670bf6efd5d82c979588c92e2ebb0afe7b9",
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
        "digest": "93d041821a5f970142fa8e68d8a788ed3b62607c261e8f17fe44f306ceb76cea",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost/main.tf": "0bca16bd4f74b9fc3d7fc84ca54839c27c79689c6ce661c15fc49caabac3a397",
          "terraform/environments/staging/mattermost/outputs.tf": "f8a5a3b5f4a6f93373fa3be862bfa2c3bdd7ed4259eb3f70807af3f7965a7313",
          "terraform/environments/staging/mattermost/terraform.tfvars.json": "a2af2a3e9c866d9af72081521fdbac3bb736b9e32e7329c2ca7831db30a0a940",
          "terraform/environments/staging/mattermost/variables.tf": "41a4ca2090fa60f1d6150f793fca112e1e02111121e31faa381b53b9c0012758",
          "terraform/modules/mattermost/176905e34b65/main.tf": "f0ec82cf4948c2bf381077fe5a3498b7343da007466026f6eb23df2d1000975b",
          "terraform/modules/mattermost/176905e34b65/mattermost.nomad.hcl": "d56c38587e8f62213f133879d7e511885373b9ac669e7de988b66edd4cdd5897",
          "terraform/modules/mattermost/176905e34b65/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/176905e34b65/recipe_outputs.tf": "70a1f14267ed6ee25c49a23561599d54b689cddefb45fa0b34f78748f6eeec39",
          "terraform/modules/mattermost/176905e34b65/variables.tf": "b600c2d3fffee0b32e16eff0fcafb1a92ecfc27e38fee6ecdb20dc6c404d2324"
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
        ],
        "service": "mattermost-staging"
      },
      "staging/mattermost-database": {
        "digest": "b11fe2575561851376cbe6823f209f5e84de2e8cbeb1d311e6167d3e66ea79d9",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost-database/main.tf": "a5b2f9a8342bd9ab3a6b6d74ad0b16eec205365bf3b4393ad84c13405e5614a5",
          "terraform/environments/staging/mattermost-database/outputs.tf": "7d93da129655afe6e1da32a8ae413cdae377c8477237c37e3bfdd627b27f342c",
          "terraform/environments/staging/mattermost-database/terraform.tfvars.json": "276f29f0bb9ad5eb02165ebbf8bf191f7e71cf6a527abd8b2a36ca676ca95cc5",
          "terraform/environments/staging/mattermost-database/variables.tf": "a32b2e9e67d42f54a2fb01bb3fa1aa605d3d9ffa237ae2e6c783633bc02ab0c9",
          "terraform/modules/mattermost-database/7c3029dad9f1/main.tf": "e674bd0f8db9b71f8caa58c9844ff8cf08fa874da9d1bebd78db1f0e309b563c",
          "terraform/modules/mattermost-database/7c3029dad9f1/mattermost-database.nomad.hcl": "a59a25c7f9654067d925dbb5d68249533d6021e7092e850fc86c0e6d57396e13",
          "terraform/modules/mattermost-database/7c3029dad9f1/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/7c3029dad9f1/recipe_outputs.tf": "af5addbef97faf2b2bafc353f5211f1ff959070d66f180c93a093f6c06c89ce0",
          "terraform/modules/mattermost-database/7c3029dad9f1/variables.tf": "f7e1170b9af921a12a7834ac54bba7793a9b3b3a7b3a0e821e6d238c7a6c4d2f"
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
        ],
        "service": "mattermost-database-staging"
      },
      "staging/platform": {
        "digest": "dd20a8fed7e104e17959a04565d614b7e43742f8c9977ed295a3ddc5d85b46bc",
        "risk": "low",
        "token": "management",
        "files": {
          "terraform/environments/staging/platform/main.tf": "5680ef5c3fd815f56c0a69e95584a670bf6efd5d82c979588c92e2ebb0afe7b9",
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
