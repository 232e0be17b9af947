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
            "port": 3000
          },
          "volumes": {
            "data": {
              "size": "5 GiB",
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
      }
    },
    "workspaces": {
      "production/grafana": {
        "digest": "5f8e1c7268becc0225885fde49b430ea54df7238fdc959279ad54c0ff1f3b2e5",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "fa5e9f1c66f5cd7294c40f124b3237a1067f2c6af05fb926cc8592248289060e",
          "terraform/environments/production/grafana/outputs.tf": "e088f422f061f2999d58e86cf0fa627e0bf5868a7fa4a4bea3f1d9e4e670cee7",
          "terraform/environments/production/grafana/terraform.tfvars.json": "6862cb20b0524b27cc2aba3f94b045ef6fd515df257a4a82925e3033e5871428",
          "terraform/environments/production/grafana/variables.tf": "69ef6dc825b83fcd96e77d995252b1d3ff3cb9ea575533cee48bdbf667c3e3b7",
          "terraform/modules/grafana/6b56ce49c29a/grafana.nomad.hcl": "0edf1688c0234a07a141832aa9297169749a2897d6433724d4bdaaf5eb2dfd73",
          "terraform/modules/grafana/6b56ce49c29a/main.tf": "e96fc32d81d5c81fb368eb891721833ec8057e9a473b3e9f15b24b2c91949f52",
          "terraform/modules/grafana/6b56ce49c29a/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/6b56ce49c29a/recipe_outputs.tf": "c8c42584420b53ade224658d46d17fa40aa8706f7573c52fbbdd06d765dcad07",
          "terraform/modules/grafana/6b56ce49c29a/variables.tf": "9de4ed47157388cf003cc939d4e0babc9d7cdfcd248bff09db21f89259d7c85e"
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
        ],
        "service": "grafana"
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
