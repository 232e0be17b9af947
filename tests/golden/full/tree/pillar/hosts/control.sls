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
        "digest": "bfe53114e443dab9fce4a0326f284040732f86c436a58c30e65682fa69e40f71",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/grafana/main.tf": "3bd859a37b87ef02b8f47708d05e4463f9eeb65312c7ee57924a2fc7da6663c9",
          "terraform/environments/production/grafana/terraform.tfvars.json": "fc5b4aab519f334514ad8c97a3671ce22d95c37ba0dcc355fd94021f65f8a0b8",
          "terraform/environments/production/grafana/variables.tf": "fd85dfebd262e276e00171e9a29e5a1a99f4fbb32585bbccc90aadab818724f2",
          "terraform/modules/grafana/ba4ae205b2e8/grafana.nomad.hcl": "a40e4d1105240b24cd3be9802985fde4a33838fdbe3e069ecb38ac497e9166dc",
          "terraform/modules/grafana/ba4ae205b2e8/main.tf": "50c150bf9c56f239f8cf32b63c8ce11431ded8e3d1b771bfa5bfcd1b94d4cd44",
          "terraform/modules/grafana/ba4ae205b2e8/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/grafana/ba4ae205b2e8/variables.tf": "2305f252e97311cb3e19bcb1d5889c3aca7419b8e615961ec1c1a8f2f480abf5"
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
        "digest": "da32ca1366fde536ea9066c1fc562965f966fb8e228dccf07085e9c9a70450c4",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost/main.tf": "f4f0251f7be88282d28d194af3383c531796425e037bfae458c6630bdc90354a",
          "terraform/environments/production/mattermost/terraform.tfvars.json": "5e4e22eb197da21770092c86cc8d6dc22f60c6696d3bdb0078c3fa3535f0c0b4",
          "terraform/environments/production/mattermost/variables.tf": "82288c86d25c0527699c980ed5b795cb43f39cd8a9b80ef2be51e2306f73a04e",
          "terraform/modules/mattermost/9af496a6c7d0/main.tf": "24696fe8ad58fba93f5b45a1f054bafa3cb2ae39852165b1f27b6bef2a434915",
          "terraform/modules/mattermost/9af496a6c7d0/mattermost.nomad.hcl": "7ef946edff910abcdd49652572c47a59630ead48e6e7cce97e9851a4103db913",
          "terraform/modules/mattermost/9af496a6c7d0/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/9af496a6c7d0/variables.tf": "7260293ca4bca8017b0dfed55a7a954f4a6189b895dd59dfe30043035beb267d"
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
        "digest": "0ade822f8da0ed9765d5c924fd0ce8a6ab97a6b2f08abfcf0957c9c8094e00da",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/mattermost-database/main.tf": "fcc2259efb1e42b2995808d4f57a955e45483a001c0157ec3caca158e501c279",
          "terraform/environments/production/mattermost-database/terraform.tfvars.json": "0cd0468bfcec89214e0a6eb6dbd66d73141a452afb78d98195a6cb208c2ff9b0",
          "terraform/environments/production/mattermost-database/variables.tf": "1d5b80e57f23945309079f152dd840881efb2f960ba7e5f1f27f3524edc1f9c3",
          "terraform/modules/mattermost-database/a6cbdc2496f5/main.tf": "ab62640a5b794e4dfa72fc84faff64e56f4425fcd9567b1f84e12dd93b4d32f4",
          "terraform/modules/mattermost-database/a6cbdc2496f5/mattermost-database.nomad.hcl": "cda2603ac17530944fc04531021a4dc7ab473526ddf49de5f68c5129831a1c95",
          "terraform/modules/mattermost-database/a6cbdc2496f5/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/a6cbdc2496f5/variables.tf": "3e290a4d4c2212c8c1029da4d586a0bb38a83c963f0300ebf3c37e573a6c2ad0"
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
        "digest": "c478d70f1e4263e55b4f083c6e6db38ab6ce92a496b4db0f9db0200557ce1657",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost/main.tf": "16a8946e7e5ec983cbec788a88f3fc907f2005b3abe3b0108de245e218d68cbf",
          "terraform/environments/staging/mattermost/terraform.tfvars.json": "efd03513acdee596c287b39fca547869d30c1349cd4de984a9d803e634e231a1",
          "terraform/environments/staging/mattermost/variables.tf": "dd6b09c697907b33754c25ab00e059718e40cf3bb0122184997d363d2abe2e75",
          "terraform/modules/mattermost/6e7d72b2fae9/main.tf": "08e7f3a7f589ec4baa68903e4fe33478c02034f5c4ed5ef3debdb8924c24fcf1",
          "terraform/modules/mattermost/6e7d72b2fae9/mattermost.nomad.hcl": "7ef946edff910abcdd49652572c47a59630ead48e6e7cce97e9851a4103db913",
          "terraform/modules/mattermost/6e7d72b2fae9/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost/6e7d72b2fae9/variables.tf": "b282dedab58c3f0a87805d7739aaa2d2a8d52facae379065572406917c9e94c9"
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
        "digest": "d379578c16dad29aeb31d51be19056888cef935dff93a2a0cfc213cd4471041c",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/staging/mattermost-database/main.tf": "fcc2259efb1e42b2995808d4f57a955e45483a001c0157ec3caca158e501c279",
          "terraform/environments/staging/mattermost-database/terraform.tfvars.json": "29a2fceb8bfefa427f916155a84df861eb82fc7dd2401cf4623f55b3dc0cde27",
          "terraform/environments/staging/mattermost-database/variables.tf": "1d5b80e57f23945309079f152dd840881efb2f960ba7e5f1f27f3524edc1f9c3",
          "terraform/modules/mattermost-database/a6cbdc2496f5/main.tf": "ab62640a5b794e4dfa72fc84faff64e56f4425fcd9567b1f84e12dd93b4d32f4",
          "terraform/modules/mattermost-database/a6cbdc2496f5/mattermost-database.nomad.hcl": "cda2603ac17530944fc04531021a4dc7ab473526ddf49de5f68c5129831a1c95",
          "terraform/modules/mattermost-database/a6cbdc2496f5/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/mattermost-database/a6cbdc2496f5/variables.tf": "3e290a4d4c2212c8c1029da4d586a0bb38a83c963f0300ebf3c37e573a6c2ad0"
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
