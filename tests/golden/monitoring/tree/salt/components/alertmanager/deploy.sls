#!json
{
  "include": [
    "components.alertmanager.production.volumes",
    "components.alertmanager.production.workspace"
  ]
}
