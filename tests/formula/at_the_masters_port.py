"""Hands requests to a master's own port, as anybody can, or as a captured minion. Run by Salt's Python.

Takes a role, master or minion, and the settings of that one: of the master's it uses the port alone, of the minion's
the key, too. A list of requests comes as JSON on standard input; what the master says to each goes back likewise.
"""

import json
import sys

import salt.channel.client
import salt.config
import salt.crypt
import salt.exceptions

if sys.argv[1] == "master":
    settings = salt.config.master_config(sys.argv[2])
    address = f"tcp://127.0.0.1:{settings['ret_port']}"
    opened = salt.channel.client.ReqChannel.factory(settings, crypt="clear", master_uri=address)
else:
    settings = salt.config.minion_config(sys.argv[2])
    address = f"tcp://127.0.0.1:{settings['master_port']}"
    settings["master_uri"], settings["master_ip"] = address, "127.0.0.1"
    opened = salt.channel.client.ReqChannel.factory(settings)
answers = []
with opened as channel:
    for request in json.load(sys.stdin):
        if sys.argv[1] == "minion":
            request |= {"id": settings["id"], "tok": salt.crypt.SAuth(settings).gen_token(b"salt")}
        try:
            answers.append(channel.send(request, tries=1, timeout=60))
        except salt.exceptions.SaltException as error:
            answers.append(f"{type(error).__name__}: {error}")
json.dump(answers, sys.stdout, default=str)
