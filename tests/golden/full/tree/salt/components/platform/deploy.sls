#!json
{
  "include": [
    "components.platform.production.workspace",
    "components.platform.staging.workspace"
  ]
}
