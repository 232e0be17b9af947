#!json
{
  "base": {
    "control": [
      "hosts.control"
    ],
    "node1": [
      "hosts.node1"
    ],
    "node2": [
      "hosts.node2"
    ]
  }
}
