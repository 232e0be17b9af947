#!json
{
  "production/tuning/etc/sysctl.d/60-tuning.conf": {
    "eos_file.managed": [
      {
        "name": "/etc/sysctl.d/60-tuning.conf"
      },
      {
        "part": "production/tuning/etc/sysctl.d/60-tuning.conf"
      },
      {
        "text": "vm.swappiness = 1\n"
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
  "production/tuning/etc/motd.d/tuning": {
    "eos_file.managed": [
      {
        "name": "/etc/motd.d/tuning"
      },
      {
        "part": "production/tuning/etc/motd.d/tuning"
      },
      {
        "text": "Tuned \"by\" {{ Eos }}, ümläut"
      },
      {
        "user": "root"
      },
      {
        "group": "4"
      },
      {
        "mode": "0640"
      }
    ]
  }
}
