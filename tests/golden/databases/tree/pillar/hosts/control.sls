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
        "digest": "468f6defba1737364f7b13edc5c55961156c737ee52d124c11c38cb7846ee7c8",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "7b794af9dae1ec7cb5b0552a5abc3f7a8a0bc681aa1cbc8d04179239c3d5f740",
          "terraform/environments/production/postgres/terraform.tfvars.json": "a943ab2bc92c1e27e42e79e84e53d56dcedbd278fc87765a66be935a0546d744",
          "terraform/environments/production/postgres/variables.tf": "bbdf4cb7f38247739b684510e5c88020017f9387afab3d7de29bd70b11196bf4",
          "terraform/modules/postgres/87f67d74d7eb/main.tf": "b8ed74f27b9705ddd82601c58dc98edc2e3ba43a8c5cb07fcded3e41ab5e173a",
          "terraform/modules/postgres/87f67d74d7eb/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/87f67d74d7eb/postgres.nomad.hcl": "61a8811fab6d76e99d34de5c9a73a7e68821e9c0ccaa5a0ea16c7b20ba4ea130",
          "terraform/modules/postgres/87f67d74d7eb/variables.tf": "ac19a548530ac10d60317a9c35249ce1c3ffc1a0766bc3061fea4e945f73d2c5"
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
        "digest": "b06ad487fe64cdf8ab977e2b263a274a4f9934c5b70ce39b0b94f1c480ed67e0",
        "token": "client",
        "files": {
          "terraform/environments/production/redis/main.tf": "9e8714747706fa1d60dc533e64d22aa47fabf0bf06b839f5a016437c9efbf47c",
          "terraform/environments/production/redis/terraform.tfvars.json": "e0af228566fd5ab3f919369eb7bee26e9e9a751159a588c0cff8d19a2ec067f6",
          "terraform/environments/production/redis/variables.tf": "f0eeb45ed35ec7492ca36e1bea36253e42695a3965a77e500678d6d6dad07430",
          "terraform/modules/redis/30eba3248042/main.tf": "a62984d53d647c2ae1fde840b80eedd161a6bb22a6b359e9ebde9600a88824a9",
          "terraform/modules/redis/30eba3248042/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/redis/30eba3248042/redis.nomad.hcl": "5536403ad1c074423a3450c8441f41eab3d01ea2e0c8f5967f826858a2f648b9",
          "terraform/modules/redis/30eba3248042/variables.tf": "d9aa920636cad2ba1cd36e622c1f0c97318122ddcde35a626b25a1340c43bd9c"
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
