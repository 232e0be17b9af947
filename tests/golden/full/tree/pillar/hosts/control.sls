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
        "digest": "88387486d09df03518630a77a6e5df039811bc9aceef3aea46f5a167d56e47ed",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "07e5a65e3e49c5c7d6e14bc23f2946d2fd12bfe7058c53cea646a5c52d96de4f",
          "terraform/environments/production/grafana/terraform.tfvars.json": "cd95abbf43463f94386620624ebf95d01434bec50721b3760c378add4df761dc",
          "terraform/environments/production/grafana/variables.tf": "8b400d025e5975c55053a05cc6ac0ae0131505f08d1b256966db185fd119d1b4",
          "terraform/modules/grafana/5bf28372d149/grafana.nomad.hcl": "b96010c8392528d4a51764db70dc2a0c03077c15a7794c1c799f8a2f1f2354bb",
          "terraform/modules/grafana/5bf28372d149/main.tf": "50c150bf9c56f239f8cf32b63c8ce11431ded8e3d1b771bfa5bfcd1b94d4cd44",
          "terraform/modules/grafana/5bf28372d149/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/5bf28372d149/variables.tf": "e24c4e8d1c2ecf62aeba03a8efd46eb6c51d117b4e2fa5dc3042b8cde8ae1ee7"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "production",
            "path": "production/grafana/app",
            "items": [
              "admin_password"
            ]
          }
        ]
      },
      "production/hecate-proxy": {
        "digest": "77093a114b1f9705162290895faea77023718fda954c2d6e2dd2c4bccbae572e",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/hecate-proxy/main.tf": "0503955a4b92415746b5f8489f4f82659f0f9d0c0484493aed3e661f869b0ca4",
          "terraform/environments/production/hecate-proxy/terraform.tfvars.json": "19e2f72207c4ce91a7df6edda04c84205fbbb6b8cb8fed7387bcb897f873abba",
          "terraform/environments/production/hecate-proxy/variables.tf": "60a56031a2099ce7a5d0ff8f80c5973851faeceb3019f69590c4711f9b9aa61d",
          "terraform/modules/hecate-proxy/784661f81351/hecate-proxy.nomad.hcl": "41e49cc22a68edfdd2a7e073a9a4ceb1aa316debd2b381423439b1638d0126f8",
          "terraform/modules/hecate-proxy/784661f81351/main.tf": "7a9c0cdbfa29ae6a09e5e0f098171044fd83d369a2761bace3dedce1262baa9b",
          "terraform/modules/hecate-proxy/784661f81351/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hecate-proxy/784661f81351/variables.tf": "4191e62e8d42fa287d8ac7dd0059ed6772f6810c3ba625d361c83bbef92d0c0f"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      },
      "production/mattermost": {
        "digest": "34310e8f56978d9a974e6b2bd5325a5c8d362abf957fcd2cc8fd03e2139fdcf0",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost/main.tf": "adb94244db2269ffeea2bb623a9f314ff2883bcc33c4dcfda98ba9db05bc09ff",
          "terraform/environments/production/mattermost/terraform.tfvars.json": "045ba03c80d9152bf2573189b81357cc80187c7c948ebed4a4cbb8f67b3cfb63",
          "terraform/environments/production/mattermost/variables.tf": "db3d65568249d94778c450e02d238b8ed898267e5fd3f6bd49d96804a81785b6",
          "terraform/modules/mattermost/335bc10d3610/main.tf": "24696fe8ad58fba93f5b45a1f054bafa3cb2ae39852165b1f27b6bef2a434915",
          "terraform/modules/mattermost/335bc10d3610/mattermost.nomad.hcl": "1c60703025b61862ae46315045719f94f7838b5805803b5995bd5a66402a4988",
          "terraform/modules/mattermost/335bc10d3610/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/335bc10d3610/variables.tf": "468e931723625658058817a51b5605d14234cae520207f637685b77502b0e1d2"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "production",
            "path": "production/mattermost/app",
            "items": [
              "database_password"
            ]
          }
        ]
      },
      "production/mattermost-database": {
        "digest": "fffa02d1457ff432b69f01193e4666f66b7ff02ab6f485d5dfb1e660dfbc671e",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost-database/main.tf": "83e62d96fd3e0a48182ff3e10776cba9e2fc7a2eac85e56206ad4bfee5b5aa8c",
          "terraform/environments/production/mattermost-database/terraform.tfvars.json": "97f9286d15c721f249d9da21cfca7325d9103b5bbc433906bf39c749722d1147",
          "terraform/environments/production/mattermost-database/variables.tf": "4aec7cf275baabc15d000d328d51953304e3097d9aaac25dcfcdbf8716d40dad",
          "terraform/modules/mattermost-database/0a6becd37e5e/main.tf": "ef92f1db1de0e6d90826faf367db69d87a6ec9fc6dc56b982fc6401b1ca5e584",
          "terraform/modules/mattermost-database/0a6becd37e5e/mattermost-database.nomad.hcl": "3d6e406b7dbae60fce6414bea55bc6be4d9b6bad9c76abac3a235c363fd70859",
          "terraform/modules/mattermost-database/0a6becd37e5e/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/0a6becd37e5e/variables.tf": "08f28827d6053f4afbc8062754ac9bdadcb9cdb1a1e002520f0408932426e91d"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "production",
            "path": "production/mattermost-database/app",
            "items": [
              "password"
            ]
          }
        ]
      },
      "production/platform": {
        "digest": "f12f5f9555a39dceddcc81f2269525ffe4f0921f43ccdb00718c01b5e39e96c6",
        "risk": "low",
        "token": "management",
        "files": {
          "terraform/environments/production/platform/main.tf": "659405f9d79f674f169924857e6764219ca92c9f904ea0eb59e82b290f3ff1a8",
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
        "digest": "312889aab0d42dbf87f611a5762f1fb8f8d3686cb9eae6854c11cb6a35b17d5c",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost/main.tf": "abd6e621ee4e042c38f5b83c672ad84c31ad31dde35e3383f0c316b6d686d21c",
          "terraform/environments/staging/mattermost/terraform.tfvars.json": "8f38a72cb26b48bda41e39274b0855aa9c908caeb44acaf9681a9b2a3ae8e39f",
          "terraform/environments/staging/mattermost/variables.tf": "940d017c287dd6a1ff8847b954009f86cbe4d3013cebdbb7a0cb9d19f55d5ac4",
          "terraform/modules/mattermost/d9672647f78d/main.tf": "08e7f3a7f589ec4baa68903e4fe33478c02034f5c4ed5ef3debdb8924c24fcf1",
          "terraform/modules/mattermost/d9672647f78d/mattermost.nomad.hcl": "1c60703025b61862ae46315045719f94f7838b5805803b5995bd5a66402a4988",
          "terraform/modules/mattermost/d9672647f78d/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/d9672647f78d/variables.tf": "762ac56714a461a17cb4221b6826b390abe1b31246c22e3851ca98037b3eec2b"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "staging",
            "path": "staging/mattermost/app",
            "items": [
              "database_password"
            ]
          }
        ]
      },
      "staging/mattermost-database": {
        "digest": "9b6c618ef9c751b0c4af73100d0b3fcf57d4119ddbae6366ba1ab25684049d52",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost-database/main.tf": "83e62d96fd3e0a48182ff3e10776cba9e2fc7a2eac85e56206ad4bfee5b5aa8c",
          "terraform/environments/staging/mattermost-database/terraform.tfvars.json": "8d81a476e219f1433aa63d4cc444e845a38a32c7e8505e2871bf6b68f1d71a59",
          "terraform/environments/staging/mattermost-database/variables.tf": "4aec7cf275baabc15d000d328d51953304e3097d9aaac25dcfcdbf8716d40dad",
          "terraform/modules/mattermost-database/0a6becd37e5e/main.tf": "ef92f1db1de0e6d90826faf367db69d87a6ec9fc6dc56b982fc6401b1ca5e584",
          "terraform/modules/mattermost-database/0a6becd37e5e/mattermost-database.nomad.hcl": "3d6e406b7dbae60fce6414bea55bc6be4d9b6bad9c76abac3a235c363fd70859",
          "terraform/modules/mattermost-database/0a6becd37e5e/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/0a6becd37e5e/variables.tf": "08f28827d6053f4afbc8062754ac9bdadcb9cdb1a1e002520f0408932426e91d"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "staging",
            "path": "staging/mattermost-database/app",
            "items": [
              "password"
            ]
          }
        ]
      },
      "staging/platform": {
        "digest": "015e62a8a31e8424aa7c5e95358e71366e1741cbaf60834bf9c874e9d23bb1c1",
        "risk": "low",
        "token": "management",
        "files": {
          "terraform/environments/staging/platform/main.tf": "659405f9d79f674f169924857e6764219ca92c9f904ea0eb59e82b290f3ff1a8",
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
