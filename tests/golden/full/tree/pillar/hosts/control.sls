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
        "digest": "3a501c89141287a72ce987eefd4e0f80badd547fceb01aeec5a5fb4540d5df72",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "0a40b560d8f045e806e2e8bc243bc0f90bc00d883ab70d8f79066762b69cdb89",
          "terraform/environments/production/grafana/outputs.tf": "f1b026d8ba4a3647a2f5660cb242fc83a46efa80f4ce3f0c4caac6f2849c2b77",
          "terraform/environments/production/grafana/terraform.tfvars.json": "0818161d0d8fa731d29fb906070deb5c71b17211d0abef09049a841601a35aaf",
          "terraform/environments/production/grafana/variables.tf": "ac7d61ee11b5240be9f7d574b33f55cea3a0fd74d9f7f0c07d4fc9dc6341f19f",
          "terraform/modules/grafana/bbaf8a8ff8ba/grafana.nomad.hcl": "4b4398ca160c76f9e4473e42651a90fcebaca62fdd1e82e7424a816d90f7115e",
          "terraform/modules/grafana/bbaf8a8ff8ba/main.tf": "5b194a0a43b14ce435ff42116ecc19e28ab18018e624597b1ebb6babd7da31d7",
          "terraform/modules/grafana/bbaf8a8ff8ba/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/bbaf8a8ff8ba/recipe_outputs.tf": "345a8671e1e1fd70b962848b53809c6bdb418269360b848c6233807f509b6558",
          "terraform/modules/grafana/bbaf8a8ff8ba/variables.tf": "576561eba728eb733d8e0955a5d36ce37853bc13ca193ea5aae15a0307f528e0"
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
        "digest": "d3429744dab3f8c09111125084c9e007affd4026df98e6289e4e2b8261f3c6e2",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/hecate-proxy/main.tf": "ccd8fa75e68ed2595abafbd9ccbc28dd43dbcc5f19d59e0342efe4b48579bff9",
          "terraform/environments/production/hecate-proxy/outputs.tf": "dac4d3eb1c744812dc08fc57fe872e563ea0d7b2fabad0e6010216c5c815661c",
          "terraform/environments/production/hecate-proxy/terraform.tfvars.json": "1f8194456c3eb662a7ec1d84365dc72d49c8c67b3c50c97cc07e54ad9be6a96d",
          "terraform/environments/production/hecate-proxy/variables.tf": "7cd8cda9d29638e079b6db6c434bba081f9e3e564b80e6af0d1050038774b5f8",
          "terraform/modules/hecate-proxy/379b5016778a/hecate-proxy.nomad.hcl": "44c6e5a2fa3f8b30735e5d3e6a3dfc6286e6153c431b29db7b7711db8feb2926",
          "terraform/modules/hecate-proxy/379b5016778a/main.tf": "0dee3ac10cdd31fb049f898e50d22d66211e11a5bd62d375ca846ac0eec87703",
          "terraform/modules/hecate-proxy/379b5016778a/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hecate-proxy/379b5016778a/recipe_outputs.tf": "9917de4ae7766509c85d00e9cdcb237ffd72377f5a7bfa40877976229fe3ebe4",
          "terraform/modules/hecate-proxy/379b5016778a/variables.tf": "6f43fd0191b0bfe64df6a5d9acedce016b7a8fac6a763db2f5f83a790396baf5"
        },
        "hosts": [
          "control"
        ],
        "secrets": [],
        "service": "hecate-proxy"
      },
      "production/mattermost": {
        "digest": "e66bb23eccb599c55bf16304635d79cc339021663368e9e6ffd949cb529d9c41",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost/main.tf": "5ba8fdee69a1fbfe80449596341301b3933af62d200f0e336a95f8bdfd997912",
          "terraform/environments/production/mattermost/outputs.tf": "d2e4d29b18362e287b8d27f8f882514ac3c9f03328636468dae517be149fec68",
          "terraform/environments/production/mattermost/terraform.tfvars.json": "8a6804c514d83c9b8fb7a0933f121512b955e34b94e0cfe0bd8137d605cc2b84",
          "terraform/environments/production/mattermost/variables.tf": "e47807afcf7e1e225c384459f64b51dfe4e5eea84650b18567efa0f3f4ceb139",
          "terraform/modules/mattermost/dd5f50e6861c/main.tf": "d4fc8a42eec1bf3ca8ac6ee06b336d809700fd803b16b7a3a02cf4468ff9731b",
          "terraform/modules/mattermost/dd5f50e6861c/mattermost.nomad.hcl": "43520b005c22952225a3a91cc5497d30358d57a31303d1e30f3308b045439698",
          "terraform/modules/mattermost/dd5f50e6861c/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/dd5f50e6861c/recipe_outputs.tf": "d85571f271fde7044ce3c2e36fc9d23e24b832eb8b0b74faede43a9f97402f4c",
          "terraform/modules/mattermost/dd5f50e6861c/variables.tf": "23efb5d8fbd8b5ee848529e2f68308872057b04fc69dcdea476e2c2a7b0c997d"
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
