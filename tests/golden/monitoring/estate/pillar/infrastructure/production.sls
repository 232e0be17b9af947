#!yaml
components:
  alertmanager:
    recipe: alertmanager
    options:
      webhook: "https://alerts.example.org/{{hook}}?a=\"b\""
  prometheus:
    recipe: prometheus
    options:
      alerting: true
      targets: ["10.0.0.2:9100", "10.0.0.3:9100"]
      retention: 30d
