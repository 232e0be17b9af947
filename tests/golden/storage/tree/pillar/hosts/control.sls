#!json
{
  "eos": {
    "volumes": {},
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
        "digest": "5a99f083aff07598b74a0cad36a2d099b45bb919efadc691919fc5bdf2c9f9ca",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "cbd6b5a9eeaa1862ef3c926506f3af37433db5a6ac08c815766c06ed537d7f66",
          "terraform/environments/production/postgres/terraform.tfvars.json": "4549e353e7c735e13968fd6dfba71eccf7647127f78c19b97dea8cb4bcf2ead9",
          "terraform/environments/production/postgres/variables.tf": "b63a2dd979a3d09bcf5e0917510fe73bc87b163bc510170c74ea3b68290ce3b7",
          "terraform/modules/postgres/588a74c09259/main.tf": "47ed1d2df111b46687db16299a2190eccf1244a1129f2c2e43efaf72548e04eb",
          "terraform/modules/postgres/588a74c09259/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/588a74c09259/postgres.nomad.hcl": "96aa00c42fe7e1881ae97dddff1c8cc5a5ce313667e0936ab680d43d1c9df638",
          "terraform/modules/postgres/588a74c09259/variables.tf": "e1c519447f1ea797a12ea9534b934217d1befe807f595346433f8b95ba3e00a0"
        },
        "hosts": [
          "node1"
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
      }
    }
  }
}
