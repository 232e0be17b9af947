#!json
{
  "eos": {
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
        "digest": "748898a831003de2a4f218d94c817db3150408de732372ebd9cb8791b868e7a7",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/alertmanager/main.tf": "64e3a9c2a719e210c9e017a2fbcc0e4ee95bb8f932b116a31c5769d1eb82c5d8",
          "terraform/environments/production/alertmanager/terraform.tfvars.json": "3055abbd25089c0c4e3f15e30a8684e009f33cfaf0bf529370ff346d8a8b830d",
          "terraform/environments/production/alertmanager/variables.tf": "86e6fa44f4af9eec5aa4967b86cc913a79d62e888915af63e679d9396c9fae3c",
          "terraform/modules/alertmanager/50a183f29c6c/alertmanager.nomad.hcl": "544a8b708290a14280cd5d462273c5e6f64cd820bb0eb2ab8558ca6f4a98b19e",
          "terraform/modules/alertmanager/50a183f29c6c/main.tf": "e3b28044604376890c140deaee18e6f23ea07dbcb5d2cbf0033a99a2eca48b05",
          "terraform/modules/alertmanager/50a183f29c6c/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/alertmanager/50a183f29c6c/variables.tf": "d7e711b040ab906686c96427cde31d68aac4087f11ba7eef1fd58104611679ff"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
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
        "digest": "5ee372314e6486cd77a4df8d052d48919e5451385e5e3705827ed43c6bf0800f",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/prometheus/main.tf": "3d3df4e4cedd4e0fa28f0206903b74edd99f9d1414d401b5e088056309352d8d",
          "terraform/environments/production/prometheus/terraform.tfvars.json": "3025c9f83ab0b6808ac925c6190bde4d7454db9a37da3b2e1582d596df17dbd2",
          "terraform/environments/production/prometheus/variables.tf": "bf46ce56aa75a905c150190122420fbf6138bf4ab45a8471fe701aa296eaf4ef",
          "terraform/modules/prometheus/a2ba1b44d1fd/main.tf": "726aea3416904e06352b1ea4d047f769cc7ca6666b320bcba5a30e8c219bb487",
          "terraform/modules/prometheus/a2ba1b44d1fd/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/prometheus/a2ba1b44d1fd/prometheus.nomad.hcl": "d7d6dd02cbb662e89ae77d1dcb09d01354b6d345dc9cde75a0afd7f94eaad4b4",
          "terraform/modules/prometheus/a2ba1b44d1fd/variables.tf": "d14284f1356a65c904c5cff0726e51444084d7dad8b93b4df0de278a99787900"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      }
    }
  }
}
