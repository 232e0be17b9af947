"""The jobs of golden trees, for a Nomad that has the engines which they name."""

import json
from pathlib import Path


def validate_jobs(tree: Path, estate) -> None:
    """Shows every job of a golden tree to Nomad's parser and validator, with the values of its environments."""
    jobs = sorted(tree.glob("terraform/modules/*/*/*.nomad.hcl"))
    assert jobs
    for job in jobs:
        component = job.name.removesuffix(".nomad.hcl")
        for values in tree.glob(f"terraform/environments/*/{component}/terraform.tfvars.json"):
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
