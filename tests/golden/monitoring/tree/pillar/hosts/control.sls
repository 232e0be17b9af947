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
        "production/alertmanager": {
          "recipe": "alertmanager",
          "version": "0.28.1",
          "options": {
            "webhook": "https://alerts.example.org/{{hook}}?a=\"b\""
          },
          "volumes": {
            "data": {
              "size": "1 GiB",
              "filesystem": "directory"
            }
          }
        },
        "production/prometheus": {
          "recipe": "prometheus",
          "version": "3.5.0",
          "options": {
            "alerting": true,
            "retention": "30d",
            "targets": [
              "10.0.0.2:9100",
              "10.0.0.3:9100"
            ]
          },
          "volumes": {
            "data": {
              "size": "20 GiB",
              "filesystem": "directory"
            }
          }
        }
      }
    },
    "monitoring": {
      "production/alertmanager": {
        "monitor": "prometheus",
        "rules": "47f1dd3c1d90a4a151f677cb9ccbb009bea1a09ed07a4876a7e99086affb31b0",
        "risk": "medium"
      },
      "production/prometheus": {
        "monitor": "prometheus",
        "rules": "866268ae50b722450c19971db615fd65b79ffdf023546ca80fe06aac23230494",
        "risk": "medium"
      }
    },
    "monitors": {
      "production/prometheus": {
        "directory": "/srv/lab/volumes/opt/prometheus/data/eos-rules",
        "user": "65534",
        "group": "65534",
        "port": 9090
      }
    },
    "volumes": {
      "production/alertmanager/data": {
        "path": "/srv/lab/volumes/opt/alertmanager/data",
        "user": "65534",
        "group": "65534",
        "mode": "0750",
        "durability": "redundant",
        "risk": "medium"
      },
      "production/prometheus/data": {
        "path": "/srv/lab/volumes/opt/prometheus/data",
        "user": "65534",
        "group": "65534",
        "mode": "0750",
        "durability": "redundant",
        "risk": "medium"
      }
    },
    "workspaces": {
      "production/alertmanager": {
        "digest": "358a101faaa0f9b3a1f61e676a81d256022b723c88adb111ca7faf8e73d68d0d",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/alertmanager/main.tf": "26dd15913696dcd9802b14eef292b095c525d1c3857da891f4172ac1540f4d16",
          "terraform/environments/production/alertmanager/outputs.tf": "19236d642787146adbdabcf286fbd6d3cdf5a58ce88e477f50703591442504d7",
          "terraform/environments/production/alertmanager/terraform.tfvars.json": "2cd97ebc7b46c2be7768b2027a2588ceb12072bdcdba69c9cdfebe12f4ae9afa",
          "terraform/environments/production/alertmanager/variables.tf": "fa89d86d1b7473071f73432e5e8e0b9cbd8f6f66e1e52f09d422f4435cf4b1d4",
          "terraform/modules/alertmanager/33c4e88c9223/alertmanager.nomad.hcl": "544a8b708290a14280cd5d462273c5e6f64cd820bb0eb2ab8558ca6f4a98b19e",
          "terraform/modules/alertmanager/33c4e88c9223/main.tf": "e3b28044604376890c140deaee18e6f23ea07dbcb5d2cbf0033a99a2eca48b05",
          "terraform/modules/alertmanager/33c4e88c9223/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/alertmanager/33c4e88c9223/recipe_outputs.tf": "cc2979601454d713786f8f062ba253df72eaf4c492b2ec1339bc3cf53c2f6f16",
          "terraform/modules/alertmanager/33c4e88c9223/variables.tf": "d7e711b040ab906686c96427cde31d68aac4087f11ba7eef1fd58104611679ff"
        },
        "hosts": [
          "control"
        ],
        "secrets": [],
        "service": "alertmanager"
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
      "production/prometheus": {
        "digest": "65a0636067cf9ca636444ceea748c5a522e88c4e02963d7e0b57147e4513982e",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/prometheus/main.tf": "80a99ee9995d3a14cdaa95065e9f5ad0693d992a69d0fe8d39a2d3d68ed24784",
          "terraform/environments/production/prometheus/outputs.tf": "ace44884e6407f300544b18e00fc7359a00220b549adbc21c2d0b196b89ce2b4",
          "terraform/environments/production/prometheus/terraform.tfvars.json": "97ec178d5f355375700826afb167266cb373e8e310a757f666b310a3c072ef5d",
          "terraform/environments/production/prometheus/variables.tf": "9defa6b92fe07a1c9de4c4118a554f91fd4b438dba20c4ba44aa088d2dfa14b2",
          "terraform/modules/prometheus/566bc7814d89/main.tf": "726aea3416904e06352b1ea4d047f769cc7ca6666b320bcba5a30e8c219bb487",
          "terraform/modules/prometheus/566bc7814d89/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/prometheus/566bc7814d89/prometheus.nomad.hcl": "d7d6dd02cbb662e89ae77d1dcb09d01354b6d345dc9cde75a0afd7f94eaad4b4",
          "terraform/modules/prometheus/566bc7814d89/recipe_outputs.tf": "8c52b2b24e17e6f99f3a2c524ad9bb5800da52d9a0a0d01ddbb80c999b2b77ae",
          "terraform/modules/prometheus/566bc7814d89/variables.tf": "d14284f1356a65c904c5cff0726e51444084d7dad8b93b4df0de278a99787900"
        },
        "hosts": [
          "control"
        ],
        "secrets": [],
        "service": "prometheus"
      }
    }
  }
}
