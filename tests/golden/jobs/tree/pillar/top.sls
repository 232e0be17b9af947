#!json
{
  "base": {
    "control": [
      "hosts.control"
    ],
    "node1": [
      "hosts.node1"
    ]
  }
}
