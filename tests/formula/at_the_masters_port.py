"""Hands requests to a master's own port, as anybody can who has a token, without salt-api. Run by Salt's Python.

Takes the master's settings as its argument, for the port alone, and a list of requests as JSON on standard input; what
the master says to each comes back in the same way.
"""

import json
import sys

import salt.channel.client
import salt.config
import salt.exceptions

settings = salt.config.master_config(sys.argv[1])
address = f"tcp://127.0.0.1:{settings['ret_port']}"
answers = []
with salt.channel.client.ReqChannel.factory(settings, crypt="clear", master_uri=address) as channel:
    for request in json.load(sys.stdin):
        try:
            answers.append(channel.send(request, tries=1, timeout=60))
        except salt.exceptions.SaltException as error:
            answers.append(f"{type(error).__name__}: {error}")
json.dump(answers, sys.stdout, default=str)
