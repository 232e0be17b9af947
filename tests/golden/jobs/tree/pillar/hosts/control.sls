#!json
{
  "eos": {
    "estate": {
      "host": {
        "address": "10.0.0.1",
        "roles": [
          "client",
          "control"
        ],
        "datacenter": "dc1"
      },
      "components": {
        "production/gallery": {
          "recipe": "gallery",
          "version": "5",
          "volumes": {
            "data": {
              "size": "1 GiB",
              "filesystem": "directory"
            }
          }
        },
        "production/gallery-index": {
          "recipe": "gallery",
          "version": "5",
          "owner": "gallery"
        },
        "production/gallery-probe": {
          "recipe": "gallery",
          "version": "5",
          "owner": "gallery"
        },
        "production/gallery-thumbnails": {
          "recipe": "gallery",
          "version": "5",
          "owner": "gallery"
        }
      }
    },
    "volumes": {
      "production/gallery/data": {
        "path": "/opt/gallery/data",
        "user": "33",
        "group": "33",
        "mode": "0750",
        "durability": "redundant",
        "risk": "medium"
      }
    },
    "workspaces": {
      "production/gallery": {
        "digest": "34e699c2d66851ecf7e13ec91299e8a745d18fe5d3c7713b3f182a8eb952b297",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/gallery/main.tf": "defd889df19faf7ab73df7be4348dd78d69479f931f828a38dd70d596231c710",
          "terraform/environments/production/gallery/outputs.tf": "8c70f093381c8e5c66a9862bdb051fb88254a074d5153d6addf8614bb45234a5",
          "terraform/environments/production/gallery/terraform.tfvars.json": "51cf4e1c91b3e307f6433004f5d2f511e0ebb501d241a2cee4a726b26a4cd865",
          "terraform/environments/production/gallery/variables.tf": "983c324a81a84d9275c8a87f16b36d7fa7eac7e500077e0eb4f89bd9d8258a5d",
          "terraform/modules/gallery/351ec81adbed/gallery.nomad.hcl": "9bc7d1b45a9941ed88ddf3d9d2bc65f7d103f89e3fd1193a35ccf0e02d45f9bc",
          "terraform/modules/gallery/351ec81adbed/main.tf": "c8ab675b05b9cae6b01d0782c8ec0bc9943362cc5bdbc780554a323ac4b1eb0f",
          "terraform/modules/gallery/351ec81adbed/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/gallery/351ec81adbed/recipe_outputs.tf": "b8e42eb2e17f85554e37474d25b0e8dbef02377ff20550c72a16ea9c4e2c192e",
          "terraform/modules/gallery/351ec81adbed/variables.tf": "64f2d320d1318c4a7e26e81e3b4cec3c7b5d9708e679fc7ccdf45a2c8db8caf0"
        },
        "hosts": [
          "control"
        ],
        "secrets": [],
        "service": "gallery"
      },
      "production/gallery-index": {
        "digest": "922f5d357a8beb8879b8be67cc8f3e85dfe5b0c1c66d9b24eebc279b44d1f69d",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/gallery-index/main.tf": "d5db336c90cd81d3049ad5b61d6e3b6002f1124e331091170354d935694e94c4",
          "terraform/environments/production/gallery-index/terraform.tfvars.json": "9977eb94aa6bc09524e0770804869ed5618c4899e7eb7fb97d60d1de62ea01a9",
          "terraform/environments/production/gallery-index/variables.tf": "a84cf0bff133d82cb5d78051c75b64be18b8d9e785b2ba29ed1edd1b0389cc52",
          "terraform/modules/gallery-index/87586d844a05/gallery-index.nomad.hcl": "3de0e36dc23b2c9b1d88e236f75ac825ce2ddf9f98cfbf86ed0ea2a0e822d89f",
          "terraform/modules/gallery-index/87586d844a05/main.tf": "33c7320f89fa771479eb27be9c962005a2e6e62d2ca7b46db5e52e99de64876f",
          "terraform/modules/gallery-index/87586d844a05/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/gallery-index/87586d844a05/variables.tf": "57d8ddd347e5fe3587be9a180566c2057231caecd99f98be3535eebdcf2cd453"
        },
        "hosts": [],
        "secrets": [],
        "schedule": "once"
      },
      "production/gallery-probe": {
        "digest": "8c22368ae1d0705d2517607554a15e1fcfb7545bfec428b4b4aa3f2df95e51dc",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/gallery-probe/main.tf": "d71fcffe0343e7de2d4fea31cdba39fb3cb4df0b18d5257818fabbe2283cbd25",
          "terraform/environments/production/gallery-probe/terraform.tfvars.json": "bdd057c3dccaca4a023f2d9762ae42f36439ea41141cadb4e09ad725dbb4a066",
          "terraform/environments/production/gallery-probe/variables.tf": "35662093f95ae70b813fd7880d5d8e1b452ffb0fb2d4fc5a4386b8c7cc396d8e",
          "terraform/modules/gallery-probe/4dc5989b90b5/gallery-probe.nomad.hcl": "a350edecba17284eed36c1c61f6ed67a00487f5537d419446ca5ca53d478ad93",
          "terraform/modules/gallery-probe/4dc5989b90b5/main.tf": "75799140a0e99a0f8cbb561a5b8f11444c8c0f35bfa3b46356482ff9e0a229e1",
          "terraform/modules/gallery-probe/4dc5989b90b5/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/gallery-probe/4dc5989b90b5/variables.tf": "0ab008c90f13665e0ff1de26c2827193172529d088759d0b84eb74b6026f4f6f"
        },
        "hosts": [],
        "secrets": []
      },
      "production/gallery-thumbnails": {
        "digest": "056f08232c7435d0482a56b4c8abe60daebbace6975353ace7d455cee907d3e7",
        "risk": "medium",
        "token": "client",
        "files": {
          "terraform/environments/production/gallery-thumbnails/main.tf": "27388a290e49e79a33782d3c2a845ea9808acab4770dbc754e7b5252d5f73c3b",
          "terraform/environments/production/gallery-thumbnails/terraform.tfvars.json": "89c6694704796eee856abe45aa6b783417e68ae496e73be27cba6309fd8d3cfa",
          "terraform/environments/production/gallery-thumbnails/variables.tf": "f402bbb44249774d101123d74fdb9770d24ceb4f260a04c6894f0445ec613a36",
          "terraform/modules/gallery-thumbnails/95e757010637/gallery-thumbnails.nomad.hcl": "1dcf66b1c3f3c0c5ddb128cf27f884e979b49d418784575ff94fd3df47da1556",
          "terraform/modules/gallery-thumbnails/95e757010637/main.tf": "b5bd7abc4eeef6bd11cbb1fc0355360b0316734b6cd0ffd22b28fdf5193a59b5",
          "terraform/modules/gallery-thumbnails/95e757010637/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/gallery-thumbnails/95e757010637/variables.tf": "4bbc9052943663563c8b5e2051568b3b903784b7469815ec1b25443ce9140c7e"
        },
        "hosts": [],
        "secrets": [],
        "schedule": "runs"
      },
      "production/platform": {
        "digest": "587a1c36acfe66f0c2483ae82a5b2366d4d731a845a47d7531d95e09450ff064",
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
