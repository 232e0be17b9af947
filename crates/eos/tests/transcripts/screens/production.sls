#!yaml
components:
  customer-relationship-dashboard: {recipe: hello}
  documentation-mirror-of-partners: {recipe: hello}
  greeting-service-of-the-winter-campaign: {recipe: hello}
  hello: {recipe: hello}
  hi: {recipe: hello}
  image-thumbnail-worker: {recipe: hello}
  internal-status-page-for-operators: {recipe: hello, options: {greeting: Hello}}
  payments-reconciliation-service: {recipe: grafana-of-the-analytics-team}
  public-website-frontpage: {recipe: hello}
  search-index-updater-for-archive: {recipe: hello}
  search-index-updater-for-shop: {recipe: hello}
  shop: {recipe: hello}
