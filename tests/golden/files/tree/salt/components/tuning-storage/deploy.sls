#!json
{
  "include": [
    "components.tuning-storage.production.files"
  ]
}
