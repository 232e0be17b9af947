#!json
{
  "eos": {
    "volumes": {
      "development/jenkins/data": {
        "path": "/opt/jenkins-development/data",
        "user": "1000",
        "group": "1000",
        "mode": "0750",
        "durability": "ephemeral",
        "risk": "low"
      },
      "production/jenkins/data": {
        "path": "/opt/jenkins/data",
        "user": "1000",
        "group": "1000",
        "mode": "0750",
        "durability": "redundant",
        "risk": "low"
      }
    },
    "workspaces": {
      "development/jenkins": {
        "digest": "cda7f740e2ff82abdea6bacbbdeab00841d321a7a418127f432cb558fbc2697c",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/development/jenkins/main.tf": "2f2db063eb743a979ec7d7d21b3d7c3b18d3fafba14801e267cdac037e60cbde",
          "terraform/environments/development/jenkins/terraform.tfvars.json": "8b9cf07f9f984c39f9837865d5e9eba5594f3a8deecf726af6ea27f8a59275b6",
          "terraform/environments/development/jenkins/variables.tf": "7908209b9717f2607ff3d12374ab9ecd211dac0c3e2ed0b9956cae89eb3f1c7e",
          "terraform/modules/jenkins/9edb3af3701d/jenkins.nomad.hcl": "63fba7f474f9eb5bf7aab2107716faa20d2ce1c6f0c7f9201d84f2cc49d193e8",
          "terraform/modules/jenkins/9edb3af3701d/main.tf": "b91b4f74492411411af18000957a3940334fb3b6b3692467898232c4cc364466",
          "terraform/modules/jenkins/9edb3af3701d/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/jenkins/9edb3af3701d/variables.tf": "267d4f4817bf37c1603f1c767dbe42af65ef50733b459324a769c942095e4057"
        },
        "hosts": [
          "control"
        ],
        "secrets": []
      },
      "development/platform": {
        "digest": "648fb43dfe5884b07cf2cfec7e9a0aeae1d48b090dea909b3d5d2894432a432b",
        "risk": "low",
        "token": "management",
        "files": {
          "terraform/environments/development/platform/main.tf": "fadebbc1ffff8698aef98fd3879d463a1f6d5161000372d496693f91dfadf0dc",
          "terraform/environments/development/platform/terraform.tfvars.json": "6cc4777e0221878ddc6d85f4321187e1bfab007e41a101b5319f189d25ff8fcb",
          "terraform/environments/development/platform/variables.tf": "8febb2a0a0717314188826616bb1daeefdea47142998a9c2009e7e18a9d724cf",
          "terraform/modules/platform/d33dab82c6a1/main.tf": "633209d1852a200d671e5e977c22ef6e5e41c54159e56db7fd83146c04435b63",
          "terraform/modules/platform/d33dab82c6a1/outputs.tf": "47161ba1b19970fcda7bfdfe4180ce68335bd5820b192b224c3eca96c81b4b48",
          "terraform/modules/platform/d33dab82c6a1/variables.tf": "5706d7d66ee6db2df66c75b8f9a4f1ae81bfbedf80e97ade0773c6b247b8dece"
        },
        "hosts": [],
        "secrets": []
      },
      "production/jenkins": {
        "digest": "0ba2b666c83f71d0ba7c65f2e4fad04220b76a414814bc8053b6c6996154488f",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/jenkins/main.tf": "2f2db063eb743a979ec7d7d21b3d7c3b18d3fafba14801e267cdac037e60cbde",
          "terraform/environments/production/jenkins/terraform.tfvars.json": "8bf3f765954e749d0a4f20c9617b6568858d0baa3d6c82a8126bfe6501590999",
          "terraform/environments/production/jenkins/variables.tf": "7908209b9717f2607ff3d12374ab9ecd211dac0c3e2ed0b9956cae89eb3f1c7e",
          "terraform/modules/jenkins/9edb3af3701d/jenkins.nomad.hcl": "63fba7f474f9eb5bf7aab2107716faa20d2ce1c6f0c7f9201d84f2cc49d193e8",
          "terraform/modules/jenkins/9edb3af3701d/main.tf": "b91b4f74492411411af18000957a3940334fb3b6b3692467898232c4cc364466",
          "terraform/modules/jenkins/9edb3af3701d/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/jenkins/9edb3af3701d/variables.tf": "267d4f4817bf37c1603f1c767dbe42af65ef50733b459324a769c942095e4057"
        },
        "hosts": [
          "control",
          "node1"
        ],
        "secrets": []
      },
      "production/platform": {
        "digest": "7e1229e24dbea8af270786de56c31ae083dc90d3c4ac26e920e88c12c14ca1ad",
        "risk": "low",
        "token": "management",
        "files": {
          "terraform/environments/production/platform/main.tf": "fadebbc1ffff8698aef98fd3879d463a1f6d5161000372d496693f91dfadf0dc",
          "terraform/environments/production/platform/terraform.tfvars.json": "a3d73aeff1f40c2a6770479466a9dac51328780a00b5d9d055a7e5609767d9c2",
          "terraform/environments/production/platform/variables.tf": "8febb2a0a0717314188826616bb1daeefdea47142998a9c2009e7e18a9d724cf",
          "terraform/modules/platform/d33dab82c6a1/main.tf": "633209d1852a200d671e5e977c22ef6e5e41c54159e56db7fd83146c04435b63",
          "terraform/modules/platform/d33dab82c6a1/outputs.tf": "47161ba1b19970fcda7bfdfe4180ce68335bd5820b192b224c3eca96c81b4b48",
          "terraform/modules/platform/d33dab82c6a1/variables.tf": "5706d7d66ee6db2df66c75b8f9a4f1ae81bfbedf80e97ade0773c6b247b8dece"
        },
        "hosts": [],
        "secrets": []
      }
    }
  }
}
