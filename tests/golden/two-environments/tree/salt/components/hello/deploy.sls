#!json
{
  "include": [
    "components.hello.production.workspace",
    "components.hello.staging.workspace"
  ]
}
