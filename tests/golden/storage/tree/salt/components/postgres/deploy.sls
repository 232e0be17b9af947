#!json
{
  "include": [
    "components.postgres.production.volumes",
    "components.postgres.production.workspace"
  ]
}
