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
        "digest": "54ca778fe32490377a11201e894e1f4526db137ab35262f82803842d5280964b",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "c76bba0d1fe35de86c5f75853beac87245a041ac96eaf10400d2b69cbab2f8be",
          "terraform/environments/production/grafana/terraform.tfvars.json": "3e3be3993d11b250b0f4a7efbd747706c826a30c2abd85f38f51217794ec2176",
          "terraform/environments/production/grafana/variables.tf": "f4391c6ff1586673e5cee5739d9e798bcac7e186beb9a6618a4fb3a7ed63b8bc",
          "terraform/modules/grafana/ce9a0ac8888c/grafana.nomad.hcl": "f324aab8d51042a4983aa23694b2bfc44f048dc91b7ad3f17909cd93cd0907cc",
          "terraform/modules/grafana/ce9a0ac8888c/main.tf": "4886f74b490b13dcd860476ff0c38b410e1d91f2e1e7c1544d9be7b7be1d7617",
          "terraform/modules/grafana/ce9a0ac8888c/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/ce9a0ac8888c/variables.tf": "84ad7e154d78952d2e4a4c3570c7e56fc9581b6a516bae290e2d821f0981ce42"
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
        "digest": "c224ad636106d03267126acce9c6d96a732f9a9ff152e2232766b5e39c87dc37",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost/main.tf": "f7eae18b48098edbb42233d8d5aa11a0f4eb6a78c5c88e5199a2822b45da38ff",
          "terraform/environments/production/mattermost/terraform.tfvars.json": "9db3ca634f73c598f9a690aadd4468d797aa8e7a4da07127257ce78fb4821ac3",
          "terraform/environments/production/mattermost/variables.tf": "4a0e0cfa65b9ef34f881702217a241811ae372029dc1133e617ccf4d038ba795",
          "terraform/modules/mattermost/7dcca6413e9e/main.tf": "c5be3ccc949531fabe6a9011583e0a2faf9f7d305f157bc95e3644624f1c385c",
          "terraform/modules/mattermost/7dcca6413e9e/mattermost.nomad.hcl": "5f16519b67a76e7f0b76222591b89c01d9ae9d9d830616dd841a473434ad94ad",
          "terraform/modules/mattermost/7dcca6413e9e/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/7dcca6413e9e/variables.tf": "05913ebaf956c2b5269fb40f01d4b8e9e9868d8392ec38f22b8f7002358804f1"
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
        "digest": "a82de22e98423f483c76e20008f4a43c2e8f9afe0cfde286cffb4a88c57b3a06",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost-database/main.tf": "6b2b811e18187ea75151697be9938d549daab030202de720491192f4a7204ccc",
          "terraform/environments/production/mattermost-database/terraform.tfvars.json": "6fa69f0d9ffa538682e8c0960b16b0f6ddad9c2530f29bd27a3568cc3987145f",
          "terraform/environments/production/mattermost-database/variables.tf": "b63a2dd979a3d09bcf5e0917510fe73bc87b163bc510170c74ea3b68290ce3b7",
          "terraform/modules/mattermost-database/c3967e46effc/main.tf": "f7b6092b0cf4c83565d1a01692a1866fa1f94ab370c5c2a2ee2f7b4a38c56828",
          "terraform/modules/mattermost-database/c3967e46effc/mattermost-database.nomad.hcl": "34e9e666b8b69f0177948b24577bb5d576fdf4490d16fe1d95213f06234c8714",
          "terraform/modules/mattermost-database/c3967e46effc/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/c3967e46effc/variables.tf": "e1c519447f1ea797a12ea9534b934217d1befe807f595346433f8b95ba3e00a0"
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
        "digest": "5496288bcf555ff90b0267ed0986c378bd8dd1afd1b10d74508fe8f90b432cb8",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost/main.tf": "f7eae18b48098edbb42233d8d5aa11a0f4eb6a78c5c88e5199a2822b45da38ff",
          "terraform/environments/staging/mattermost/terraform.tfvars.json": "457eefed096add7d68ffb0b90e754c688f31809ec8b6fffe5b698020a46320f1",
          "terraform/environments/staging/mattermost/variables.tf": "4a0e0cfa65b9ef34f881702217a241811ae372029dc1133e617ccf4d038ba795",
          "terraform/modules/mattermost/7dcca6413e9e/main.tf": "c5be3ccc949531fabe6a9011583e0a2faf9f7d305f157bc95e3644624f1c385c",
          "terraform/modules/mattermost/7dcca6413e9e/mattermost.nomad.hcl": "5f16519b67a76e7f0b76222591b89c01d9ae9d9d830616dd841a473434ad94ad",
          "terraform/modules/mattermost/7dcca6413e9e/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/7dcca6413e9e/variables.tf": "05913ebaf956c2b5269fb40f01d4b8e9e9868d8392ec38f22b8f7002358804f1"
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
        "digest": "078367e13ba952a51f874c86b865e78e097a03e65246c187fd8dbd9ea4d6ae47",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost-database/main.tf": "6b2b811e18187ea75151697be9938d549daab030202de720491192f4a7204ccc",
          "terraform/environments/staging/mattermost-database/terraform.tfvars.json": "8b28de215b1a7da592e67c6b5f61cfacb48c7abbdad4d36aeef48c4fc736d6ca",
          "terraform/environments/staging/mattermost-database/variables.tf": "b63a2dd979a3d09bcf5e0917510fe73bc87b163bc510170c74ea3b68290ce3b7",
          "terraform/modules/mattermost-database/c3967e46effc/main.tf": "f7b6092b0cf4c83565d1a01692a1866fa1f94ab370c5c2a2ee2f7b4a38c56828",
          "terraform/modules/mattermost-database/c3967e46effc/mattermost-database.nomad.hcl": "34e9e666b8b69f0177948b24577bb5d576fdf4490d16fe1d95213f06234c8714",
          "terraform/modules/mattermost-database/c3967e46effc/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/c3967e46effc/variables.tf": "e1c519447f1ea797a12ea9534b934217d1befe807f595346433f8b95ba3e00a0"
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
