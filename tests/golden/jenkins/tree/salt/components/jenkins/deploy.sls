#!json
{
  "include": [
    "components.jenkins.development.volumes",
    "components.jenkins.development.workspace",
    "components.jenkins.production.workspace"
  ]
}
