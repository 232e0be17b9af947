#!json
{
  "include": [
    "components.files.production.volumes"
  ]
}
