#!json
{
  "eos": {
    "volumes": {},
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
        "digest": "cad5a0f25ef791e2c2aa6c70b661e96f8265f319fa418777b51b09ea2ef1cfb1",
        "token": "client",
        "files": {
          "terraform/environments/production/postgres/main.tf": "c0420c84717e7fc8ec0e23f63b1da55aeee3430bd0146112b2239334e86b5d61",
          "terraform/environments/production/postgres/terraform.tfvars.json": "7747754c916ad9fd459e1d6691abf885f554bbae7baac8f3d4d494f677b7870a",
          "terraform/environments/production/postgres/variables.tf": "cd55c8cd2f86faaf81ca41e748b0e205c6153da22383287f459aac1e1d8b9d5f",
          "terraform/modules/postgres/f189e7dbaa2e/main.tf": "176a5bb63c9b0538c2ff0af3c429198dc2113d32eed8a50fc63ed772f2a0d6a7",
          "terraform/modules/postgres/f189e7dbaa2e/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/postgres/f189e7dbaa2e/postgres.nomad.hcl": "35c4666083904d59e84631e4b171789eb0a8aa274baac28e4290f4fbef5f5bd5",
          "terraform/modules/postgres/f189e7dbaa2e/variables.tf": "d962bc7f286431a3dc13a519e6f02a75021c58cd505bbbec348d99b637b3b236"
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
