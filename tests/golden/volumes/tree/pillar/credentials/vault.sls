#!json
{
  "secrets": {}
}
