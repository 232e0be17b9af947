"""Workspaces as Eos emits them, small: they need no provider unless they say so."""

from __future__ import annotations

import json
import pathlib

from laboratory import PROVIDER_SOURCE, sha256

ROOT = """terraform {
  backend "local" {}
}

variable "greeting" {
  type = string
}

variable "node_ids" {
  type    = map(string)
  default = {}
}

module "component" {
  source   = "../../../modules/%s"
  greeting = var.greeting
}

output "greeting" {
  value = module.component.greeting
}

output "node_ids" {
  value = var.node_ids
}
"""

MODULE = """variable "greeting" {
  type = string
}

resource "terraform_data" "greeting" {
  input = var.greeting
}

output "greeting" {
  value = terraform_data.greeting.output
}
"""


def provisioned(command: str) -> str:
    """A resource whose creation runs a command."""
    return f"""
resource "terraform_data" "provisioned" {{
  provisioner "local-exec" {{
    command = {json.dumps(command)}
  }}
}}
"""


def held(by: pathlib.Path) -> str:
    """A resource whose creation lasts as long as a file is there."""
    return provisioned(f"while [ -e {by} ]; do sleep 0.1; done")


def workspace(name: str, greeting: str, more: str = "", **slice_fields: object) -> dict:
    """What `Releases.deliver` takes for one workspace."""
    environment, component = name.split("/")
    module = MODULE + more
    address = f"{component}/{sha256(module)[:16]}"
    here = f"terraform/environments/{environment}/{component}"
    files = {
        f"{here}/main.tf": ROOT % address,
        f"{here}/terraform.tfvars.json": json.dumps({"greeting": greeting}),
        f"terraform/modules/{address}/main.tf": module,
    }
    return {"files": files, **slice_fields}


def job(name: str) -> dict:
    """A workspace of one Nomad job, by the provider in the mirror."""
    environment, component = name.split("/")
    jobspec = f"""job "{component}" {{
  namespace = "{environment}"
  group "{component}" {{
    task "{component}" {{
      driver = "raw_exec"
      config {{
        command = "/bin/sleep"
        args    = ["600"]
      }}
      resources {{
        cpu    = 50
        memory = 32
      }}
    }}
  }}
}}
"""
    main = f"""terraform {{
  backend "local" {{}}
  required_providers {{
    nomad = {{
      source = "{PROVIDER_SOURCE}"
    }}
  }}
}}

resource "nomad_job" "{component}" {{
  jobspec          = file("${{path.module}}/{component}.nomad.hcl")
  purge_on_destroy = true
  detach           = false
}}
"""
    here = f"terraform/environments/{environment}/{component}"
    return {"files": {f"{here}/main.tf": main, f"{here}/{component}.nomad.hcl": jobspec}}
