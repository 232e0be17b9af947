#!json
{
  "eos": {
    "volumes": {},
    "workspaces": {}
  }
}
