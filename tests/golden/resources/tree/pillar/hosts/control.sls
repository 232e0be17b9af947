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
        "production/edge": {
          "recipe": "edge",
          "version": "1.0",
          "options": {
            "ports": [
              "22",
              "443"
            ]
          }
        }
      }
    },
    "volumes": {},
    "workspaces": {
      "production/edge": {
        "digest": "24f00037f20b8aef520354fdd9f80e2a9996b96443d693a37f19d946a682ce49",
        "risk": "high",
        "token": "client",
        "files": {
          "terraform/environments/production/edge/main.tf": "14ddefc32cc4fc27e6e4dabad40ea0451489bde22901abe6750abae483325ac9",
          "terraform/environments/production/edge/terraform.tfvars.json": "30e2420bb603564a38850e44fea2e1c82c398e18b91844610f2b10b867b9713f",
          "terraform/environments/production/edge/variables.tf": "19aa92ef1af96430cc713a06a80652d04aa223f26d695acdeaf7b453962167ab",
          "terraform/modules/edge/a58ed2f1f8a4/main.tf": "e8fbfba260540e51b4a7973986504c5c116071991ee3c2916b79754edf902b7f",
          "terraform/modules/edge/a58ed2f1f8a4/resources.tf.json": "d88c4606785ce823770c0a2d802e9698162a85093d3423173cb17b9c7e39d572",
          "terraform/modules/edge/a58ed2f1f8a4/variables.tf": "06b9ed7391e40f2502e83c8b73bbdea9efed1e86cbf4c0a7d7fe5f028b6bb691"
        },
        "hosts": [],
        "secrets": []
      }
    }
  }
}
