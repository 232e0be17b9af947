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
        "digest": "2b9de1e31465bf9a8cc97e54a9baa1f1cfdf00fd260115a279b7aedfe7a3e9db",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "a1ed5768b948ed847350a2065fb81cca31cd1bcab752588ea0ca38fbb157efc8",
          "terraform/environments/production/grafana/terraform.tfvars.json": "66c1da789ebed2985e53baae28a0c81c73724cce95303f36be2c0aa75526edb9",
          "terraform/environments/production/grafana/variables.tf": "5a342798ef4fe8dfa94b89f3930b1e8ff503089d026b6d32706e9717cdab48d5",
          "terraform/modules/grafana/fbac13a3947a/grafana.nomad.hcl": "ad1b11eaa829b3928d71dc1ac7d48fd6fb92b7ed055ed3aa7d5b6840a1ceedc4",
          "terraform/modules/grafana/fbac13a3947a/main.tf": "553928d3065974390fcad0ca77eab6b0d408c90d9167778ed6e760b25a145af7",
          "terraform/modules/grafana/fbac13a3947a/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/fbac13a3947a/variables.tf": "909c14e6505710b19fc4047a97e78218984cd6b21a8ffa6562efd7465beeea6d"
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
        "digest": "da8aa0e6715ce63db41ad29d05489a6ec5cb20817cdf6efffd58afad17712dbd",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/hecate-proxy/main.tf": "fab2b8993415aa79a1aa140a8fb8becb3eda95ebfc7a35ac67a4f4a9a6dfcf03",
          "terraform/environments/production/hecate-proxy/terraform.tfvars.json": "f29a7d66a2bf1b77d45a78b913480152ceb96adbab07437c47b20c806558edd7",
          "terraform/environments/production/hecate-proxy/variables.tf": "20e5feeb9d39cd5dadc80efdb79d677c39b658fdb40166f6034e2fe4ef23c668",
          "terraform/modules/hecate-proxy/411dbab97e78/hecate-proxy.nomad.hcl": "e3fc11a0323b0687fdf812ab2f4d347be15f30380fc3457a85b05ea22f169980",
          "terraform/modules/hecate-proxy/411dbab97e78/main.tf": "820dee38f0970f0e9cdc4349cda6a12609a6f3766190e2e932f752462467f50b",
          "terraform/modules/hecate-proxy/411dbab97e78/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hecate-proxy/411dbab97e78/variables.tf": "b743ac6290039d3e067f6f2d106ac2124d050b779446cacaaf9546d7c57bfea5"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      },
      "production/mattermost": {
        "digest": "75943ea96500d258e45ff60b5e940401215b3aa8d8e00dcbd09fb79da8fc0b2e",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost/main.tf": "af4591a5d07a9c1a3849a5b4ef48eaab5c896cd97915bcf3c49cc807300bf66e",
          "terraform/environments/production/mattermost/terraform.tfvars.json": "9b1462673e44203b181bcbccd6222f232b103e086dbbe442128fc3782dddb40e",
          "terraform/environments/production/mattermost/variables.tf": "907d4ea5ba6c27d8bcfc34bfb190ef665af993b767c6f4c68aaa52b91cd3a268",
          "terraform/modules/mattermost/c064fc32c77c/main.tf": "4052cbb3bb172387db450f7ba0a35e153f36c41573604e037d83eea9fb4001fa",
          "terraform/modules/mattermost/c064fc32c77c/mattermost.nomad.hcl": "91bcbe2bf463040f52fab7ccf24d71973724446439262a59ff0972bdbc46c178",
          "terraform/modules/mattermost/c064fc32c77c/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/c064fc32c77c/variables.tf": "25836f5553bf49163a7b0bd006f3aa9bb0ca33a24b31351ceb8b31830f1e0ed3"
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
        "digest": "55c6628441e47a0c0de32622df6800ca95793d6e474285fb81bf60c2f8e4c582",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost-database/main.tf": "496107ab91b5e3692c545eebd87e3dbc7604aba2bcfeb27ecd81a69b81774730",
          "terraform/environments/production/mattermost-database/terraform.tfvars.json": "33568357961bb54d9634ffb3d5336abbc18881343071e037150fa2b684b60cff",
          "terraform/environments/production/mattermost-database/variables.tf": "a844b90d471e260151470d3ad6ffda0a92f0276453865f1af6669e83c9453aee",
          "terraform/modules/mattermost-database/f60be02d4d10/main.tf": "29f7326111b14a1a09b017e67edb9e4b548508d79ae136b0837e2b90d5f8f4ec",
          "terraform/modules/mattermost-database/f60be02d4d10/mattermost-database.nomad.hcl": "d9d7bc8adac600d102a5218a888a10b68201e2c7996a020873b17beb9641bb79",
          "terraform/modules/mattermost-database/f60be02d4d10/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/f60be02d4d10/variables.tf": "348ea2c2c5afb6d6d856f47b974c3bd42f0c8e86ea6ef43ca08dad9ffc03bd76"
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
        "digest": "682d7328a24dec54e48cae1318cd7bc73d12037d56d4a64d4285413553ce1184",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost/main.tf": "af4591a5d07a9c1a3849a5b4ef48eaab5c896cd97915bcf3c49cc807300bf66e",
          "terraform/environments/staging/mattermost/terraform.tfvars.json": "b1a013a3c988cd6043ff206ac5d99998da0ab4ad61b56bd6aca54d8482d20fb0",
          "terraform/environments/staging/mattermost/variables.tf": "907d4ea5ba6c27d8bcfc34bfb190ef665af993b767c6f4c68aaa52b91cd3a268",
          "terraform/modules/mattermost/c064fc32c77c/main.tf": "4052cbb3bb172387db450f7ba0a35e153f36c41573604e037d83eea9fb4001fa",
          "terraform/modules/mattermost/c064fc32c77c/mattermost.nomad.hcl": "91bcbe2bf463040f52fab7ccf24d71973724446439262a59ff0972bdbc46c178",
          "terraform/modules/mattermost/c064fc32c77c/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/c064fc32c77c/variables.tf": "25836f5553bf49163a7b0bd006f3aa9bb0ca33a24b31351ceb8b31830f1e0ed3"
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
        "digest": "529f8260d78f827f50dc6e0a725347461006d0f3e242ca39c0392b79a75253d5",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost-database/main.tf": "496107ab91b5e3692c545eebd87e3dbc7604aba2bcfeb27ecd81a69b81774730",
          "terraform/environments/staging/mattermost-database/terraform.tfvars.json": "aebef2f226d217b0f71a75503eec2d193543f5f3235db22c762421db5fc61876",
          "terraform/environments/staging/mattermost-database/variables.tf": "a844b90d471e260151470d3ad6ffda0a92f0276453865f1af6669e83c9453aee",
          "terraform/modules/mattermost-database/f60be02d4d10/main.tf": "29f7326111b14a1a09b017e67edb9e4b548508d79ae136b0837e2b90d5f8f4ec",
          "terraform/modules/mattermost-database/f60be02d4d10/mattermost-database.nomad.hcl": "d9d7bc8adac600d102a5218a888a10b68201e2c7996a020873b17beb9641bb79",
          "terraform/modules/mattermost-database/f60be02d4d10/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/f60be02d4d10/variables.tf": "348ea2c2c5afb6d6d856f47b974c3bd42f0c8e86ea6ef43ca08dad9ffc03bd76"
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
