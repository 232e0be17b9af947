#!json
{
  "production/tuning-storage/etc/sysctl.d/60-tuning-storage.conf": {
    "eos_file.managed": [
      {
        "name": "/etc/sysctl.d/60-tuning-storage.conf"
      },
      {
        "part": "production/tuning-storage/etc/sysctl.d/60-tuning-storage.conf"
      },
      {
        "text": "vm.swappiness = 10\n"
      },
      {
        "user": "root"
      },
      {
        "group": "root"
      },
      {
        "mode": "0644"
      }
    ]
  },
  "production/tuning-storage/etc/tuning-storage.hosts": {
    "eos_file.managed": [
      {
        "name": "/etc/tuning-storage.hosts"
      },
      {
        "part": "production/tuning-storage/etc/tuning-storage.hosts"
      },
      {
        "text": "\n127.0.0.1 one.example\n\n127.0.0.1 two.example\n\n"
      },
      {
        "user": "root"
      },
      {
        "group": "root"
      },
      {
        "mode": "0644"
      }
    ]
  }
}
