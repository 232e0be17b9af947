#!json
{
  "include": [
    "components.mattermost-database.production.volumes",
    "components.mattermost-database.staging.volumes",
    "components.mattermost-database.production.workspace",
    "components.mattermost-database.staging.workspace"
  ]
}
