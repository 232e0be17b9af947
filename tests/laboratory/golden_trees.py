"""Golden trees shown to a Terraform that has their providers, and to a Nomad that has the engines which their jobs name."""

import json
import os
import subprocess
from pathlib import Path


def validate_workspaces(tree: Path, estate, place: Path) -> None:
    """Has Terraform check the form of every file, then validate every workspace in a copy of the tree."""
    terraform = os.environ["EOS_TEST_TERRAFORM"]
    environment = {**os.environ, "TF_CLI_CONFIG_FILE": str(estate.files("**/cli.tfrc")[0])}
    subprocess.run([terraform, "fmt", "-check", "-recursive", "-diff", tree], check=True, env=environment)
    subprocess.run(["cp", "-r", tree / "terraform", place], check=True)
    workspaces = sorted((place / "terraform/environments").glob("*/*"))
    assert workspaces
    for workspace in workspaces:
        subprocess.run(
            [terraform, "init", "-input=false", "-backend=false"],
            cwd=workspace,
            check=True,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        answer = subprocess.run(
            [terraform, "validate", "-json"], cwd=workspace, env=environment, stdout=subprocess.PIPE
        )
        assert json.loads(answer.stdout)["valid"], answer.stdout


def validate_jobs(tree: Path, estate) -> None:
    """Shows every job of a golden tree to Nomad's parser and validator, with the values of its environments."""
    jobs = sorted(tree.glob("terraform/modules/*/*/*.nomad.hcl"))
    assert jobs
    for job in jobs:
        component = job.name.removesuffix(".nomad.hcl")
        for values in tree.glob(f"terraform/environments/*/{component}/terraform.tfvars.json"):
            # Environments of another structure have a module of their own.
            if f"/{job.parent.name}" not in (values.parent / "main.tf").read_text():
                continue
            # The last one is looked up when Terraform runs.
            wanted = {**json.loads(values.read_text()), "secret_version": 3}
            text = job.read_text()
            variables = "".join(
                f"{name} = {json.dumps(value, ensure_ascii=False).replace('${', '$${').replace('%{', '%%{')}\n"
                for name, value in wanted.items()
                if f'variable "{name}"' in text
            )
            parsed = estate.nomad(
                "/v1/jobs/parse", "POST", {"JobHCL": text, "Variables": variables, "Canonicalize": True}
            )
            assert parsed["ID"] == component
            checked = estate.nomad("/v1/validate/job", "POST", {"Job": {**parsed, "Namespace": "default"}})
            assert not checked["ValidationErrors"], checked
