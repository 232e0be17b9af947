"""The Terraform providers that Eos emits for: the columns of its table that this minion needs.

The table's home is `crates/eos-core/src/providers.rs`; a test of that crate compares the two. A provider is a program
that runs as root: the settings of the control minion say which of these it has, and `eos_provider` refuses the others.
"""

from __future__ import annotations

import re

# By name: where it comes from, the variables of its credentials, the variable that replaces its endpoint, and a block
# that its configuration has. None of the variables: an engine of the estate, whose tokens `eos_profile` makes.
TABLE = {
    "aws": {
        "source": "hashicorp/aws",
        "credentials": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"),
        "endpoint": "AWS_ENDPOINT_URL",
        "block": None,
        "recipes": True,
    },
    "azurerm": {
        "source": "hashicorp/azurerm",
        "credentials": ("ARM_CLIENT_ID", "ARM_CLIENT_SECRET", "ARM_SUBSCRIPTION_ID", "ARM_TENANT_ID"),
        "endpoint": "ARM_METADATA_HOSTNAME",
        "block": "features",
        "recipes": True,
    },
    "cloudflare": {
        "source": "cloudflare/cloudflare",
        "credentials": ("CLOUDFLARE_API_TOKEN",),
        "endpoint": "CLOUDFLARE_BASE_URL",
        "block": None,
        "recipes": True,
    },
    "consul": {
        "source": "hashicorp/consul",
        "credentials": ("CONSUL_HTTP_TOKEN",),
        "endpoint": "CONSUL_HTTP_ADDR",
        "block": None,
        "recipes": False,
    },
    "hcloud": {
        "source": "hetznercloud/hcloud",
        "credentials": ("HCLOUD_TOKEN",),
        "endpoint": "HCLOUD_ENDPOINT",
        "block": None,
        "recipes": True,
    },
    "nomad": {
        "source": "hashicorp/nomad",
        "credentials": ("NOMAD_TOKEN",),
        "endpoint": "NOMAD_ADDR",
        "block": None,
        "recipes": False,
    },
    "vault": {
        "source": "hashicorp/vault",
        "credentials": ("VAULT_TOKEN",),
        "endpoint": "VAULT_ADDR",
        "block": None,
        "recipes": False,
    },
}
# The variables of credentials that name something and open nothing.
_PLAIN = ("ARM_CLIENT_ID", "ARM_SUBSCRIPTION_ID", "ARM_TENANT_ID", "AWS_REGION")
_BLOCK = re.compile(r'^\s*provider\s+"([^"]+)"', re.MULTILINE)
_LOCKED = re.compile(r'^provider "([^"]+)" \{', re.MULTILINE)


def table() -> dict[str, dict]:
    return TABLE


def is_secret(variable: str) -> bool:
    return variable not in _PLAIN


def in_files(texts: list[str]) -> set[str]:
    """The providers that Terraform files set up."""
    return {name for text in texts for name in _BLOCK.findall(text)}


def locked(text: str) -> list[str]:
    """The addresses of the providers that Terraform has chosen, by its lock file."""
    return _LOCKED.findall(text)
