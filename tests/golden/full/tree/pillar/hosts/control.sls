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
        "digest": "58601d54dd0192d11a934fb77366faa339aac7dfdb9546f21a89e6b4d811e368",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "cdaac6faa32a74ff9e5742c3b5bc95270e0e9cbe39f8c403192f1b6d01a0df52",
          "terraform/environments/production/grafana/terraform.tfvars.json": "d3c1d8870ea3b99b7a1b4e73ba986711c66c22799f020a0c8adf8a0143b5aab9",
          "terraform/environments/production/grafana/variables.tf": "fd85dfebd262e276e00171e9a29e5a1a99f4fbb32585bbccc90aadab818724f2",
          "terraform/modules/grafana/1376baa7623a/grafana.nomad.hcl": "fac15118e6ab121900a4b3043cecca1fa596f2b8ede824f51275b403dbbd2e18",
          "terraform/modules/grafana/1376baa7623a/main.tf": "50c150bf9c56f239f8cf32b63c8ce11431ded8e3d1b771bfa5bfcd1b94d4cd44",
          "terraform/modules/grafana/1376baa7623a/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/1376baa7623a/variables.tf": "2305f252e97311cb3e19bcb1d5889c3aca7419b8e615961ec1c1a8f2f480abf5"
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
        "digest": "83f6f0c4a123c14b7971d5b89650829432ac11a67bf0458b5e823f43e217a030",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/hecate-proxy/main.tf": "39853444337e64c1c5e74e18cd4a431e0efcb1e0154c1eccd7de2974059edf26",
          "terraform/environments/production/hecate-proxy/terraform.tfvars.json": "a18178b2c58d72c2e7f53e263cd9badfbea34dc8ffbd9cb45945a7aa15859632",
          "terraform/environments/production/hecate-proxy/variables.tf": "60a56031a2099ce7a5d0ff8f80c5973851faeceb3019f69590c4711f9b9aa61d",
          "terraform/modules/hecate-proxy/d724cb5b6deb/hecate-proxy.nomad.hcl": "86d73479396a952c006e958643e8cda0cf9eb298d7ace120f61d9453ba012899",
          "terraform/modules/hecate-proxy/d724cb5b6deb/main.tf": "7a9c0cdbfa29ae6a09e5e0f098171044fd83d369a2761bace3dedce1262baa9b",
          "terraform/modules/hecate-proxy/d724cb5b6deb/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hecate-proxy/d724cb5b6deb/variables.tf": "4191e62e8d42fa287d8ac7dd0059ed6772f6810c3ba625d361c83bbef92d0c0f"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      },
      "production/mattermost": {
        "digest": "fdb26d07170d59f175af681dc4997b56f764176339993fe6c41fc3cdc859b433",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost/main.tf": "51b38ccfd62bd60d87d190d7a83eb3feda53dc18e5228e4d0403f3e48621b5d1",
          "terraform/environments/production/mattermost/terraform.tfvars.json": "ed14a1f7614c78b775cb25676d1f4e718ff00d211a800a93fba3ee57f0d0bf1d",
          "terraform/environments/production/mattermost/variables.tf": "82288c86d25c0527699c980ed5b795cb43f39cd8a9b80ef2be51e2306f73a04e",
          "terraform/modules/mattermost/74b220432e87/main.tf": "24696fe8ad58fba93f5b45a1f054bafa3cb2ae39852165b1f27b6bef2a434915",
          "terraform/modules/mattermost/74b220432e87/mattermost.nomad.hcl": "4b532c08dbc7ce794609f38d9c4fb8aeb32330cd48b8e9ac48eec92fa39e4368",
          "terraform/modules/mattermost/74b220432e87/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/74b220432e87/variables.tf": "7260293ca4bca8017b0dfed55a7a954f4a6189b895dd59dfe30043035beb267d"
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
        "digest": "c725173b17ac82b380650bf0fc92f7243b869069be13d3fb8877191eeec46fb0",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost-database/main.tf": "78744a4f07b3433af9db87dfcf45449a1525cd1ee24b393c5d5620a45e79e6bc",
          "terraform/environments/production/mattermost-database/terraform.tfvars.json": "99e54d5344ba266b92852d5a150bfaff579614e64bf7eddff83382f36f0e689f",
          "terraform/environments/production/mattermost-database/variables.tf": "1d5b80e57f23945309079f152dd840881efb2f960ba7e5f1f27f3524edc1f9c3",
          "terraform/modules/mattermost-database/6adaadca3954/main.tf": "ab62640a5b794e4dfa72fc84faff64e56f4425fcd9567b1f84e12dd93b4d32f4",
          "terraform/modules/mattermost-database/6adaadca3954/mattermost-database.nomad.hcl": "49dab961c1d5220dd9a917912c0dddf0467c058d84b968b3611365e823edb828",
          "terraform/modules/mattermost-database/6adaadca3954/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/6adaadca3954/variables.tf": "3e290a4d4c2212c8c1029da4d586a0bb38a83c963f0300ebf3c37e573a6c2ad0"
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
        "digest": "a37a80f8b427d5701268b4757ad7da56eb0ddfcc4519b672426cc38a7fbcc5ae",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost/main.tf": "a43b8f6f1cb9821f24e9dc33f5150c2a9f0a302b76d8ffeb19db20862ca44381",
          "terraform/environments/staging/mattermost/terraform.tfvars.json": "a8a4aa72459454737f6c9389e6b9d3d7b43af97e0dfebebd94f18719a3391639",
          "terraform/environments/staging/mattermost/variables.tf": "dd6b09c697907b33754c25ab00e059718e40cf3bb0122184997d363d2abe2e75",
          "terraform/modules/mattermost/f8557956b86b/main.tf": "08e7f3a7f589ec4baa68903e4fe33478c02034f5c4ed5ef3debdb8924c24fcf1",
          "terraform/modules/mattermost/f8557956b86b/mattermost.nomad.hcl": "4b532c08dbc7ce794609f38d9c4fb8aeb32330cd48b8e9ac48eec92fa39e4368",
          "terraform/modules/mattermost/f8557956b86b/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/f8557956b86b/variables.tf": "b282dedab58c3f0a87805d7739aaa2d2a8d52facae379065572406917c9e94c9"
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
        "digest": "a7732dda89250f91179c5335f8803e2c8844ea824467cbf7ebcc02713dfd1641",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost-database/main.tf": "78744a4f07b3433af9db87dfcf45449a1525cd1ee24b393c5d5620a45e79e6bc",
          "terraform/environments/staging/mattermost-database/terraform.tfvars.json": "b8330a01f6ba514f2c6f0e229bd09c257fdd37db5cadd19bca5e44e2704769de",
          "terraform/environments/staging/mattermost-database/variables.tf": "1d5b80e57f23945309079f152dd840881efb2f960ba7e5f1f27f3524edc1f9c3",
          "terraform/modules/mattermost-database/6adaadca3954/main.tf": "ab62640a5b794e4dfa72fc84faff64e56f4425fcd9567b1f84e12dd93b4d32f4",
          "terraform/modules/mattermost-database/6adaadca3954/mattermost-database.nomad.hcl": "49dab961c1d5220dd9a917912c0dddf0467c058d84b968b3611365e823edb828",
          "terraform/modules/mattermost-database/6adaadca3954/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/6adaadca3954/variables.tf": "3e290a4d4c2212c8c1029da4d586a0bb38a83c963f0300ebf3c37e573a6c2ad0"
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
