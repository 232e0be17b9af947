#!json
{
  "include": [
    "components.edge.production.workspace"
  ]
}
