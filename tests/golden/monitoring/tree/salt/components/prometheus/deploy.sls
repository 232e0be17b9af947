#!json
{
  "include": [
    "components.prometheus.production.volumes",
    "components.prometheus.production.workspace"
  ]
}
