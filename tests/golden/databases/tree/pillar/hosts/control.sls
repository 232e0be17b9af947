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
        "digest": "2620a887d40dc87dfdfa9cf2e3621ac9bb7b3d242a2dca979f14dd93df92be22",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "b59d5d82a0df8106464b024fa6cc10699aec313cdb4c206b0ff7acec7b017a4f",
          "terraform/environments/production/postgres/terraform.tfvars.json": "183cdd56016dd54d0e881e862fcd7a4a2a30177254a69090ff211320b6e17c63",
          "terraform/environments/production/postgres/variables.tf": "f4d7033a428fc9fa05e000baef56154cd1dc50adaae75c12b760ce9c10806b72",
          "terraform/modules/postgres/b2efb562fdd5/main.tf": "4f11e321950bc682cdc5fac1be5a5474ef9fb0399629c97d32d9329b420a5ebb",
          "terraform/modules/postgres/b2efb562fdd5/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/b2efb562fdd5/postgres.nomad.hcl": "ba59b5cf3de76f15538905c7c7d1140c6cb645380bb08b42d9667e192db0f190",
          "terraform/modules/postgres/b2efb562fdd5/variables.tf": "69f1cac3de7a42b5d62a3b521592c2685850baddf0e44da412e90e14039c3e13"
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
        "digest": "9c637782c43a60f94fc535daf34172eb049a990b6b9ffd496f12d635f1e39b91",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/redis/main.tf": "d75121e5034dc2edef81840b798afed7fa06db4cbe5b9bc9607a99d21f63f880",
          "terraform/environments/production/redis/terraform.tfvars.json": "574a8c947dd8016b61063b391d36896711fb395dec26cb4b4942238b6b76acd1",
          "terraform/environments/production/redis/variables.tf": "f0eeb45ed35ec7492ca36e1bea36253e42695a3965a77e500678d6d6dad07430",
          "terraform/modules/redis/bee76a965d64/main.tf": "a62984d53d647c2ae1fde840b80eedd161a6bb22a6b359e9ebde9600a88824a9",
          "terraform/modules/redis/bee76a965d64/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/redis/bee76a965d64/redis.nomad.hcl": "09f26b2cab631796936f885fa61d64603ded513b79d1745782751fa20078cf13",
          "terraform/modules/redis/bee76a965d64/variables.tf": "d9aa920636cad2ba1cd36e622c1f0c97318122ddcde35a626b25a1340c43bd9c"
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
