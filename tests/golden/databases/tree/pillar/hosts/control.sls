#!json
{
  "eos": {
    "volumes": {
      "production/postgres/data": {
        "path": "/srv/lab/volumes/opt/postgres/data",
        "user": "999",
        "group": "999",
        "mode": "0700",
        "durability": "redundant"
      },
      "production/redis/data": {
        "path": "/srv/lab/volumes/opt/redis/data",
        "user": "999",
        "group": "999",
        "mode": "0750",
        "durability": "redundant"
      }
    },
    "workspaces": {
      "production/platform": {
        "digest": "979cd0b5839e33386add654a9eac64a64302808cb8e58792c691af37fac367b2",
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
      "production/postgres": {
        "digest": "2722c6dd7bbc522ce7ca5485fa766ebcab705e8725c816c4ed2c268a95c5466a",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "ebde5f94151216fcbb7b1e8905f48a352c47b1059b94836b8ee07ddbf99a31e1",
          "terraform/environments/production/postgres/terraform.tfvars.json": "69ff9d3fa87c223cebe8486d12b16e28061e707bf8ea1b75961d3760b42ba59b",
          "terraform/environments/production/postgres/variables.tf": "ab4fcafc7b4b1e53e9b74bf72717128b5e8e6671393a9cdb1954038dd3b9db85",
          "terraform/modules/postgres/8b2a1d02bc67/main.tf": "2caf9d20f99398ec5f8f60d2c72f613282a8793e6cf6f513ec1f2472b675ccf9",
          "terraform/modules/postgres/8b2a1d02bc67/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/8b2a1d02bc67/postgres.nomad.hcl": "dab4da5d93d9273398eb255323b2a9a56cfe154a3a6471c319cbb81203548242",
          "terraform/modules/postgres/8b2a1d02bc67/variables.tf": "7796803dda3e520f09b2d97f420cce1c1bc9f6d8e328b16a66bb283efcab2c6b"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "production",
            "path": "nomad/jobs/postgres",
            "items": [
              "password"
            ]
          }
        ]
      },
      "production/redis": {
        "digest": "5a6c0bfc52449b7e0147d880e03743828d3ab0d2678fecae6035cf1de0c7ed01",
        "token": "client",
        "files": {
          "terraform/environments/production/redis/main.tf": "d8752377891eecb829917a51579b76b15ccb3c4ea366397846ed1e117f62f5f6",
          "terraform/environments/production/redis/terraform.tfvars.json": "4031b58ddebfc128efad05a0c5c703a401cf0d372c4c17a0a33ee72bc25eb1f4",
          "terraform/environments/production/redis/variables.tf": "6ee3d5547ddd72addff50a73bc60b3837e27b30dcbd04d0dc618bbb88778e413",
          "terraform/modules/redis/58780c98ba33/main.tf": "d4087900f62215fa01f22e7f4425a762a02366a07a01593d99ee695fe89cf130",
          "terraform/modules/redis/58780c98ba33/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/redis/58780c98ba33/redis.nomad.hcl": "5e9478d5e5468bab821886f902062cc23fd7aff41f3409663c9d2d0f79df7e39",
          "terraform/modules/redis/58780c98ba33/variables.tf": "cb94606b1fd264589339213d76ae5921c6434c74f0fe4389553aab336c527215"
        },
        "hosts": [
          "control"
        ],
        "secrets": [
          {
            "namespace": "production",
            "path": "nomad/jobs/redis",
            "items": [
              "password"
            ]
          }
        ]
      }
    }
  }
}
