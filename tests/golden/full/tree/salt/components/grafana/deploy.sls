#!json
{
  "include": [
    "components.grafana.production.volumes",
    "components.grafana.production.workspace"
  ]
}
