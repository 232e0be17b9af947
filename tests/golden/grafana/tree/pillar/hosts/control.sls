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
      }
    }
  }
}
