"""Does by hand what Eos does for one component, as an expert would script it: the bound for Eos.

It takes the tree that Eos emitted. Before anything runs it validates platform and component: `terraform init`, `validate`
and `plan` of both, then Nomad's validator and plan of the job. Then it applies what it planned. It waits until Nomad calls the deployment healthy, and reads back job, allocations, checks, service and Terraform state.
It knows nothing of Salt: no lock, no journal, no delivery, no rollback.
"""

import argparse
import json
import os
import shutil
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

PLATFORM = "platform"
PATIENCE = 120
LOOK = 0.2


class Nomad:
    def __init__(self, options: argparse.Namespace):
        self.address, self.namespace = options.nomad, options.environment
        self.token = options.token_file.read_text().strip()
        self.trust = ssl.create_default_context(cafile=options.authority)

    def get(self, path: str):
        """The answer, or nothing where Nomad says 404."""
        try:
            return self.ask(f"{path}?namespace={self.namespace}")
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    def ask(self, path: str, body: dict | None = None):
        request = urllib.request.Request(
            f"{self.address}/v1/{path}",
            None if body is None else json.dumps(body).encode(),
            headers={"X-Nomad-Token": self.token},
        )
        with urllib.request.urlopen(request, timeout=20, context=self.trust) as answer:
            return json.load(answer)

    def validate(self, jobspec: str, variables: dict[str, str]) -> None:
        """What `nomad job validate` and `nomad job plan` say; a namespace that is still to come is replaced."""
        literals = {name: json.dumps(value).replace("${", "$${") for name, value in variables.items()}
        file = "".join(f"{name} = {literal}\n" for name, literal in literals.items())
        job = self.ask("jobs/parse", {"JobHCL": jobspec, "Variables": file, "Canonicalize": True})
        if self.get(f"namespace/{self.namespace}") is None:
            job["Namespace"] = "default"
        where = f"namespace={job['Namespace']}"
        if wrong := self.ask(f"validate/job?{where}", {"Job": job})["ValidationErrors"]:
            sys.exit(f"error: Nomad refuses {job['ID']}: {wrong}")
        self.ask(f"job/{job['ID']}/plan?{where}", {"Job": job, "Diff": True})

    def allocations(self, job: str, *statuses: str) -> list[dict]:
        found = self.get(f"job/{job}/allocations") or []
        return [one for one in found if one["ClientStatus"] in statuses]


class Workspace:
    """One workspace of Terraform: the emitted configuration, with its data and state elsewhere."""

    def __init__(self, options: argparse.Namespace, component: str):
        self.terraform_program = options.terraform
        self.configuration = options.tree / "environments" / options.environment / component
        self.directory = options.workspaces / options.environment / component
        self.state = self.directory / "terraform.tfstate"
        self.environment = {
            **os.environ,
            "TF_CLI_CONFIG_FILE": str(options.cli_config),
            "TF_DATA_DIR": str(self.directory / "data"),
            "TF_IN_AUTOMATION": "1",
            "CHECKPOINT_DISABLE": "1",
            # The outputs of the workspace speak of no place.
            "TF_VAR_registered": "null",
            "NOMAD_ADDR": options.nomad,
            "NOMAD_CACERT": str(options.authority),
            "NOMAD_TOKEN": options.token_file.read_text().strip(),
        }

    @property
    def planned(self) -> Path:
        return self.directory / "plan"

    def terraform(self, *words: str) -> str:
        command = [self.terraform_program, f"-chdir={self.configuration}", *words]
        ran = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if ran.returncode:
            sys.exit(f"error: terraform {words[0]} of {self.configuration} failed\n{ran.stdout}")
        return ran.stdout

    def plan(self, *options: str) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        self.terraform("init", "-input=false", "-reconfigure", f"-backend-config=path={self.state}")
        self.terraform("validate")
        self.terraform("plan", "-input=false", f"-out={self.planned}", *options)

    def job(self) -> tuple[str, dict[str, str]]:
        """Text and variables of the job that the plan would register."""
        changes = json.loads(self.terraform("show", "-json", str(self.planned)))["resource_changes"]
        (job,) = [change["change"]["after"] for change in changes if change["type"] == "nomad_job"]
        return job["jobspec"], job["hcl2"][0]["vars"]

    def apply(self) -> None:
        self.terraform("apply", "-input=false", str(self.planned))
        self.planned.unlink()

    def resources(self) -> int:
        return len(json.loads(self.state.read_text())["resources"])

    def destroy(self) -> None:
        self.plan("-destroy")
        self.apply()
        if self.resources():
            sys.exit(f"error: {self.state} still has resources")
        shutil.rmtree(self.directory)


def wait_until(holds, what: str) -> None:
    ends = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > ends:
            sys.exit(f"error: not within {PATIENCE} s: {what}")
        time.sleep(LOOK)


def is_healthy(nomad: Nomad, job: str) -> bool:
    """Nomad runs the newest version in full: deployment, allocations, checks, and the registration of the service."""
    deployment, wanted = nomad.get(f"job/{job}/deployment"), nomad.get(f"job/{job}")
    if not deployment or (deployment["JobVersion"], deployment["Status"]) != (wanted["Version"], "successful"):
        return False
    running = [one for one in nomad.allocations(job, "running") if one["JobVersion"] == wanted["Version"]]
    checks = [check for one in running for check in nomad.get(f"client/allocation/{one['ID']}/checks").values()]
    registered = {one["AllocID"] for name in services_of(wanted) for one in nomad.get(f"service/{name}") or []}
    count = sum(group["Count"] for group in wanted["TaskGroups"])
    is_registered = all(one["ID"] in registered for one in running)
    return len(running) == count and is_registered and all(check["Status"] == "success" for check in checks)


def services_of(job: dict) -> list[str]:
    return [service["Name"] for group in job["TaskGroups"] for service in group["Services"] or []]


def is_gone(nomad: Nomad, job: str, services: list[str]) -> bool:
    left = nomad.get(f"job/{job}") or nomad.allocations(job, "running", "pending")
    return not left and not any(nomad.get(f"service/{name}") for name in services)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=["create", "update", "delete"])
    parser.add_argument("component")
    parser.add_argument("--environment", default="production")
    parser.add_argument("--tree", type=Path, required=True, help="the directory `terraform` of a compiled estate")
    parser.add_argument("--workspaces", type=Path, required=True, help="where data and Terraform states lie")
    parser.add_argument("--terraform", default="terraform")
    parser.add_argument("--cli-config", type=Path, required=True)
    parser.add_argument("--nomad", required=True, help="Nomad's address")
    parser.add_argument("--authority", type=Path, required=True, help="of the certificate that Nomad shows")
    parser.add_argument("--token-file", type=Path, required=True)
    options = parser.parse_args()
    nomad = Nomad(options)
    platform, component = Workspace(options, PLATFORM), Workspace(options, options.component)
    if options.verb == "delete":
        services = services_of(nomad.get(f"job/{options.component}"))
        component.destroy()
        wait_until(lambda: is_gone(nomad, options.component, services), f"{options.component} is gone")
        platform.destroy()
        return
    if options.verb == "create":
        platform.plan()
    component.plan()
    nomad.validate(*component.job())
    if options.verb == "create":
        platform.apply()
        if not platform.resources() or nomad.get(f"namespace/{options.environment}") is None:
            sys.exit("error: the namespace is not there")
    component.apply()
    wait_until(lambda: is_healthy(nomad, options.component), f"{options.component} is healthy")
    if not component.resources():
        sys.exit(f"error: {component.state} has no resources")


if __name__ == "__main__":
    main()
