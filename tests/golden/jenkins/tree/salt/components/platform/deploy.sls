#!json
{
  "include": [
    "components.platform.development.workspace",
    "components.platform.production.workspace"
  ]
}
