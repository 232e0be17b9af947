#!json
{
  "include": [
    "components.gallery.production.volumes",
    "components.gallery.production.workspace"
  ]
}
