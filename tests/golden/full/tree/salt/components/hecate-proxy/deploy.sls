#!json
{
  "include": [
    "components.hecate-proxy.production.volumes",
    "components.hecate-proxy.production.workspace"
  ]
}
