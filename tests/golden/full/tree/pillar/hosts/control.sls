#!json
{
  "eos": {
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
        "digest": "775cc534aba6aa9737090f8098de31eaeec2e9a1344c83cf2528d1cd342f7704",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "50460829e68979b65d4fbea5f5d95b8c82fd1baf49ef62c9f17af498c30b0d6d",
          "terraform/environments/production/grafana/terraform.tfvars.json": "73203f779ceab15727b3eb11aaf4fef4a6972654b32b4475e22e30f6ad674416",
          "terraform/environments/production/grafana/variables.tf": "754aba413492a0f54dd06a9994c519cd6611b7864ce223c522f8f4036247f6b2",
          "terraform/modules/grafana/e4db5b919ae5/grafana.nomad.hcl": "0c17de8039400692f83ffc886b0ab0865b12ff35d2065ad4664b5aa136ff9b08",
          "terraform/modules/grafana/e4db5b919ae5/main.tf": "0709cee53adf8b89e9e9c04bd8610b8760b80c26070e23ce5a257de3cd3737b9",
          "terraform/modules/grafana/e4db5b919ae5/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/e4db5b919ae5/variables.tf": "e22d78e118814b27cda9e15099b106b5f56f5c9d5e25e11737f840c8d650d314"
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
        "digest": "48a554ef3f381cd728e160fb6955b7b1ee4f94350962b963d2752dad4cd88001",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/hecate-proxy/main.tf": "23d7c06561c892910d61c652c6d5deb69881045c968a1c512723a2f7036ad727",
          "terraform/environments/production/hecate-proxy/terraform.tfvars.json": "69e8999751a0b326b3120f861c3db1d648a47a387dc0a3e9737db9c3444c5b20",
          "terraform/environments/production/hecate-proxy/variables.tf": "f244b9175ac312129d85ee8f37be7cf4759e12a0e9cd44ce4e16cf9532071ae2",
          "terraform/modules/hecate-proxy/229685c66aa0/hecate-proxy.nomad.hcl": "573c5202d809f6b31183eeca31a4c1046a5e82404624317ce90cd85ab1ad2791",
          "terraform/modules/hecate-proxy/229685c66aa0/main.tf": "1f37784de5928f9d7660029d11a4f359fa5df3bc9ae39d93536930fc6795aeae",
          "terraform/modules/hecate-proxy/229685c66aa0/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hecate-proxy/229685c66aa0/variables.tf": "809ff725a5d89fe26aa9d1e3bec80cd9e62de1b6d92719a1e8cd8e3d24309b09"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      },
      "production/mattermost": {
        "digest": "9366be3ce91ebe0626f466eed4b2dda76de0ec413eca1bd8e405f9ad6a23f622",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost/main.tf": "6d4e065cc8670b092a174954bcb5011a3044972458ccdbd992d4c2da4c107fd5",
          "terraform/environments/production/mattermost/terraform.tfvars.json": "57483986cc0d3c6a55a70010466f944626c3712338f22f85807ef05df52dae2d",
          "terraform/environments/production/mattermost/variables.tf": "1ce2d335ee58412c3e6909e0b2653d15943e9bd1824142133176c45df30092dd",
          "terraform/modules/mattermost/bbed9d9bc5dd/main.tf": "15d1a08644df6c1dbd52fb764feb539b286b4f6bf600182ea24e61a86cd10b14",
          "terraform/modules/mattermost/bbed9d9bc5dd/mattermost.nomad.hcl": "d56c38587e8f62213f133879d7e511885373b9ac669e7de988b66edd4cdd5897",
          "terraform/modules/mattermost/bbed9d9bc5dd/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/bbed9d9bc5dd/variables.tf": "36c3cdda6d0cf60344b66f01a2243c5aaf5e562dda952f78c3b25c5794f8558a"
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
        "digest": "0f0104d29e470efeab5218b65fb0b080bb6ac8e0c9edbd4b74dca8f06e514232",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost-database/main.tf": "8a4cf4dc2720af5c7a2927b18034bea0714b19754d47f9fe2c108e3c50814f8d",
          "terraform/environments/production/mattermost-database/terraform.tfvars.json": "1ea60f19cc75589ca5401366124772fa4be6f13493483261c3616fa870f76485",
          "terraform/environments/production/mattermost-database/variables.tf": "eb5f9a2b3f71bca56c6e16f763645ede7e7094c675ff046d11f8ba4ddcbf159b",
          "terraform/modules/mattermost-database/f14c973bf41f/main.tf": "e674bd0f8db9b71f8caa58c9844ff8cf08fa874da9d1bebd78db1f0e309b563c",
          "terraform/modules/mattermost-database/f14c973bf41f/mattermost-database.nomad.hcl": "a59a25c7f9654067d925dbb5d68249533d6021e7092e850fc86c0e6d57396e13",
          "terraform/modules/mattermost-database/f14c973bf41f/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/f14c973bf41f/variables.tf": "f7e1170b9af921a12a7834ac54bba7793a9b3b3a7b3a0e821e6d238c7a6c4d2f"
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
        "digest": "dd4038d69bd6337b38a9f7f6b65855edd5c89f50eab09ba6837553b6b11b66a8",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost/main.tf": "8ced1fc31856ca63e3d17e103764978079305881a0f12509d3f096270768a2a8",
          "terraform/environments/staging/mattermost/terraform.tfvars.json": "6fddc3018480f5f96ae2a6b3845e88ba45f0824a6b4fea0df53ea8447c5ae8d9",
          "terraform/environments/staging/mattermost/variables.tf": "85083059d24355c7b7f67f0f9c5e9366109c229a62186096ee7371e86e9372b9",
          "terraform/modules/mattermost/606ea9e6f698/main.tf": "f0ec82cf4948c2bf381077fe5a3498b7343da007466026f6eb23df2d1000975b",
          "terraform/modules/mattermost/606ea9e6f698/mattermost.nomad.hcl": "d56c38587e8f62213f133879d7e511885373b9ac669e7de988b66edd4cdd5897",
          "terraform/modules/mattermost/606ea9e6f698/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/606ea9e6f698/variables.tf": "b600c2d3fffee0b32e16eff0fcafb1a92ecfc27e38fee6ecdb20dc6c404d2324"
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
        "digest": "0becbcb6a69013c868c207c841c9ba5efb78f2342bf44b334f91f9011356cbfa",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost-database/main.tf": "8a4cf4dc2720af5c7a2927b18034bea0714b19754d47f9fe2c108e3c50814f8d",
          "terraform/environments/staging/mattermost-database/terraform.tfvars.json": "39a8ff030bcf3f030dde29567ecf610fa9297953fc6aee86dcb6bfcc19d8dd9d",
          "terraform/environments/staging/mattermost-database/variables.tf": "eb5f9a2b3f71bca56c6e16f763645ede7e7094c675ff046d11f8ba4ddcbf159b",
          "terraform/modules/mattermost-database/f14c973bf41f/main.tf": "e674bd0f8db9b71f8caa58c9844ff8cf08fa874da9d1bebd78db1f0e309b563c",
          "terraform/modules/mattermost-database/f14c973bf41f/mattermost-database.nomad.hcl": "a59a25c7f9654067d925dbb5d68249533d6021e7092e850fc86c0e6d57396e13",
          "terraform/modules/mattermost-database/f14c973bf41f/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/f14c973bf41f/variables.tf": "f7e1170b9af921a12a7834ac54bba7793a9b3b3a7b3a0e821e6d238c7a6c4d2f"
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
