#!json
{
  "eos": {
    "volumes": {},
    "workspaces": {
      "production/hello": {
        "digest": "42da66e4b755d1578fca38466d686fabe25c9aa3b99a8552e9b221bdcff89a4c",
        "risk": "low",
        "token": "client",
        "files": {
          "terraform/environments/production/hello/main.tf": "32bcf4451049d5c96b2bdb9749da9525cbe68813bcc5709d2c2181eb05f8dc63",
          "terraform/environments/production/hello/terraform.tfvars.json": "9ea51075fa7bf8862865862dcc583514ae186f1496458b4f50a8ce2ef1f7318d",
          "terraform/environments/production/hello/variables.tf": "dde938b1222557bc9d84f0f4fad548e2178dcd9eb8ff6338c836931b23937cb8",
          "terraform/modules/hello/1862c6399327/hello.nomad.hcl": "8ee6dac7ee33335b61db3d9c0a334eddad1b4fbca05c4dae975c085790b2cb63",
          "terraform/modules/hello/1862c6399327/main.tf": "bf3f0658109480d567e3ff6fece4c59d22fbf03d48696e5738c4dd3990193644",
          "terraform/modules/hello/1862c6399327/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hello/1862c6399327/variables.tf": "63ce008c1999428a99b5cdc47381acdfd0b045c304429a5bd7af71980b62c05b"
        },
        "hosts": [],
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
