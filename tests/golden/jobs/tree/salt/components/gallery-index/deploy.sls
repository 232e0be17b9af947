#!json
{
  "include": [
    "components.gallery-index.production.workspace"
  ]
}
