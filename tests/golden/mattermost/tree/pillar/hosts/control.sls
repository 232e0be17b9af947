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
        "digest": "bf035894350a9ba560303ba47a72d91d4a873f58c774b49492f5390a23f33307",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "e0f8eaa0362a798f4fae6278cee2ea8ec8bed1a1cfe5adb62f103a48c6fc2cfd",
          "terraform/environments/production/grafana/terraform.tfvars.json": "b9557d375cd759149f7624e72ae2e1dd26903ab29123b8276cfabab029dc86a0",
          "terraform/environments/production/grafana/variables.tf": "5a342798ef4fe8dfa94b89f3930b1e8ff503089d026b6d32706e9717cdab48d5",
          "terraform/modules/grafana/2460e343f872/grafana.nomad.hcl": "b327f7fe62beba89759ae014de58e17127d89453d001081f72c4085633eab8d0",
          "terraform/modules/grafana/2460e343f872/main.tf": "553928d3065974390fcad0ca77eab6b0d408c90d9167778ed6e760b25a145af7",
          "terraform/modules/grafana/2460e343f872/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/2460e343f872/variables.tf": "909c14e6505710b19fc4047a97e78218984cd6b21a8ffa6562efd7465beeea6d"
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
        ]
      },
      "production/hecate-proxy": {
        "digest": "34cef7d5b998746f5d225c3aeb92529ef8ab4abbd864d9ff516b1eeb569cbcb3",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/hecate-proxy/main.tf": "d262adcb08dae9885d7334c3584d2a76b7c3aa5650b6a30e2d425344177b7f6d",
          "terraform/environments/production/hecate-proxy/terraform.tfvars.json": "bb4ac8daf52c43e8f341a6e93a40c144fb173fa3eb8e825b55d6e73161edd8dd",
          "terraform/environments/production/hecate-proxy/variables.tf": "20e5feeb9d39cd5dadc80efdb79d677c39b658fdb40166f6034e2fe4ef23c668",
          "terraform/modules/hecate-proxy/cc973997aada/hecate-proxy.nomad.hcl": "7e6c399e5a1e096a66bf022ac5c43ac16a22f57cf31fed73e2888e599aa4ae0a",
          "terraform/modules/hecate-proxy/cc973997aada/main.tf": "820dee38f0970f0e9cdc4349cda6a12609a6f3766190e2e932f752462467f50b",
          "terraform/modules/hecate-proxy/cc973997aada/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hecate-proxy/cc973997aada/variables.tf": "b743ac6290039d3e067f6f2d106ac2124d050b779446cacaaf9546d7c57bfea5"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      },
      "production/mattermost": {
        "digest": "7cf61235714b81e132edcf078b97856aace9c77da3276402d3c31b81cb25e84d",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost/main.tf": "8fefa1981dcfdffa3df0a245787fbe273910604b3c9c4d74475dcfae40cf3d44",
          "terraform/environments/production/mattermost/terraform.tfvars.json": "cce044e63e2693a04848c8e887d8f8c2dfe136be098a4b15950f6b833a3483d0",
          "terraform/environments/production/mattermost/variables.tf": "907d4ea5ba6c27d8bcfc34bfb190ef665af993b767c6f4c68aaa52b91cd3a268",
          "terraform/modules/mattermost/90aa4a7db6c4/main.tf": "4052cbb3bb172387db450f7ba0a35e153f36c41573604e037d83eea9fb4001fa",
          "terraform/modules/mattermost/90aa4a7db6c4/mattermost.nomad.hcl": "c618167429606f79beeaf259996c963806dc1b273a33b3808bf182e996d17aca",
          "terraform/modules/mattermost/90aa4a7db6c4/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/90aa4a7db6c4/variables.tf": "25836f5553bf49163a7b0bd006f3aa9bb0ca33a24b31351ceb8b31830f1e0ed3"
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
        ]
      },
      "production/mattermost-database": {
        "digest": "b333177befcbb6abe6beb7f02d6d2ca8e3ec74d251211087395a1e40fe77a2cb",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost-database/main.tf": "397624242ce4606693d28cc6b389b14f9938ec020158707344f43d15007e7de1",
          "terraform/environments/production/mattermost-database/terraform.tfvars.json": "e2206faef9893daca5cadba88609176f6bd1e2a5b5b9e4853020730a01f1a1d7",
          "terraform/environments/production/mattermost-database/variables.tf": "a844b90d471e260151470d3ad6ffda0a92f0276453865f1af6669e83c9453aee",
          "terraform/modules/mattermost-database/7f8dc8372c55/main.tf": "29f7326111b14a1a09b017e67edb9e4b548508d79ae136b0837e2b90d5f8f4ec",
          "terraform/modules/mattermost-database/7f8dc8372c55/mattermost-database.nomad.hcl": "3e151f9ca58ebd552e83e451a92671f3874b4fea3b3c24bc43192f64768a8d1d",
          "terraform/modules/mattermost-database/7f8dc8372c55/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/7f8dc8372c55/variables.tf": "348ea2c2c5afb6d6d856f47b974c3bd42f0c8e86ea6ef43ca08dad9ffc03bd76"
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
        ]
      },
      "production/platform": {
        "digest": "979cd0b5839e33386add654a9eac64a64302808cb8e58792c691af37fac367b2",
        "risk": "low",
        "token": "management",
        "files": {
          "terraform/environments/production/platform/main.tf": "89fae863ace655cdacab5501715a1520428308fce5521bccc62937de6eb1b3c5",
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
        "digest": "5404caadde8276598449c5cfc8349eb937d7ed6fb7a34b40bbca01c1c7b9c757",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost/main.tf": "8fefa1981dcfdffa3df0a245787fbe273910604b3c9c4d74475dcfae40cf3d44",
          "terraform/environments/staging/mattermost/terraform.tfvars.json": "a7aa60064732140933dda50f608cda3b800bd2d2a0272090118deee53bc32747",
          "terraform/environments/staging/mattermost/variables.tf": "907d4ea5ba6c27d8bcfc34bfb190ef665af993b767c6f4c68aaa52b91cd3a268",
          "terraform/modules/mattermost/90aa4a7db6c4/main.tf": "4052cbb3bb172387db450f7ba0a35e153f36c41573604e037d83eea9fb4001fa",
          "terraform/modules/mattermost/90aa4a7db6c4/mattermost.nomad.hcl": "c618167429606f79beeaf259996c963806dc1b273a33b3808bf182e996d17aca",
          "terraform/modules/mattermost/90aa4a7db6c4/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/90aa4a7db6c4/variables.tf": "25836f5553bf49163a7b0bd006f3aa9bb0ca33a24b31351ceb8b31830f1e0ed3"
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
        ]
      },
      "staging/mattermost-database": {
        "digest": "696f4f78664a1284e6091f7032d163b76221c6cb55c52caae9cb78baf63bbbdc",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost-database/main.tf": "397624242ce4606693d28cc6b389b14f9938ec020158707344f43d15007e7de1",
          "terraform/environments/staging/mattermost-database/terraform.tfvars.json": "48c1924f0102b520da5085e7f936b74d8563dd6216871ad0034644d2d89cb3d5",
          "terraform/environments/staging/mattermost-database/variables.tf": "a844b90d471e260151470d3ad6ffda0a92f0276453865f1af6669e83c9453aee",
          "terraform/modules/mattermost-database/7f8dc8372c55/main.tf": "29f7326111b14a1a09b017e67edb9e4b548508d79ae136b0837e2b90d5f8f4ec",
          "terraform/modules/mattermost-database/7f8dc8372c55/mattermost-database.nomad.hcl": "3e151f9ca58ebd552e83e451a92671f3874b4fea3b3c24bc43192f64768a8d1d",
          "terraform/modules/mattermost-database/7f8dc8372c55/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/7f8dc8372c55/variables.tf": "348ea2c2c5afb6d6d856f47b974c3bd42f0c8e86ea6ef43ca08dad9ffc03bd76"
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
        ]
      },
      "staging/platform": {
        "digest": "287a720a88cdadfa7b7072b322664b8268d078a507e75bd9535e5c38862cbc05",
        "risk": "low",
        "token": "management",
        "files": {
          "terraform/environments/staging/platform/main.tf": "89fae863ace655cdacab5501715a1520428308fce5521bccc62937de6eb1b3c5",
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
