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
        "digest": "3a0f086e0208d22816adfecc81bb450ac2a4aca5512124a951b131865bce82ce",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "9f4874b4f179780329cb2d7004d7e8fe50bbff21db3fb57382d2585a099ea71a",
          "terraform/environments/production/grafana/outputs.tf": "e088f422f061f2999d58e86cf0fa627e0bf5868a7fa4a4bea3f1d9e4e670cee7",
          "terraform/environments/production/grafana/terraform.tfvars.json": "8f35360f5536123188d27e1f5b788ab775cc5d98922520ce23c0dc31385563ca",
          "terraform/environments/production/grafana/variables.tf": "2deb8b7e21ac8daed215cd3e3e20be969747b1e7acc18fa1a2a08de7625eb2f4",
          "terraform/modules/grafana/4bd696b6fe4a/grafana.nomad.hcl": "5210e8232abecd491a6d42545baa5f1c01c6accbeeee04be1b1c85edc335ae79",
          "terraform/modules/grafana/4bd696b6fe4a/main.tf": "c5028009efe156dbc37be92440d52cff89454457a55f2d39d2acfe2de11e5134",
          "terraform/modules/grafana/4bd696b6fe4a/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/4bd696b6fe4a/recipe_outputs.tf": "c8c42584420b53ade224658d46d17fa40aa8706f7573c52fbbdd06d765dcad07",
          "terraform/modules/grafana/4bd696b6fe4a/variables.tf": "ce0d9571e0db1a5741a1a6b5221a9dacd92a433b833c868e0c027641a0792c64"
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
