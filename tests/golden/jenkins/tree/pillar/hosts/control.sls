#!json
{
  "eos": {
    "volumes": {
      "development/jenkins/data": {
        "path": "/opt/jenkins-development/data",
        "user": "1000",
        "group": "1000",
        "mode": "0750",
        "durability": "ephemeral"
      },
      "production/jenkins/data": {
        "path": "/opt/jenkins/data",
        "user": "1000",
        "group": "1000",
        "mode": "0750",
        "durability": "redundant"
      }
    },
    "workspaces": {
      "development/jenkins": {
        "digest": "9e4cfb3417b6db1291406a34c331b6b78da91ad16be37012b97dc6b94e71843f",
        "token": "client",
        "files": {
          "terraform/environments/development/jenkins/main.tf": "22b39bab6be642af4df00909ca96c081d5b75fd8587e4866d01a71b5b944c4dd",
          "terraform/environments/development/jenkins/terraform.tfvars.json": "ccf653af90d2fc197f015a88096a54745242afd77f464429a12dc0d70a7a1e76",
          "terraform/environments/development/jenkins/variables.tf": "f702c19f80227c6282fc3f0909d835843fbcdf80b4e4a565ce0c6e2e743bc4c7",
          "terraform/modules/jenkins/d820a7146834/jenkins.nomad.hcl": "7e69aa6d15cafb661f5a3a0b89873f39fc1fdb9f2925b6957ed4430ad03ca0b6",
          "terraform/modules/jenkins/d820a7146834/main.tf": "d99c2663c22261d3cec51b2e9ff01ee0206a4eafd4801f121479dba2c4daa8b6",
          "terraform/modules/jenkins/d820a7146834/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/jenkins/d820a7146834/variables.tf": "fc41d2d11bae7f20a30b352bfa21ecb32220984bf140aafdb93b6d2b21f9ef04"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      },
      "development/platform": {
        "digest": "41be7df33e691be0ab99de376690bbc95e2cc4c52d3d2cfea47403c699afc2db",
        "token": "management",
        "files": {
          "terraform/environments/development/platform/main.tf": "89fae863ace655cdacab5501715a1520428308fce5521bccc62937de6eb1b3c5",
          "terraform/environments/development/platform/terraform.tfvars.json": "04b7776a283468fe115d7cba819e7a5323a680b18928978a3fcb2c167279b65e",
          "terraform/environments/development/platform/variables.tf": "391d4eeeb216c825ea8e31470bd522d8babb2f5cf6236991bd08a49db9b58043",
          "terraform/modules/platform/4c09b8f9a47a/main.tf": "633209d1852a200d671e5e977c22ef6e5e41c54159e56db7fd83146c04435b63",
          "terraform/modules/platform/4c09b8f9a47a/outputs.tf": "47161ba1b19970fcda7bfdfe4180ce68335bd5820b192b224c3eca96c81b4b48",
          "terraform/modules/platform/4c09b8f9a47a/variables.tf": "391d4eeeb216c825ea8e31470bd522d8babb2f5cf6236991bd08a49db9b58043"
        },
        "hosts": [],
        "secrets": []
      },
      "production/jenkins": {
        "digest": "3103bac50055a29a95fa69f63a04f23256c40e418f0787c04cabcf6027ced528",
        "token": "client",
        "files": {
          "terraform/environments/production/jenkins/main.tf": "22b39bab6be642af4df00909ca96c081d5b75fd8587e4866d01a71b5b944c4dd",
          "terraform/environments/production/jenkins/terraform.tfvars.json": "5764fefc804273833f1df8298e954e20f4064f37fa197d029f06c20bda1f716b",
          "terraform/environments/production/jenkins/variables.tf": "f702c19f80227c6282fc3f0909d835843fbcdf80b4e4a565ce0c6e2e743bc4c7",
          "terraform/modules/jenkins/d820a7146834/jenkins.nomad.hcl": "7e69aa6d15cafb661f5a3a0b89873f39fc1fdb9f2925b6957ed4430ad03ca0b6",
          "terraform/modules/jenkins/d820a7146834/main.tf": "d99c2663c22261d3cec51b2e9ff01ee0206a4eafd4801f121479dba2c4daa8b6",
          "terraform/modules/jenkins/d820a7146834/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/jenkins/d820a7146834/variables.tf": "fc41d2d11bae7f20a30b352bfa21ecb32220984bf140aafdb93b6d2b21f9ef04"
        },
        "hosts": [
          "control",
          "node1"
        ],
        "secrets": []
      },
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
      }
    }
  }
}
