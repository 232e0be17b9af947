"""The stores that keep Terraform states in these tests: moto, which speaks S3, and Azurite, which has Azure's blobs."""

from __future__ import annotations

import json
import pathlib
import socket
import urllib.request

from laboratory import Processes, free_port, wait_until

CREDENTIAL = {"access_key_id": "AKIDSTORE", "secret_access_key": "canary-of-the-store"}


class Moto:
    """One S3 store with one bucket."""

    def __init__(self, program: str, processes: Processes):
        port = free_port()
        self.address, self.bucket = f"http://127.0.0.1:{port}", "eos-terraform-state"
        processes.start("moto", program, "-H", "127.0.0.1", "-p", str(port))
        wait_until("moto's bucket", self._make, 60)

    def _make(self) -> bool:
        request = urllib.request.Request(f"{self.address}/{self.bucket}", method="PUT")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status == 200

    def place(self, prefix: str | None = None) -> dict:
        more = {"prefix": prefix} if prefix else {}
        return {"kind": "s3", "bucket": self.bucket, "region": "us-east-1", "endpoint": self.address, **more}

    def credential(self) -> dict:
        return {"backend": "s3", "bucket": self.bucket, "endpoint": self.address, **CREDENTIAL}


class Azurite:
    """One store of blobs, with the account and key that every Azurite has."""

    account = "devstoreaccount1"
    key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

    def __init__(self, program: str, directory: pathlib.Path, processes: Processes):
        port = free_port()
        self.address = f"http://127.0.0.1:{port}/{self.account}"
        where = ("--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", directory / "blobs")
        processes.start("azurite", program, *where, "--silent", "--skipApiVersionCheck", "--disableTelemetry")
        wait_until("Azurite's port", lambda: socket.create_connection(("127.0.0.1", port), 1).close() is None, 60)

    def place(self, prefix: str | None = None) -> dict:
        more = {"prefix": prefix} if prefix else {}
        place = {"kind": "azurerm", "storage_account": self.account, "container": "states", "endpoint": self.address}
        return {**place, **more}

    def credential(self) -> dict:
        return {"access_key": self.key}


def grant(credentials: pathlib.Path, *entries: dict):
    """Adds to the control minion's root credential what its stores need."""
    known = json.loads(credentials.read_text())
    credentials.write_text(json.dumps({**known, "backends": list(entries)}))
