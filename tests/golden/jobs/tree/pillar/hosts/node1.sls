#!json
{
  "eos": {
    "estate": {
      "host": {
        "address": "10.0.0.2",
        "roles": [
          "client",
          "storage"
        ],
        "datacenter": "dc1"
      }
    },
    "volumes": {}
  }
}
