#!json
{
  "include": [
    "components.redis.production.volumes",
    "components.redis.production.workspace"
  ]
}
