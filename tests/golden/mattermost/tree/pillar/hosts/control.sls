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
        "digest": "00eac614ebfa0ff4ac86fdca35db354af7ce435c2bba1fd4f39a9bc8c27b1b42",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "5aaccf013181713dfbcea511d1981d40ab3b7d6b98e8c6375c19fab310242ec3",
          "terraform/environments/production/grafana/terraform.tfvars.json": "ea6a49779a27722926bda61c3a882a851fd4def5edb0d698f676cd087a71b8bc",
          "terraform/environments/production/grafana/variables.tf": "b9c87f3bab7fced9cf0a1d1e794485058eca0a1afe20a3eb62fb19986750cbe1",
          "terraform/modules/grafana/c8258078d7a9/grafana.nomad.hcl": "0edf1688c0234a07a141832aa9297169749a2897d6433724d4bdaaf5eb2dfd73",
          "terraform/modules/grafana/c8258078d7a9/main.tf": "e96fc32d81d5c81fb368eb891721833ec8057e9a473b3e9f15b24b2c91949f52",
          "terraform/modules/grafana/c8258078d7a9/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/c8258078d7a9/variables.tf": "9de4ed47157388cf003cc939d4e0babc9d7cdfcd248bff09db21f89259d7c85e"
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
        "digest": "4ea04ca716da5afa04bf79f0de97d61601e716862fee55a90fce5fcf287663d5",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/hecate-proxy/main.tf": "f6a076741f3c612021ba4285223606a3aefbcc8ed9d7072af3aa143afe88f8e4",
          "terraform/environments/production/hecate-proxy/terraform.tfvars.json": "0d4b513e0efca5fef1a7c9a83a3c1e3797aacefa1cfacb3313fd0e07374c9de2",
          "terraform/environments/production/hecate-proxy/variables.tf": "688350f7471af8964596a32ee900b4e8f89c0a704fc5fd65140300630f7b1487",
          "terraform/modules/hecate-proxy/3fc6ec502eb9/hecate-proxy.nomad.hcl": "a50fdce53a0f6e222feb0e66a78eb6d6e2f454fae894f57953bc6aea929b442e",
          "terraform/modules/hecate-proxy/3fc6ec502eb9/main.tf": "904f3a52a0d3db1cd0520da14b6b4853e42fd7eda26f6ead792970495d1341d5",
          "terraform/modules/hecate-proxy/3fc6ec502eb9/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hecate-proxy/3fc6ec502eb9/variables.tf": "65504d6e3fc907e5227f52cb615b98344cc656aaef479dd51d1399125ca55621"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      },
      "production/mattermost": {
        "digest": "8cb3327bfccda427dd08fdfce248e790a02e85496ce7fe7909d5029d490544e7",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost/main.tf": "19aefd39f47e5ef15ce78de5604909ad9e8e2128a8d62602dec5d5cd7541a1c8",
          "terraform/environments/production/mattermost/terraform.tfvars.json": "7b1da3d2f4b707031bff181eb37af71222b036974cd265d3884499a4e28ea8e5",
          "terraform/environments/production/mattermost/variables.tf": "2da4a9414bfea0d8cc64fbf473e5c34992ece4c248739e910dd23bd2157c95d6",
          "terraform/modules/mattermost/ccc8c8b7f7e6/main.tf": "05629237d9033514c583f38b40da6d309037630f0c1d373dd5ed241f7afa90d1",
          "terraform/modules/mattermost/ccc8c8b7f7e6/mattermost.nomad.hcl": "46bd0350a805b989f5207b0884368f1d88cce917cc4366ffc22c1f2117a0d0cd",
          "terraform/modules/mattermost/ccc8c8b7f7e6/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/ccc8c8b7f7e6/variables.tf": "189d8a1893903e5d96e4175fec4d08b629dcde8d8a5120b8059041078d332ce4"
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
        "digest": "6989f69ec2995eed17a2c30fee5f1064d2cabdc1ff9d147997ec368edf1a2bdf",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost-database/main.tf": "3fe4d5405e61fba90e5ca504da42f8cdb6de7369cfdcbd7bb0f68943f96f287f",
          "terraform/environments/production/mattermost-database/terraform.tfvars.json": "e99e5ee33d817104ea6181822500ea08fed8a9c4f5e67ab0857cd8b8f41a71d7",
          "terraform/environments/production/mattermost-database/variables.tf": "1a9804caa5ed4d24fb00656b5ad6cc81f927a2c00b0c986741be68af9475ca41",
          "terraform/modules/mattermost-database/befc5ad146ed/main.tf": "1ef34824b40c6d751bafc056245f978e8f3113e4d3637984c7dcd49c6822354a",
          "terraform/modules/mattermost-database/befc5ad146ed/mattermost-database.nomad.hcl": "eb10e1859e7f989a43c0cb84c9b2accd282ede3bb89e5d94c43ff6a14a412eb3",
          "terraform/modules/mattermost-database/befc5ad146ed/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/befc5ad146ed/variables.tf": "a0c82dfaf2db424cd6ea2d03ca770f8b6160c1427913181a0b3fe73cdfcd1abf"
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
        "digest": "1151c826ac47bd02dbf81ee3512c82f416dcea17a20913f5cc7bfdb990e9132d",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost/main.tf": "19aefd39f47e5ef15ce78de5604909ad9e8e2128a8d62602dec5d5cd7541a1c8",
          "terraform/environments/staging/mattermost/terraform.tfvars.json": "d13861f086bc8fb6c008c24b29416ed71dd54f7f96ddf3f64b432e11f1dd2e35",
          "terraform/environments/staging/mattermost/variables.tf": "2da4a9414bfea0d8cc64fbf473e5c34992ece4c248739e910dd23bd2157c95d6",
          "terraform/modules/mattermost/ccc8c8b7f7e6/main.tf": "05629237d9033514c583f38b40da6d309037630f0c1d373dd5ed241f7afa90d1",
          "terraform/modules/mattermost/ccc8c8b7f7e6/mattermost.nomad.hcl": "46bd0350a805b989f5207b0884368f1d88cce917cc4366ffc22c1f2117a0d0cd",
          "terraform/modules/mattermost/ccc8c8b7f7e6/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/ccc8c8b7f7e6/variables.tf": "189d8a1893903e5d96e4175fec4d08b629dcde8d8a5120b8059041078d332ce4"
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
        "digest": "eb34bafb7f5e372be3b02af0a984ecac13df2c8d309a442387a38a74f281c3bb",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost-database/main.tf": "3fe4d5405e61fba90e5ca504da42f8cdb6de7369cfdcbd7bb0f68943f96f287f",
          "terraform/environments/staging/mattermost-database/terraform.tfvars.json": "b2d0205087ab9e5fb3b3df0dee06970c1be40075e90e67c236a7b22ec1d36a2c",
          "terraform/environments/staging/mattermost-database/variables.tf": "1a9804caa5ed4d24fb00656b5ad6cc81f927a2c00b0c986741be68af9475ca41",
          "terraform/modules/mattermost-database/befc5ad146ed/main.tf": "1ef34824b40c6d751bafc056245f978e8f3113e4d3637984c7dcd49c6822354a",
          "terraform/modules/mattermost-database/befc5ad146ed/mattermost-database.nomad.hcl": "eb10e1859e7f989a43c0cb84c9b2accd282ede3bb89e5d94c43ff6a14a412eb3",
          "terraform/modules/mattermost-database/befc5ad146ed/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/befc5ad146ed/variables.tf": "a0c82dfaf2db424cd6ea2d03ca770f8b6160c1427913181a0b3fe73cdfcd1abf"
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
