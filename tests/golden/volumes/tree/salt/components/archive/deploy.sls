#!json
{
  "include": [
    "components.archive.production.volumes"
  ]
}
