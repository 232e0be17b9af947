"""The kind `workspace`: a component's Terraform workspace, on the control minion. `eos.py` says what a kind has.

Its facts are {"digest"} to apply it, none to destroy it, to `restart` what runs of its job or to `run` it now. To
`enter` a task they are {"instance", "task", "proof"}: the digest of a word that the caller alone knows.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable

import salt.fileclient
from salt.exceptions import CommandExecutionError, SaltInvocationError

# What the components of an environment share: its namespace.
_PLATFORM = "platform"
# What a plan may not know before it runs.
_UNKNOWN = ("secret_version", "namespace")
# What is done with the job as it was applied: the module and the function that does it.
_ACTS = {"restart": "eos_restart.restart", "run": "eos_runs.start"}


# The form of each fact.
_FACTS = {"make": {"digest": "digest"}, "enter": {"instance": "instance", "task": "task", "proof": "digest"}}


def check(asked: dict) -> None:
    facts, forms = asked["facts"], _FACTS.get(asked["verb"], {})
    __utils__["eos_argument.check_keys"]("facts", facts, set(forms))
    for fact, form in forms.items():
        __utils__["eos_argument.check"](fact, facts[fact], form)
    if asked["verb"] == "enter" and asked["name"] is None:
        raise SaltInvocationError("To enter a task is about a component")


def lock(environment: str, component: str) -> contextlib.AbstractContextManager:
    """Each has its own: steps of several workspaces run at the same time."""
    return __salt__["eos_terraform.lock"](environment=environment, component=component)


def wanted(asked: dict, slices: Callable[[], dict]) -> _Wanted | dict | None:
    """To apply: the slice with its files. To restart or run: the slice. To destroy: nothing; a named one is refused.

    Root's own call destroys one that it still names, too: that is how an emitted tree is taken down without Eos.
    """
    if asked["verb"] == "make":
        return _Wanted(asked, _compared(asked, slices()))
    if asked["verb"] in _ACTS or asked["verb"] == "enter":
        return _named(asked, slices())
    # What the pillar names has an SLS in the same release: to ask for that is ten times faster than a pillar.
    sls = f"components/{asked['component']}/{asked['environment']}/workspace.sls"
    if not asked["who"]["is_root"] and _is_served(sls):
        raise CommandExecutionError(f"The pillar of minion {__opts__['id']} still names {asked['name']}")
    return None


def risks(asked: dict, wanted: _Wanted | dict | None) -> tuple[list[tuple], str]:
    there = __salt__["eos_terraform.recorded_risks"](**_names(asked))
    held = __salt__["eos_secrets.risks_of_holder"](asked["name"])
    if asked["verb"] in _ACTS or asked["verb"] == "enter":
        # It runs as it was applied; if nobody knows how that was, it counts as the highest.
        return [(wanted.get("risk"), "its recipe"), *(there or [(None, "nothing is applied")]), *held], "high"
    if wanted is None:
        return [*there, *held], "medium"
    found = [] if wanted.failure else __salt__["eos_tiers.of_workspace"](asked["name"], wanted.slice, wanted.contents)
    # Whoever replaces what is there reaches it as well.
    there = [one for one in there if one[0]]
    return [(wanted.slice.get("risk"), "its recipe"), *found, *there, *held], "high"


def make(asked: dict, wanted: _Wanted) -> dict:
    """What the state `eos_terraform.applied` of the SLS does, without the seconds that a state run takes."""
    if wanted.failure:
        return {"status": "failed", "error": wanted.failure}
    given = {"wanted": wanted.slice, "contents": wanted.contents}
    answer = __salt__["eos_terraform.ensure_infrastructure"](**_names(asked), **_ids(asked), **given, held=True)
    if answer["result"] and wanted.slice.get("schedule") == "rests":
        try:
            __salt__["eos_runs.end_resting"](**_names(asked))
        except CommandExecutionError as failure:
            error = __utils__["eos_failure.described"](failure, f"job {asked['component']}")
            return {**_outcome(answer), "status": "failed", "error": error}
    return _outcome(answer)


def remove(asked: dict, wanted: None) -> dict:
    del wanted
    return _outcome(__salt__["eos_terraform.destroy"](**_names(asked), **_ids(asked), held=True))


def read_back(asked: dict) -> list[str] | None:
    """An act leaves the Terraform state as it is: Nomad says whether it happened."""
    return None if asked["verb"] in _ACTS else [asked["name"]]


def observe(who: dict, what: object, operation: str | None) -> tuple[dict, None]:
    """What each of these is. A silent engine fails the whole: half an answer would look as if the rest were gone."""
    del who, operation
    names = __utils__["eos_argument.check_all"]("workspace", what, "component")
    return __salt__["eos_terraform.observe"](names) if names else {}, None


def preview(asked: dict, plan: str, unknown: list[str], pillar: dict) -> dict:
    """Terraform's plan, and Nomad's of the job."""
    if strange := sorted(set(unknown) - set(_UNKNOWN)):
        raise SaltInvocationError(f"unknown names {strange[0]}, which is none of: {', '.join(_UNKNOWN)}")
    slices = pillar.get("eos", {})
    if asked["verb"] == "remove":
        return __salt__["eos_preview.removed_workspace"](**_names(asked), named=slices.get("workspaces", {}))
    given = {"wanted": _compared(asked, slices), "unknown": unknown, "who": asked["who"]}
    return __salt__["eos_preview.workspace"](plan, **_names(asked), **given)


def inspect(pillar: dict) -> dict:
    """By their records, without Terraform; null where none runs."""
    answer: dict = {"workspaces": None, "orphans": None}
    if __salt__["eos_profile.optional_setting"]("terraform_root"):
        named = pillar.get("eos", {}).get("workspaces", {})
        answer["workspaces"] = __salt__["eos_inspect.workspaces"](named)
        answer["orphans"] = sorted(set(answer["workspaces"]) - set(named))
    return {"states": {}, "answer": {**answer, "synced": __salt__["eos_sync.synced"]()}}


def examine(name: object, slices: Callable[[], dict]) -> str:
    """Terraform's own graph of a workspace as it was last applied here, in the language of Graphviz."""
    del slices
    __utils__["eos_argument.check"]("name", name, "component")
    return __salt__["eos_graph.of_workspace"](*name.split("/"))


def section() -> str:
    return "workspaces"


def parts(slices: dict) -> dict[str, dict]:
    """Each workspace by its digest."""
    of_slice = __utils__["eos_digest.of_slice"]
    named = slices.get("workspaces", {}).items()
    return {name: {"digest": of_slice(found), "risks": [found.get("risk")]} for name, found in named}


def parting(name: str, slices: dict) -> dict | None:
    """A workspace goes whole, whatever the pillar says. A namespace stays while Nomad has secrets in it."""
    del slices
    environment, component = name.split("/")
    return None if component == _PLATFORM and __salt__["eos_terraform.secrets_in_nomad"](environment) else {}


def actions() -> dict[str, str]:
    """An act leaves it as it is. `eos_session` judges who may enter a task."""
    return {**dict.fromkeys(_ACTS, "step"), "enter": "personal"}


def act(asked: dict, wanted: dict) -> dict:
    if asked["verb"] == "enter":
        try:
            return __salt__["eos_session.open_door"](asked, risks(asked, wanted)[0])
        except CommandExecutionError as failure:
            # With layer and hint, which an exception loses on its way through Salt.
            if not isinstance(failure.info, dict):
                raise
            return {"error": failure.info}
    result = {"states": [], "terraform": None}
    try:
        answer = __salt__[_ACTS[asked["verb"]]](**_names(asked), **_ids(asked))
        return {"status": "done", "result": {**result, **answer}}
    except CommandExecutionError as failure:
        error = __utils__["eos_failure.described"](failure, f"job {asked['component']}")
        return {"status": "failed", "result": result, "error": error}


class _Wanted:
    """A slice of a workspace with its files: the ones that are looked at are the ones that are applied."""

    def __init__(self, asked: dict, found: dict):
        self.slice, self.contents, self.failure = found, {}, None
        if "delivered" in asked:
            self.contents = _contents_of(asked["delivered"], found["files"])
            return
        try:
            self.contents = __salt__["eos_terraform.contents"](**_names(asked), files=found["files"])
        except CommandExecutionError as failure:
            # Nothing of it is applied; the step's record says why.
            self.failure = __utils__["eos_failure.described"](failure, asked["name"])


def _contents_of(delivered: dict[str, bytes], files: dict[str, str]) -> dict[str, bytes]:
    """The files of a workspace in a release that is not served yet."""
    contents = {path: delivered.get(f"files/{path}") for path in files}
    for path, content in contents.items():
        if content is None or hashlib.sha256(content).hexdigest() != files[path]:
            raise SaltInvocationError(f"{path} is refused: a workspace names it by another digest")
    return contents


def _named(asked: dict, slices: dict) -> dict:
    """The slice of the workspace, if the pillar names it."""
    found = slices.get("workspaces", {}).get(asked["name"])
    if found is None:
        raise CommandExecutionError(f"The pillar of minion {__opts__['id']} names no workspace {asked['name']}")
    return found


def _compared(asked: dict, slices: dict) -> dict:
    """The slice of the workspace, if it is the one that the call means."""
    found = slices.get("workspaces", {}).get(asked["name"])
    # What a slice says of itself counts for nothing: it is the digest of the whole slice that is compared.
    digest = found and __utils__["eos_digest.of_slice"](found)
    __utils__["eos_digest.require_same"](__opts__["id"], asked, digest)
    return {**found, "digest": digest}


def _is_served(path: str) -> bool:
    """Whether the release has this file. A file server that finds nothing at all is no proof that it has not.

    Both are asked of one client: what takes time is that it introduces itself to the master.
    """
    with salt.fileclient.get_file_client(__opts__) as client:
        if not client.hash_file("salt://release"):
            raise CommandExecutionError(f"Minion {__opts__['id']} cannot read which release it is served")
        return bool(client.hash_file(f"salt://{path}"))


def _outcome(answer: dict) -> dict:
    result = {"states": [], "terraform": answer["terraform"]}
    failed = "interrupted" if answer["stopped"] else "failed"
    return {"status": "done" if answer["result"] else failed, "result": result, "error": answer["error"]}


def _names(asked: dict) -> dict:
    return {key: asked[key] for key in ("environment", "component")}


def _ids(asked: dict) -> dict:
    return {key: asked[key] for key in ("operation", "step")}
