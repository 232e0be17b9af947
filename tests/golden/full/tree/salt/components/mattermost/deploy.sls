#!json
{
  "include": [
    "components.mattermost.production.volumes",
    "components.mattermost.staging.volumes",
    "components.mattermost.production.workspace",
    "components.mattermost.staging.workspace"
  ]
}
