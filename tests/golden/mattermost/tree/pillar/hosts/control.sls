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
        "digest": "603f158ab21938e84b118301cb09d54e4227015f844c628271f9e0fd30fe362b",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "8070b98971af16eecdf55a302de8b77da6b0829bf8c57befa1b464809b56ae08",
          "terraform/environments/production/grafana/terraform.tfvars.json": "8e421aeb5c8290f4a1615af0e876b688f503c53e573453157f02069b4384e901",
          "terraform/environments/production/grafana/variables.tf": "f9248cd7b8c289ce19984fd41739caa8ad82e6a5406b5edfca59e883076e7854",
          "terraform/modules/grafana/4551fa42ba23/grafana.nomad.hcl": "cd2a08135a487d89a213e28f6912793dfc338d0f0f74cdac8a05ef62b08bbe6c",
          "terraform/modules/grafana/4551fa42ba23/main.tf": "cc345290cd957ec79ed656e8c6312e8e6806ddc239d4c50d47ca17eae5501290",
          "terraform/modules/grafana/4551fa42ba23/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/4551fa42ba23/variables.tf": "607c17b47fa57e57d4e940dfcecfd0c42cd533e44d4aaec6d79a553e84b9abd1"
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
        "digest": "c341d6dcde0d7a6ae7db41d26835c9f8274c7f55017ef266b7f6f6cd41ea9659",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost/main.tf": "e378a666a2a5fc791b5f43801267f9b654bd6fef9a7744873920be475f704131",
          "terraform/environments/production/mattermost/terraform.tfvars.json": "f6aed4a54626442b2a18b8c830527e06613f3cd8e5243fd5ae6d0e996a2e0a34",
          "terraform/environments/production/mattermost/variables.tf": "7e154b6d2c3ea46932b3f7555a3aed6432c5f0abdf54bdea100f1b7974d0bc36",
          "terraform/modules/mattermost/0b4ec1ea22ba/main.tf": "f56ba4eadc146da8af411457a2db4a05246c3193b8785c5c66a2d8e30e38586f",
          "terraform/modules/mattermost/0b4ec1ea22ba/mattermost.nomad.hcl": "e8e9b0dfe428076e7f007c1b7d645b1732d38a6a8459d904a07bec33fc10f464",
          "terraform/modules/mattermost/0b4ec1ea22ba/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/0b4ec1ea22ba/variables.tf": "7aff642dc69dc8b41581d30a597d6a1c8544fefc7b9848d8f0f22798535d971b"
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
        "digest": "f4c29e36cacbdcea6a478201578c8392a8af29e1b739b5a836f903815b1b0350",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost-database/main.tf": "30b64308d8fca257fd9ddbf327ccb0d4b0af1b9ec0eb3f84f911ae6e8e273845",
          "terraform/environments/production/mattermost-database/terraform.tfvars.json": "c238df0bd3ed9df7106a60bb48699abcb34354c1a17687e2cf2973df6f74a153",
          "terraform/environments/production/mattermost-database/variables.tf": "cd55c8cd2f86faaf81ca41e748b0e205c6153da22383287f459aac1e1d8b9d5f",
          "terraform/modules/mattermost-database/94c9d55e33ef/main.tf": "ba3c8b95f90f81e6cc2492f4973eb025f002c63c8f4e47001771b605be70588e",
          "terraform/modules/mattermost-database/94c9d55e33ef/mattermost-database.nomad.hcl": "5a19c5f1f2ca7fc5b75f8e044079221585381ff369c05bd619180acd25d2bf84",
          "terraform/modules/mattermost-database/94c9d55e33ef/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/94c9d55e33ef/variables.tf": "d962bc7f286431a3dc13a519e6f02a75021c58cd505bbbec348d99b637b3b236"
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
        "digest": "702afdd18fd6a385a890070eee27ed03e77b19b2a7829108fd1629ac0eaacf44",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost/main.tf": "e378a666a2a5fc791b5f43801267f9b654bd6fef9a7744873920be475f704131",
          "terraform/environments/staging/mattermost/terraform.tfvars.json": "052722492c04bc1f8d42f1b17bb69a80e479d1b89d5b64668a2df201fad96540",
          "terraform/environments/staging/mattermost/variables.tf": "7e154b6d2c3ea46932b3f7555a3aed6432c5f0abdf54bdea100f1b7974d0bc36",
          "terraform/modules/mattermost/0b4ec1ea22ba/main.tf": "f56ba4eadc146da8af411457a2db4a05246c3193b8785c5c66a2d8e30e38586f",
          "terraform/modules/mattermost/0b4ec1ea22ba/mattermost.nomad.hcl": "e8e9b0dfe428076e7f007c1b7d645b1732d38a6a8459d904a07bec33fc10f464",
          "terraform/modules/mattermost/0b4ec1ea22ba/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/0b4ec1ea22ba/variables.tf": "7aff642dc69dc8b41581d30a597d6a1c8544fefc7b9848d8f0f22798535d971b"
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
        "digest": "c7d897bfb438315c0ccf6f79d18519627b06dd8f28555279d9144e4966ce29c4",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost-database/main.tf": "30b64308d8fca257fd9ddbf327ccb0d4b0af1b9ec0eb3f84f911ae6e8e273845",
          "terraform/environments/staging/mattermost-database/terraform.tfvars.json": "73838cc87c20b9c559e8dc6a2aadb385f0e1147a08f238a941043d748268d222",
          "terraform/environments/staging/mattermost-database/variables.tf": "cd55c8cd2f86faaf81ca41e748b0e205c6153da22383287f459aac1e1d8b9d5f",
          "terraform/modules/mattermost-database/94c9d55e33ef/main.tf": "ba3c8b95f90f81e6cc2492f4973eb025f002c63c8f4e47001771b605be70588e",
          "terraform/modules/mattermost-database/94c9d55e33ef/mattermost-database.nomad.hcl": "5a19c5f1f2ca7fc5b75f8e044079221585381ff369c05bd619180acd25d2bf84",
          "terraform/modules/mattermost-database/94c9d55e33ef/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/94c9d55e33ef/variables.tf": "d962bc7f286431a3dc13a519e6f02a75021c58cd505bbbec348d99b637b3b236"
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
