"""A relay between Eos and an engine: records every request, and can make the engine's clock seem wrong."""

import datetime
import email.utils
import json
import ssl
import threading
import urllib.error
import urllib.request
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from estates import Estate

# Of the connection, not of the answer; and what this server writes itself.
NOT_PASSED_ON = {"connection", "transfer-encoding", "content-length", "date", "server", "host", "accept-encoding"}


class Between:
    def __init__(self, target: dict):
        self.target = target["address"]
        self.trust = ssl.create_default_context(cafile=target["certificate"])
        self.requests: Counter = Counter()
        self.ahead = datetime.timedelta()
        between = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self):
                between.requests[f"{self.command} {self.path.partition('?')[0]}"] += 1
                length = int(self.headers.get("Content-Length") or 0)
                headers = {name: value for name, value in self.headers.items() if name.lower() not in NOT_PASSED_ON}
                request = urllib.request.Request(
                    between.target + self.path,
                    method=self.command,
                    data=self.rfile.read(length) if length else None,
                    headers=headers,
                )
                try:
                    answer = urllib.request.urlopen(request, timeout=30, context=between.trust)
                except urllib.error.HTTPError as error:
                    answer = error
                body = answer.read()
                self.send_response_only(answer.status)
                now = datetime.datetime.now(datetime.UTC) + between.ahead
                self.send_header("Date", email.utils.format_datetime(now, usegmt=True))
                for name, value in answer.headers.items():
                    if name.lower() not in NOT_PASSED_ON:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_PUT = do_POST = do_DELETE = pass_on

            def log_message(self, *words):
                """Nobody reads it."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@contextmanager
def between(estate: Estate, engine: str):
    """Eos speaks to this engine of the lab through what is given, as long as that lasts."""
    file = estate.lab / "endpoints.json"
    before = file.read_text()
    endpoints = json.loads(before)
    stands = Between(endpoints[engine])
    endpoints[engine]["address"] = stands.address
    file.write_text(json.dumps(endpoints))
    try:
        yield stands
    finally:
        file.write_text(before)
        stands.server.shutdown()
