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
        "digest": "1b30cc44850383bdaaffe69c176b09fb691126e67d043dc3c98279c5a780b688",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "f2c15608ad599063a40144e6dd6ed5f7f79e0dce78d179e63aaee5fd973f18b4",
          "terraform/environments/production/grafana/terraform.tfvars.json": "839c28ac5e830702b0ed439c955bd9d1d4fdc2eeca609f4ca87c44eea81e51bb",
          "terraform/environments/production/grafana/variables.tf": "f4391c6ff1586673e5cee5739d9e798bcac7e186beb9a6618a4fb3a7ed63b8bc",
          "terraform/modules/grafana/caca28f7e6fe/grafana.nomad.hcl": "d02c11ef0a8b93237cfd08326c07883403797a71af6284c4f5cc33197dcedfc3",
          "terraform/modules/grafana/caca28f7e6fe/main.tf": "4886f74b490b13dcd860476ff0c38b410e1d91f2e1e7c1544d9be7b7be1d7617",
          "terraform/modules/grafana/caca28f7e6fe/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/caca28f7e6fe/variables.tf": "84ad7e154d78952d2e4a4c3570c7e56fc9581b6a516bae290e2d821f0981ce42"
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
        "digest": "7465828a4836cf2d5deaf3dfb855c2dd556946bdb64cfce8bdaf827b76ec2e34",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost/main.tf": "e7c556e12097c6eb1f7196e81901a0c1222692ecaffbdbd93c407d40379d8077",
          "terraform/environments/production/mattermost/terraform.tfvars.json": "52e13d50ddc34f3ced17224651cdaac55450ff19fd49890c782184123a176e52",
          "terraform/environments/production/mattermost/variables.tf": "4a0e0cfa65b9ef34f881702217a241811ae372029dc1133e617ccf4d038ba795",
          "terraform/modules/mattermost/0935ca90d5eb/main.tf": "c5be3ccc949531fabe6a9011583e0a2faf9f7d305f157bc95e3644624f1c385c",
          "terraform/modules/mattermost/0935ca90d5eb/mattermost.nomad.hcl": "bad7cf5953cac219072fc5bb4c80803009bd96f070e23e5288e907fe95b24517",
          "terraform/modules/mattermost/0935ca90d5eb/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/0935ca90d5eb/variables.tf": "05913ebaf956c2b5269fb40f01d4b8e9e9868d8392ec38f22b8f7002358804f1"
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
        "digest": "7fca93b207afc06494cb77d9f19b7c79a157f94847090a52b52940e83f1b3a2e",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost-database/main.tf": "a91502a1892e2e181c955d9d23edd45b1dcc1ceb0e6885c150ab6f49ece4a2ff",
          "terraform/environments/production/mattermost-database/terraform.tfvars.json": "3e55344e400cdb195fd0c8a5673ffd859f5c37671eb130a5f0276d9259772f69",
          "terraform/environments/production/mattermost-database/variables.tf": "b63a2dd979a3d09bcf5e0917510fe73bc87b163bc510170c74ea3b68290ce3b7",
          "terraform/modules/mattermost-database/2f99ab64c6cb/main.tf": "f7b6092b0cf4c83565d1a01692a1866fa1f94ab370c5c2a2ee2f7b4a38c56828",
          "terraform/modules/mattermost-database/2f99ab64c6cb/mattermost-database.nomad.hcl": "6b4db2a7b8a9affdfe1be07bf947379fde46c39679126c427b74a4956cfc7586",
          "terraform/modules/mattermost-database/2f99ab64c6cb/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/2f99ab64c6cb/variables.tf": "e1c519447f1ea797a12ea9534b934217d1befe807f595346433f8b95ba3e00a0"
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
        "digest": "b0b8d15571b8e2a4f0561dfbf8f48e969b22bfa604754a55b948d5da83449bdf",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost/main.tf": "e7c556e12097c6eb1f7196e81901a0c1222692ecaffbdbd93c407d40379d8077",
          "terraform/environments/staging/mattermost/terraform.tfvars.json": "2f58704b9e079fbb66ee3d327ee0803444c9fe5fe8ed2e44724525b9fab4ddce",
          "terraform/environments/staging/mattermost/variables.tf": "4a0e0cfa65b9ef34f881702217a241811ae372029dc1133e617ccf4d038ba795",
          "terraform/modules/mattermost/0935ca90d5eb/main.tf": "c5be3ccc949531fabe6a9011583e0a2faf9f7d305f157bc95e3644624f1c385c",
          "terraform/modules/mattermost/0935ca90d5eb/mattermost.nomad.hcl": "bad7cf5953cac219072fc5bb4c80803009bd96f070e23e5288e907fe95b24517",
          "terraform/modules/mattermost/0935ca90d5eb/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/0935ca90d5eb/variables.tf": "05913ebaf956c2b5269fb40f01d4b8e9e9868d8392ec38f22b8f7002358804f1"
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
        "digest": "de2a4c9e8ea84bc1a00be8e1ff8acf24a84c7ef658c793649c5e79c8be5d488e",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost-database/main.tf": "a91502a1892e2e181c955d9d23edd45b1dcc1ceb0e6885c150ab6f49ece4a2ff",
          "terraform/environments/staging/mattermost-database/terraform.tfvars.json": "e007731b1d5615b4d35aac715d09b3556ae86b979cb5cfabf95afc70a1673f34",
          "terraform/environments/staging/mattermost-database/variables.tf": "b63a2dd979a3d09bcf5e0917510fe73bc87b163bc510170c74ea3b68290ce3b7",
          "terraform/modules/mattermost-database/2f99ab64c6cb/main.tf": "f7b6092b0cf4c83565d1a01692a1866fa1f94ab370c5c2a2ee2f7b4a38c56828",
          "terraform/modules/mattermost-database/2f99ab64c6cb/mattermost-database.nomad.hcl": "6b4db2a7b8a9affdfe1be07bf947379fde46c39679126c427b74a4956cfc7586",
          "terraform/modules/mattermost-database/2f99ab64c6cb/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/2f99ab64c6cb/variables.tf": "e1c519447f1ea797a12ea9534b934217d1befe807f595346433f8b95ba3e00a0"
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
