#!json
{
  "eos": {
    "files": {
      "production/tuning-storage/etc/sysctl.d/60-tuning-storage.conf": {
        "path": "/etc/sysctl.d/60-tuning-storage.conf",
        "text": "vm.swappiness = 10\n",
        "user": "root",
        "group": "root",
        "mode": "0644",
        "risk": "high"
      },
      "production/tuning-storage/etc/tuning-storage.hosts": {
        "path": "/etc/tuning-storage.hosts",
        "text": "\n127.0.0.1 one.example\n\n127.0.0.1 two.example\n\n",
        "user": "root",
        "group": "root",
        "mode": "0644",
        "risk": "high"
      }
    },
    "volumes": {}
  }
}
