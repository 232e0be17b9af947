#!json
{
  "include": [
    "components.gallery-thumbnails.production.workspace"
  ]
}
