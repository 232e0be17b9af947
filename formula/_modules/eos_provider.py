"""Which Terraform providers this minion has, by its own settings, and what each of them is told.

Nothing here may be called over the API; `eos_terraform` and `eos_terraform_run` call it. A provider is a program that
runs as root. What is delivered only names it: the settings, the mirror and the root credential are an administrator's.
"""

from __future__ import annotations

_ENGINES = ("nomad", "consul")
_PARTS_WITH_HOST = 3


def available() -> dict[str, dict]:
    """By name: what the settings say of each provider. Those of the engines are there with their engine."""
    engines = {name: {} for name in _ENGINES if _optional(f"{name}_address")}
    own = _optional("providers") or {}
    return {**engines, **{name: facts or {} for name, facts in own.items()}}


def require(workspace: str, names: set[str]) -> None:
    """Refuses a workspace that names a provider which this minion does not have."""
    if missing := sorted(names - set(available())):
        words = f"Minion {__opts__['id']} has no Terraform provider {missing[0]}"
        hint = f"An administrator adds eos:providers:{missing[0]} to its settings: formula/README.md"
        raise __utils__["eos_failure.refusal"]("terraform", workspace, words, hint)


def require_sources(workspace: str, addresses: list[str]) -> None:
    """Refuses to run what Terraform has chosen if the settings do not name it, whatever the files call it."""
    for address in addresses:
        if not any(_is_from(address, source) for source in _sources()):
            words = f"Terraform chose the provider {address}, which the settings of minion {__opts__['id']} do not name"
            hint = "An administrator adds it below eos:providers of its settings: formula/README.md"
            raise __utils__["eos_failure.of"]("terraform", workspace, words, hint)


def environment(names: set[str], profile: object) -> dict[str, str]:
    """What Terraform is told for these providers of clouds: their credentials and endpoints, and of no other one."""
    told: dict[str, str] = {}
    table, settings = __utils__["eos_providers.table"](), available()
    for name in sorted(names & {name for name, row in table.items() if row["recipes"]}):
        row = table[name]
        credential = __salt__["eos_profile.provider_credential"](name, row["credentials"])
        # A region or an account is no secret: hidden, it would be missing wherever else it stands.
        profile.hide(*(value for key, value in credential.items() if __utils__["eos_providers.is_secret"](key)))
        told |= credential
        if endpoint := settings.get(name, {}).get("endpoint"):
            told[row["endpoint"]] = str(endpoint)
    return told


def needs_engines(names: set[str]) -> bool:
    """Whether Terraform speaks to an engine of the estate. Files without any provider are an administrator's."""
    return not names or bool(names & set(_ENGINES))


def merged(workspace: str, told: dict[str, str], of_backend: dict[str, str]) -> dict[str, str]:
    """Both, unless they would give one variable two values: a provider must not get the key to Terraform states."""
    for name in sorted(told.keys() & of_backend.keys()):
        if told[name] != of_backend[name]:
            words = f"{name} would be that of a provider and that of the Terraform backend"
            hint = "Choose another backend, or one credential for both"
            raise __utils__["eos_failure.of"]("terraform", workspace, words, hint)
    return {**told, **of_backend}


def _sources() -> list[str]:
    table = __utils__["eos_providers.table"]()
    return [facts.get("source") or table.get(name, {}).get("source", "") for name, facts in available().items()]


def _is_from(address: str, source: str) -> bool:
    """Whether an address is this source's. Without a host in the source, it is that of the settings, or any."""
    if len(source.split("/")) == _PARTS_WITH_HOST:
        return address == source
    host, _, rest = address.partition("/")
    return rest == source and host == (_optional("providers_host") or host)


def _optional(name: str) -> object:
    return __salt__["eos_profile.optional_setting"](name)
