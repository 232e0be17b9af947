#!json
{
  "base": {
    "control": [
      "hosts.control"
    ]
  }
}
