#!json
{
  "eos": {
    "volumes": {
      "production/postgres/data": {
        "path": "/srv/lab/volumes/opt/postgres/data",
        "user": "999",
        "group": "999",
        "mode": "0700",
        "durability": "redundant",
        "risk": "medium"
      },
      "production/redis/data": {
        "path": "/srv/lab/volumes/opt/redis/data",
        "user": "999",
        "group": "999",
        "mode": "0750",
        "durability": "redundant",
        "risk": "medium"
      }
    },
    "workspaces": {
      "production/platform": {
        "digest": "979cd0b5839e33386add654a9eac64a64302808cb8e58792c691af37fac367b2",
        "risk": "low",
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
        "digest": "09f2576539cd0dc6b08dcf01a4cf7a9492dc72c300769932b53962ec94a01639",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "57ec6a92a422a085a9c386d688414aebf7fec8c6a4ddbfecd7841cd66bfc0d66",
          "terraform/environments/production/postgres/terraform.tfvars.json": "05f0a8b2926897cac3aae1f05bfb9c79a461346f68bc0d15b05fcc363f25462c",
          "terraform/environments/production/postgres/variables.tf": "ab4fcafc7b4b1e53e9b74bf72717128b5e8e6671393a9cdb1954038dd3b9db85",
          "terraform/modules/postgres/dbf963416f22/main.tf": "2caf9d20f99398ec5f8f60d2c72f613282a8793e6cf6f513ec1f2472b675ccf9",
          "terraform/modules/postgres/dbf963416f22/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/dbf963416f22/postgres.nomad.hcl": "a9a6a0799420229d97db62d33f2748a504a63dd6d23dcca63a2815a0e85ea959",
          "terraform/modules/postgres/dbf963416f22/variables.tf": "7796803dda3e520f09b2d97f420cce1c1bc9f6d8e328b16a66bb283efcab2c6b"
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
        "digest": "a12976fe7db37ef1768cc08d3261333c0b888b2598af00cfa2eebc3335f1d8a7",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/redis/main.tf": "38523770c7d232650d23d63da58af3f8c3d16ac4fda7374c98067d4f54ff4352",
          "terraform/environments/production/redis/terraform.tfvars.json": "3da8c0a2f81e6c096f206e195c31ab92b8e377639ec8df0b59da179eab22d7eb",
          "terraform/environments/production/redis/variables.tf": "6ee3d5547ddd72addff50a73bc60b3837e27b30dcbd04d0dc618bbb88778e413",
          "terraform/modules/redis/8d3a1f1d160a/main.tf": "d4087900f62215fa01f22e7f4425a762a02366a07a01593d99ee695fe89cf130",
          "terraform/modules/redis/8d3a1f1d160a/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/redis/8d3a1f1d160a/redis.nomad.hcl": "c72657de005ac67e47fecf6f8768c21caca95bd7229a36757cc2a8d48276ea59",
          "terraform/modules/redis/8d3a1f1d160a/variables.tf": "cb94606b1fd264589339213d76ae5921c6434c74f0fe4389553aab336c527215"
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
