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
        "digest": "7cfe9d7ac63487ae2b8e0052399916ce0c152eb248333c3fc9315acd0186f5c1",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "b685e8835053f3025d7c12afdd2f943172a4829a7d4e07c53fdbc87303a48ff5",
          "terraform/environments/production/postgres/terraform.tfvars.json": "d68b2e64ba9fc6dc52e32ea8f88eb5f5e43628716ba551a8cef4359ae5737f78",
          "terraform/environments/production/postgres/variables.tf": "f4d7033a428fc9fa05e000baef56154cd1dc50adaae75c12b760ce9c10806b72",
          "terraform/modules/postgres/3358ffd541ec/main.tf": "4f11e321950bc682cdc5fac1be5a5474ef9fb0399629c97d32d9329b420a5ebb",
          "terraform/modules/postgres/3358ffd541ec/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/3358ffd541ec/postgres.nomad.hcl": "f78fb8ff9dc54923ec62fb710235e3bc07460b8f76c5c8019330ba73c7f53b64",
          "terraform/modules/postgres/3358ffd541ec/variables.tf": "69f1cac3de7a42b5d62a3b521592c2685850baddf0e44da412e90e14039c3e13"
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
        "digest": "54a46bec6b4cf7ae785758f40e523ed6b79bf8100a07d85e5c7ac1f2bd791a2b",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/redis/main.tf": "9e8714747706fa1d60dc533e64d22aa47fabf0bf06b839f5a016437c9efbf47c",
          "terraform/environments/production/redis/terraform.tfvars.json": "6198017ae23eb71da93db72166b407d6db2662153908f7438da01a4c046dac2b",
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
