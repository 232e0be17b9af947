#!json
{
  "include": [
    "components.gallery-probe.production.workspace"
  ]
}
