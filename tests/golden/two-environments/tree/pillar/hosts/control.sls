#!json
{
  "eos": {
    "volumes": {},
    "workspaces": {
      "production/hello": {
        "digest": "f4eff4567253cdb79d6cfdf4d26236af8be89057a0b082d179427d1070b1dee9",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/hello/main.tf": "091aaab03d17b5d581bda7dbc151b6adc9b51fbd75b40f47f768b9fad5e50216",
          "terraform/environments/production/hello/terraform.tfvars.json": "71a1d9329316f48fa9756fec75f90e5cf0c331c14e57088c86e891311b27282f",
          "terraform/environments/production/hello/variables.tf": "c88989b6554dec84fd722cb78c49aaf5895ef2832f54862e7ef21378b123220c",
          "terraform/modules/hello/545fdd64d787/hello.nomad.hcl": "8a363c4275ab50792b586bc586560e92e736ac1bab4f52599e50ee595c9c8846",
          "terraform/modules/hello/545fdd64d787/main.tf": "9ee4abc2bea71893450a6212bf08d68afc905f0699e628e3f50636d73fc7e295",
          "terraform/modules/hello/545fdd64d787/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hello/545fdd64d787/variables.tf": "6cd1bbfed327f68583041d55ade345110b72e4a5d7989d39831da1ffc1a23fbb"
        },
        "hosts": [],
        "secrets": []
      },
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
      "staging/hello": {
        "digest": "35faa64f1e77b4d08949e8f34c28ae4efa54f25dc371b45fd021dab593e853c1",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/staging/hello/main.tf": "091aaab03d17b5d581bda7dbc151b6adc9b51fbd75b40f47f768b9fad5e50216",
          "terraform/environments/staging/hello/terraform.tfvars.json": "a7fb6e31b1df493881d2a7a4062899c4ec3540a69d003c295631275d739ca69a",
          "terraform/environments/staging/hello/variables.tf": "c88989b6554dec84fd722cb78c49aaf5895ef2832f54862e7ef21378b123220c",
          "terraform/modules/hello/545fdd64d787/hello.nomad.hcl": "8a363c4275ab50792b586bc586560e92e736ac1bab4f52599e50ee595c9c8846",
          "terraform/modules/hello/545fdd64d787/main.tf": "9ee4abc2bea71893450a6212bf08d68afc905f0699e628e3f50636d73fc7e295",
          "terraform/modules/hello/545fdd64d787/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hello/545fdd64d787/variables.tf": "6cd1bbfed327f68583041d55ade345110b72e4a5d7989d39831da1ffc1a23fbb"
        },
        "hosts": [],
        "secrets": []
      },
      "staging/platform": {
        "digest": "287a720a88cdadfa7b7072b322664b8268d078a507e75bd9535e5c38862cbc05",
        "risk": "low",
        "token": "management",
        "files": {
          "terraform/environments/staging/platform/main.tf": "89fae863ace655cdacab5501715a1520428308fce5521bccc62937de6eb1b3c5",
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
