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


SECRET_VERSION = """variable "secret_version" {
  type = number
}

resource "terraform_data" "secrets" {
  input = var.secret_version
}

output "secret_version" {
  value = terraform_data.secrets.output
}
"""


def of_full(workspace: dict) -> dict:
    """The workspace as the full profile has it: with its Terraform state in Consul, and a version of its secrets."""
    files = {
        path: text.replace('backend "local" {}', 'backend "consul" {}') for path, text in workspace["files"].items()
    }
    if workspace.get("secrets"):
        main = next(path for path in files if path.startswith("terraform/environments/"))
        files[f"{pathlib.PurePath(main).parent}/secrets.tf"] = SECRET_VERSION
    return {**workspace, "files": files}


PROVIDED = f"""terraform {{
  backend "local" {{}}
  required_providers {{
    nomad = {{
      source = "{PROVIDER_SOURCE}"
    }}
  }}
}}
"""


def provided(name: str, main: str, more: dict[str, str] | None = None, **slice_fields: object) -> dict:
    """A workspace of Nomad's resources, by the provider in the mirror."""
    here = f"terraform/environments/{name}"
    files = {f"{here}/main.tf": PROVIDED + main, **{f"{here}/{file}": text for file, text in (more or {}).items()}}
    return {"files": files, **slice_fields}


def platform(environment: str) -> dict:
    """What the components of an environment share: its namespace."""
    main = f'resource "nomad_namespace" "this" {{\n  name = "{environment}"\n}}\n'
    return provided(f"{environment}/platform", main, token="management")


def job_with_volume(name: str, host: str, path: pathlib.Path) -> dict:
    """A job, and the registration of the volume it asks for (raw_exec cannot mount it, but the group needs it)."""
    environment, component = name.split("/")
    main = f"""
variable "node_ids" {{
  type = map(string)
}}

resource "nomad_dynamic_host_volume_registration" "data" {{
  name      = "data"
  namespace = "{environment}"
  node_id   = var.node_ids["{host}"]
  host_path = "{path}"
  capability {{
    access_mode     = "single-node-writer"
    attachment_mode = "file-system"
  }}
}}

resource "nomad_job" "{component}" {{
  depends_on       = [nomad_dynamic_host_volume_registration.data]
  jobspec          = file("${{path.module}}/{component}.nomad.hcl")
  purge_on_destroy = true
  detach           = false
}}
"""
    jobspec = f"""job "{component}" {{
  namespace = "{environment}"
  group "{component}" {{
    volume "data" {{
      type            = "host"
      source          = "data"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }}
    task "{component}" {{
      driver = "raw_exec"
      config {{
        command = "/bin/sleep"
        args    = ["600"]
      }}
      template {{
        data        = "{{{{ with nomadVar \\"nomad/jobs/{component}\\" }}}}{{{{ .password }}}}{{{{ end }}}}"
        destination = "secrets/password"
      }}
      resources {{
        cpu    = 50
        memory = 32
      }}
    }}
  }}
}}
"""
    secret = {"namespace": environment, "path": f"nomad/jobs/{component}", "items": ["password"]}
    return provided(name, main, {f"{component}.nomad.hcl": jobspec}, hosts=[host], secrets=[secret])


def job(
    name: str,
    greeting: str = "good day",
    *,
    count: int = 1,
    memory: int = 32,
    driver: str = "raw_exec",
    **fields: object,
) -> dict:
    """A job as Eos emits it: a fixed text, and every value by a variable. With `secrets` it has their version."""
    environment, component = name.split("/")
    declared = {"greeting": "string", "count": "number", "memory": "number"}
    values = {"greeting": greeting, "count": str(count), "memory": str(memory)}
    meta, variable = "", ""
    if fields.get("secrets"):
        declared["secret_version"], values["secret_version"] = "number", "${var.secret_version}"
        meta = "  meta = {\n    eos_secret_version = var.secret_version\n  }\n"
        variable = 'variable "secret_version" {\n  type = number\n}\n\n'
    main = f"""{variable}resource "nomad_job" "component" {{
  jobspec          = file("${{path.module}}/{component}.nomad.hcl")
  purge_on_destroy = true
  detach           = true

  hcl2 {{
    vars = jsondecode(file("${{path.module}}/values.json"))
  }}
}}
"""
    if variable:
        main = main.replace(
            'jsondecode(file("${path.module}/values.json"))',
            'merge(jsondecode(file("${path.module}/values.json")), { secret_version = tostring(var.secret_version) })',
        )
        del values["secret_version"]
    variables = "".join(f'variable "{key}" {{\n  type = {kind}\n}}\n\n' for key, kind in declared.items())
    jobspec = f"""{variables}job "{component}" {{
  namespace = "{environment}"
{meta}  group "main" {{
    count = var.count
    task "main" {{
      driver = "{driver}"
      config {{
        {"command" if driver == "raw_exec" else "image"} = "/bin/sleep"
        args    = ["600"]
      }}
      env {{
        GREETING = var.greeting
      }}
      resources {{
        cpu    = 10
        memory = var.memory
      }}
    }}
  }}
}}
"""
    more = {f"{component}.nomad.hcl": jobspec, "values.json": json.dumps(values)}
    return provided(name, main, more, **fields)
