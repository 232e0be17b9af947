"""Fixtures: the formula's modules as plain Python, and one laboratory of real engines for the whole session."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import pathlib
import shutil
import sys
import tempfile
import types

import pytest

from laboratory import (
    FORMULA,
    MINION,
    PROVIDER_SOURCE,
    ROLES,
    Consul,
    Nomad,
    Processes,
    Releases,
    Salt,
    Vault,
    made,
    required,
)

# What `load` gives every module as `__utils__`.
USED = ("eos_argument", "eos_digest", "eos_directory", "eos_disk", "eos_failure", "eos_process", "eos_release")


@pytest.fixture(scope="session")
def salt_python():
    """Makes Salt's own packages importable, as they are where Salt loads the formula."""
    (venv,) = required("EOS_TEST_SALT")
    packages = next(pathlib.Path(venv).glob("lib/python3*/site-packages"))
    sys.path.append(str(packages))
    # The formula's folder is shipped as it is.
    sys.dont_write_bytecode = True


@pytest.fixture
def load(salt_python, tmp_path):
    """Loads a file of the formula the way Salt does: with its globals, in a module of its own."""

    def load_module(path: str, **salt_globals: object) -> types.ModuleType:
        specification = importlib.util.spec_from_file_location(path.replace("/", "_")[:-3], FORMULA / path)
        module = importlib.util.module_from_spec(specification)
        module.__opts__ = {"id": MINION, "cachedir": str(tmp_path), "test": False, "eos": {"roles": ROLES}}
        module.__context__, module.__pillar__, module.__salt__, module.__utils__ = {}, {}, {}, {}
        if path.startswith("_modules/"):
            for name in USED:
                used = load_module(f"_utils/{name}.py")
                module.__utils__ |= {f"{name}.{function}": getattr(used, function) for function in dir(used)}
        for name, value in salt_globals.items():
            setattr(module, f"__{name}__", value)
        specification.loader.exec_module(module)
        return module

    return load_module


class Laboratory:
    """The engines, what is delivered to them, and a Terraform that counts its runs."""

    def __init__(self, directory: pathlib.Path, venv: str, nomad: str, terraform: str):
        self.directory = directory
        self.processes = Processes(directory / "log")
        self.root = directory / "terraform"
        self.credentials = directory / "credentials.json"
        self.runs_file = directory / "terraform.runs"
        self.tokens_file = directory / "terraform.tokens"
        self.environment_file = directory / "terraform.environment"
        self.hold = directory / "hold-terraform"
        try:
            self.nomad = Nomad(nomad, directory / "nomad", self.processes)
            settings = {
                "terraform": str(self._counting(terraform)),
                "terraform_root": str(self.root),
                "terraform_cli_config": str(self._cli_config()),
                "nomad_address": self.nomad.address,
                "credentials": str(self.credentials),
                "volumes_below": [str(directory)],
                # The tests' own mirror has it under another name.
                "providers": {"nomad": {"source": PROVIDER_SOURCE}},
                **self.start_more(),
            }
            self.salt = Salt(venv, directory, self.processes, {"roles": ROLES, **settings})
            self.releases = Releases(self.salt.srv)
            self.releases.deliver({})
            self.salt.up()
            self.salt.bring_formula()
        except BaseException:
            self.processes.stop_all()
            raise

    def start_more(self) -> dict[str, str]:
        """What the profile has beside Nomad; answers the minion settings of it."""
        self.write_credentials({"nomad_token": self.nomad.token})
        return {}

    def write_credentials(self, credential: dict[str, str]):
        self.credentials.touch(mode=0o600)
        self.credentials.write_text(json.dumps(credential))

    def _counting(self, terraform: str) -> pathlib.Path:
        wrapper = self.directory / "counting-terraform"
        wrapper.write_text(
            f'#!/bin/sh\necho "$1" >> {self.runs_file}\n'
            f'echo "$NOMAD_TOKEN" "$CONSUL_HTTP_TOKEN" >> {self.tokens_file}\n'
            f'env | cut -d= -f1 | sort > {self.environment_file}\nexec {terraform} "$@"\n'
        )
        wrapper.chmod(0o755)
        return wrapper

    def _cli_config(self) -> pathlib.Path:
        mirror = self.directory / "mirror"
        if provider := os.environ.get("EOS_TEST_PROVIDER"):
            target = mirror / PROVIDER_SOURCE / "0.1.0" / "linux_amd64"
            target.mkdir(parents=True)
            shutil.copy(provider, target / "terraform-provider-nomad_v0.1.0")
        mirror.mkdir(exist_ok=True)
        path = self.directory / "cli.tfrc"
        path.write_text(
            f'provider_installation {{\n  filesystem_mirror {{\n    path    = "{mirror}"\n'
            '    include = ["*/*/*"]\n  }\n}\n'
        )
        return path

    def runs(self) -> list[str]:
        return self.runs_file.read_text().split() if self.runs_file.exists() else []

    def workspace(self, name: str) -> pathlib.Path:
        return self.root / name

    def run_step(self, operation: str, step: str, sls: str, release: str) -> dict:
        """The whole answer to a call for a piece as it is in a release, whichever is served."""
        digest = self.releases.digest(release, sls)
        return self.salt.call("eos.make", operation=operation, step=step, **made(sls, digest))

    def preview(self, plan: str, function: str, arguments: dict, *unknown: str) -> dict:
        call = {"plan": plan, "function": function, "arguments": arguments, "unknown": list(unknown)}
        return self.salt.record("eos.preview", **call)

    def preview_step(self, plan: str, sls: str, *unknown: str) -> dict:
        return self.preview(plan, "eos.make", made(sls, self.releases.digest(plan, sls)), *unknown)

    def preview_workspace(self, plan: str, name: str, *unknown: str) -> dict:
        environment, component = name.split("/")
        return self.preview_step(plan, f"components.{component}.{environment}.workspace", *unknown)

    def run_workspace(self, operation: str, name: str, release: str) -> dict:
        environment, component = name.split("/")
        answer = self.run_step(operation, "workspace", f"components.{component}.{environment}.workspace", release)
        assert isinstance(answer["ret"], dict), answer
        return answer["ret"]


class FullLaboratory(Laboratory):
    """The same with Consul and Vault, which hold the Terraform state, the locks and the secrets."""

    def __init__(self, directory: pathlib.Path, venv: str, nomad: str, terraform: str, *more: str):
        self.more = more
        super().__init__(directory, venv, nomad, terraform)

    def start_more(self) -> dict[str, str]:
        consul, vault, plugins = self.more
        self.consul = Consul(consul, self.directory / "consul", self.processes)
        self.vault = Vault(vault, plugins, self.directory / "vault", self.processes, self.nomad, self.consul)
        self.write_credentials(self.vault.credential())
        return {"vault_address": self.vault.address, "consul_address": self.consul.address}

    def run_locked(self, operation: str, name: str, release: str) -> dict:
        with self.consul.locked(name, operation):
            return self.run_workspace(operation, name, release)


@contextlib.contextmanager
def _running(kind: type[Laboratory], *programs: str):
    engines = required("EOS_TEST_SALT", "EOS_TEST_NOMAD", "EOS_TEST_TERRAFORM", *programs)
    # Short, because the path of a socket may have no more than 107 bytes.
    directory = pathlib.Path(tempfile.mkdtemp(prefix="eos-formula-", dir="/tmp"))
    lab = kind(directory, *engines)
    try:
        yield lab
    finally:
        lab.processes.stop_all()
    if not os.environ.get("EOS_TEST_KEEP"):
        shutil.rmtree(directory)


@pytest.fixture(scope="session")
def laboratory():
    with _running(Laboratory) as lab:
        yield lab


@pytest.fixture(scope="module")
def full():
    with _running(FullLaboratory, "EOS_TEST_CONSUL", "EOS_TEST_VAULT", "EOS_TEST_VAULT_PLUGINS") as lab:
        yield lab
