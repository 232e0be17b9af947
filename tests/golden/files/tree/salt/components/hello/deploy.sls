#!json
{
  "include": [
    "components.hello.production.workspace"
  ]
}
