"""Writes every event of a master's bus as a line of JSON until its standard input ends. Run by Salt's Python.

Takes the master's settings as its argument.
"""

import json
import sys
import threading

import salt.config
import salt.utils.event

settings = salt.config.master_config(sys.argv[1])
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
with salt.utils.event.get_event("master", sock_dir=settings["sock_dir"], opts=settings, listen=True) as bus:
    print("listening", flush=True)
    while not ended.is_set():
        if (event := bus.get_event(wait=1, full=True)) is not None:
            print(json.dumps(event, default=str), flush=True)
