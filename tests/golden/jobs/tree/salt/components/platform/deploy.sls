#!json
{
  "include": [
    "components.platform.production.workspace"
  ]
}
