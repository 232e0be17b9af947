#!yaml
hosts:
    control:
        address: 127.0.0.1
        roles:
        - client
        - control
    other: {address: "::1", roles: [client,
      "control"  # in brackets
      ], volumes_below: /srv}
