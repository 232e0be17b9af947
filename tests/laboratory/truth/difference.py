"""The changes between two dumps, compared with the predictions of a plan.

Objects and attributes have the names of the effects of a plan: those of real things. An item is one changed attribute,
or an object that came or went. An item in both the plan and the dumps is *predicted*, in the plan alone *missed*, in
the dumps alone *unpredicted*.
"""

import fnmatch
import hashlib
from dataclasses import dataclass, field

CREATE, CHANGE, DELETE = "create", "change", "delete"
# In the place of a value: the whole object is there.
PRESENT, ABSENT, CHANGED = "present", "absent", "changed"
NOT_COMPARED, MAY_BE_UNKNOWN = "not compared", "may be unknown"

# The one set of attributes that an engine computes: of which nothing is foretold, or only that they become others.
# Object, attribute (both as patterns), what is done with it, why.
COMPUTED = [
    ("nomad/job/*", "CreateIndex", NOT_COMPARED, "Nomad's own count of writes"),
    ("nomad/job/*", "ModifyIndex", NOT_COMPARED, "Nomad's own count of writes"),
    ("nomad/job/*", "JobModifyIndex", NOT_COMPARED, "Nomad's own count of writes"),
    ("nomad/job/*", "Version", NOT_COMPARED, "Nomad counts registrations"),
    ("nomad/job/*", "SubmitTime", NOT_COMPARED, "the moment of the registration"),
    ("nomad/job/*", "Status", NOT_COMPARED, "what its allocations make of it, which are compared themselves"),
    ("nomad/job/*", "StatusDescription", NOT_COMPARED, "words about the status"),
    ("nomad/job/*", "Stable", NOT_COMPARED, "whether a deployment of this version came to its end"),
    ("nomad/job/*", "NomadTokenID", NOT_COMPARED, "the token of the Terraform run, which lives for that run only"),
    ("nomad/job/*", "Meta.eos_secret_version", MAY_BE_UNKNOWN, "the version of a secret that is written first"),
    ("nomad/job/*", "TaskGroups.*.Templates.*", MAY_BE_UNKNOWN, "has the version of a secret that is written first"),
    ("estate/pillar/*", "digest", MAY_BE_UNKNOWN, "has the moment of the command, where it is said a second time"),
    ("nomad/namespace/*", "CreateIndex", NOT_COMPARED, "Nomad's own count of writes"),
    ("nomad/namespace/*", "ModifyIndex", NOT_COMPARED, "Nomad's own count of writes"),
    ("nomad/namespace/*", "Hash", NOT_COMPARED, "follows from the other attributes"),
    ("nomad/variable/*", "*", MAY_BE_UNKNOWN, "values of secrets are never shown"),
    ("vault/secret/*", "*", MAY_BE_UNKNOWN, "values of secrets are never shown"),
    ("consul/config/*", "CreateIndex", NOT_COMPARED, "Consul's own count of writes"),
    ("consul/config/*", "ModifyIndex", NOT_COMPARED, "Consul's own count of writes"),
    ("consul/config/*", "Hash", NOT_COMPARED, "follows from the other attributes"),
    ("consul/config/*", "Sources.*.LegacyCreateTime", NOT_COMPARED, "a clock"),
    ("consul/config/*", "Sources.*.LegacyUpdateTime", NOT_COMPARED, "a clock"),
]


def rule(object: str, attribute: str) -> str | None:
    """What is done with an attribute that an engine computes; nothing for all others."""
    for of, name, kind, _ in COMPUTED:
        if fnmatch.fnmatchcase(object, of) and fnmatch.fnmatchcase(attribute, name):
            return kind
    return None


@dataclass
class Change:
    object: str
    action: str
    # Name -> before, after.
    attributes: dict[str, tuple] = field(default_factory=dict)
    # Names of those whose new value nobody knew.
    unknown: set[str] = field(default_factory=set)


@dataclass
class Verdict:
    predicted: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    unpredicted: list[str] = field(default_factory=list)
    # Of an engine that the plan says it could not ask.
    not_asked: list[str] = field(default_factory=list)

    def all(self) -> tuple[list[str], ...]:
        return self.predicted, self.missed, self.unpredicted, self.not_asked

    def is_true(self) -> bool:
        return not self.missed and not self.unpredicted

    def __str__(self) -> str:
        lines = [f"{len(self.predicted)} predicted, {len(self.missed)} missed, {len(self.unpredicted)} unpredicted"]
        lines += [f"  missed: {item}" for item in self.missed]
        lines += [f"  unpredicted: {item}" for item in self.unpredicted]
        return "\n".join(lines)


def flat(value, path: str = "", name: str = "") -> dict:
    """The leaves of a JSON value by their path; members of a list by name where they have one, else by index."""
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        by = {"TaskGroups": "Name", "Tasks": "Name", "Services": "Name"}.get(name)
        by = by or ("Label" if name in ("DynamicPorts", "ReservedPorts") else None)
        members = ((one[by] if by else str(index), one) for index, one in enumerate(value))
    else:
        return {path: value}
    leaves = {}
    for key, one in members:
        leaves |= flat(one, f"{path}.{key}" if path else str(key), str(key))
    return leaves


def is_nothing(value) -> bool:
    """Nomad and Consul write what is not set as null, or as zero, or not at all."""
    return value is None or value is False or value == "" or value == 0


def of_job(job: dict) -> dict:
    return {path: value for path, value in flat(job).items() if not is_nothing(value)}


def of_volume(volume: dict) -> dict:
    wanted = ("PluginID", "HostPath", "RequestedCapabilities", "Parameters", "Constraints", "NodeID")
    return {
        path: value for path, value in flat({key: volume.get(key) for key in wanted}).items() if not is_nothing(value)
    }


def of_directory(entry: dict) -> dict:
    return {key: entry[key] for key in ("user", "group", "mode")}


def objects(dump: dict) -> dict[str, dict]:
    """Everything in a dump that an operation may touch, by the names that effects have."""
    nomad, found = dump["nomad"], {}
    for name, one in nomad["namespaces"].items():
        found[f"nomad/namespace/{name}"] = {path: v for path, v in flat(one).items() if not is_nothing(v)}
    for name, job in nomad["jobs"].items():
        found[f"nomad/job/{name}"] = of_job(job)
    for name, instances in nomad["services"].items():
        found[f"nomad/service/{name}"] = {"instances": len(instances or [])}
    for name, volume in nomad["volumes"].items():
        found[f"nomad/volume/{name.rsplit('/', 1)[0]}"] = of_volume(volume)
    for name, one in nomad["variables"].items():
        found[f"nomad/variable/{name}"] = one["Items"]
    # Nothing that is foretold: whoever changes one of these is found out.
    for kind in ("policies", "roles", "tokens", "auth-methods", "binding-rules", "nodes"):
        found |= {f"nomad/{kind}/{name}": flat(one) for name, one in nomad[kind].items()}
    found |= of_consul(dump.get("consul")) | of_vault(dump.get("vault"))
    for minion, entries in dump["hosts"].items():
        for path, one in entries.items():
            if one["kind"] == "directory":
                found[f"salt/directory/{minion}:{path}"] = of_directory(one)
            else:
                found[f"salt/file/{minion}:{path}"] = one
    for name, state in dump["terraform"].items():
        found[f"terraform/state/{name}"] = state["resources"]
    sources = ("pillar/infrastructure/", "recipes/")
    for path, one in dump["estate"]["files"].items():
        if path.startswith(sources) and one["kind"] == "file":
            found[f"estate/{path}"] = {"digest": one["digest"]}
    found["estate/current"] = {"release": served(dump)}
    return found


def served(dump: dict) -> str:
    """The release that Salt serves."""
    return dump["estate"]["current"].rsplit("/", 1)[-1]


def of_consul(consul: dict | None) -> dict:
    if not consul:
        return {}
    found = {f"consul/config/{name}": flat(entry) for name, entry in consul["config"].items()}
    found |= {f"consul/service/{name}": {"instances": len(all)} for name, all in consul["services"].items()}
    found |= {f"consul/key/{name}": {"value": one["Value"]} for name, one in consul["keys"].items()}
    for kind in ("policies", "roles", "auth-methods", "binding-rules"):
        found |= {f"consul/{kind}/{name}": flat(one) for name, one in consul[kind].items()}
    return found


def of_vault(vault: dict | None) -> dict:
    if not vault:
        return {}
    found = {f"vault/secret/{path}": one["items"] for path, one in vault["secrets"].items()}
    found |= {f"vault/policy/{name}": {"text": text} for name, text in vault["policies"].items()}
    found |= {f"vault/mount/{path}": flat(one or {}) for path, one in vault["mounts"].items()}
    found |= {f"vault/method/{path}": roles for path, roles in vault["methods"].items()}
    return found


def alive(dump: dict) -> dict[str, dict]:
    """Allocations that run or are about to."""
    there = dump["nomad"]["allocations"]
    return {
        id: one
        for id, one in there.items()
        if one["DesiredStatus"] == "run" and one["ClientStatus"] in ("pending", "running")
    }


def allocations(before: dict, after: dict) -> dict[str, dict[str, int]]:
    """Job -> how many allocations came, went, were replaced or took a new version of their job as they are."""
    old, new, found = alive(before), alive(after), {}

    def count(one: dict, what: str):
        job = found.setdefault(f"{one['Namespace']}/{one['JobID']}", {})
        job[what] = job.get(what, 0) + 1

    # Which instance of its job an allocation is.
    instance = lambda one: (one["Namespace"], one["JobID"], one["Name"])  # noqa: E731
    gone = {instance(one): one for id, one in old.items() if id not in new}
    for id, one in new.items():
        if id not in old:
            count(one, "destructive" if gone.pop(instance(one), None) else "place")
        elif one["JobVersion"] != old[id]["JobVersion"]:
            count(one, "in_place")
    for one in gone.values():
        count(one, "stop")
    return found


def difference(before: dict, after: dict) -> list[Change]:
    """What really changed."""
    old, new = objects(before), objects(after)
    changes = [
        Change(f"nomad/allocations/{job}", CHANGE, {what: (0, number) for what, number in counts.items()})
        for job, counts in allocations(before, after).items()
    ]
    for name in sorted(old.keys() | new.keys()):
        if name not in old:
            # Of a file of the estate a plan says what it becomes, whether it is there or not.
            action = CHANGE if name.startswith("estate/") else CREATE
            changes.append(Change(name, action, {key: (None, value) for key, value in new[name].items()}))
        elif name not in new:
            changes.append(Change(name, DELETE))
        elif attributes := changed_attributes(name, old[name], new[name]):
            changes.append(Change(name, CHANGE, attributes))
    return [change for change in changes if not is_above_a_volume(change, changes)]


def changed_attributes(object: str, old: dict, new: dict) -> dict:
    found = {}
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        if before == after or rule(object, name) == NOT_COMPARED:
            continue
        if object.startswith("terraform/state/"):
            # A state is compared by its resources; what is in one is the engine's, and compared there.
            before, after = (ABSENT if one is None else PRESENT for one in (before, after))
            after = CHANGED if before == after else after
        found[name] = (before, after)
    return found


def is_above_a_volume(change: Change, changes: list[Change]) -> bool:
    """Directories on the way to a new one are made with it, and belong to nobody."""
    below = change.object + "/"
    return (
        change.action == CREATE
        and change.object.startswith("salt/directory/")
        and any(other.action == CREATE and other.object.startswith(below) for other in changes)
    )


def foretold(plan: dict, current: str = "", exact: bool = True) -> list[Change]:
    """What a plan says will change: its effects, the pillar's files, and the release where it is not the one that is
    served. Without `exact` it is not this very plan that is carried out, but one that the same command makes again."""
    changes = []
    for effect in plan.get("effects", []):
        attributes = {one["name"]: (one.get("before"), one.get("after")) for one in effect["attributes"]}
        unknown = {one["name"] for one in effect["attributes"] if one.get("unknown")}
        changes.append(Change(effect["object"], effect["action"], attributes, unknown))
    for path, text in plan["pillar"].items():
        value = hashlib.sha256(text.encode()).hexdigest()
        # The moment of the command is in the pillar; a kept recipe is the same whenever it is written.
        unknown = {"digest"} if path.startswith("pillar/") and not exact else set()
        changes.append(Change(f"estate/{path}", CHANGE, {"digest": (None, value)}, unknown))
    if any(step["work"] == "deliver" for step in plan["steps"]) and plan["release"] != current:
        changes.append(Change("estate/current", CHANGE, {"release": (None, plan["release"])}))
    return changes


def text(value) -> str:
    """A value as all engines write it: Nomad's diff has numbers as text."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


# What nothing is known of where an engine was not asked: Nomad is asked with what Terraform says, and both through Salt.
OF_NOMAD = ("nomad/job/", "nomad/allocations/", "nomad/service/", "consul/service/")
OF_TERRAFORM = (*OF_NOMAD, "terraform/", "nomad/namespace/", "nomad/volume/", "consul/config/")
OF_SALT = (*OF_TERRAFORM, "salt/")
OF_SECRETS = ("nomad/variable/", "vault/secret/")
SAID_BY = {
    "nomad": OF_NOMAD + OF_SECRETS,
    "vault": OF_SECRETS,
    "consul": OF_TERRAFORM,
    "terraform": OF_TERRAFORM,
    "salt": OF_SALT,
    "eos": OF_SECRETS,
    "engines": OF_SALT + OF_SECRETS,
}


def unknown_of(unasked: dict) -> tuple[str, ...]:
    """Where an engine failed Terraform, nothing is known of the whole workspace."""
    workspace = OF_TERRAFORM if unasked.get("object", "").startswith("workspace ") else ()
    return SAID_BY[unasked["engine"]] + workspace


def judge(said: list[Change], happened: list[Change], unasked: list[dict] = ()) -> Verdict:
    """Compares what was foretold with what happened, item by item. Of what a plan says that it could not ask, it is
    enough that it says so."""
    verdict = Verdict()
    silent = tuple(prefix for one in unasked for prefix in unknown_of(one))
    by_object = {change.object: change for change in happened}
    for change in said:
        real = by_object.pop(change.object, None)
        if real is None:
            verdict.missed += [f"{change.object}: {change.action}"]
        elif change.action == CHANGE and real.action == CHANGE:
            judge_attributes(verdict, change, real)
        else:
            judge_whole(verdict, change, real)
    for real in by_object.values():
        names = list(real.attributes) if real.action == CHANGE else [real.action]
        into = verdict.not_asked if real.object.startswith(silent or ("\0",)) else verdict.unpredicted
        into += [f"{real.object}: {name} {shown(real, name)}".rstrip() for name in names]
    return verdict


def judge_failure(plan: dict, before: dict, after: dict) -> Verdict:
    """Of what cannot be placed: that was foretold, and after it failed all is as it was."""
    warned = [effect for effect in plan.get("effects", []) if effect.get("warning")]
    verdict = Verdict(predicted=[f"{effect['object']}: {effect['warning']}" for effect in warned])
    if not warned:
        verdict.unpredicted.append("it cannot be placed")
    # It was registered twice, and then again as it was: allocations that stayed, and the Terraform state, know that.
    again = lambda change: change.object.startswith("nomad/allocations/") or (  # noqa: E731
        change.object.startswith("terraform/state/") and {after for _, after in change.attributes.values()} == {CHANGED}
    )
    left = [change for change in difference(before, after) if not again(change)]
    verdict.unpredicted += [f"{change.object}: {change.action} is left" for change in left]
    return verdict


def judge_whole(verdict: Verdict, said: Change, real: Change):
    """An object that comes or goes is one item; what was said of it beyond that has to be right as well."""
    if said.action != real.action:
        verdict.missed.append(f"{said.object}: {said.action}")
        verdict.unpredicted.append(f"{said.object}: {real.action}")
        return
    verdict.predicted.append(f"{said.object}: {said.action}")
    if said.action == CREATE:
        for name, (_, after) in said.attributes.items():
            if name not in said.unknown and after is not None and not agrees(after, real.attributes, name):
                wrong = f"{said.object}: {name} {text(after)!r}"
                verdict.missed.append(f"{wrong}, but it was {text(real.attributes.get(name, (0, None))[1])!r}")


def agrees(said, attributes: dict, name: str) -> bool:
    if said == PRESENT:
        return any(one == name or one.startswith(f"{name}.") for one in attributes)
    return name in attributes and text(attributes[name][1]) == text(said)


def judge_attributes(verdict: Verdict, said: Change, real: Change):
    left = dict(real.attributes)
    for name, (before, after) in said.attributes.items():
        covered = [one for one in left if one == name or one.startswith(f"{name}.")]
        item = f"{said.object}: {name}"
        if not covered:
            verdict.missed.append(f"{item} {text(before)!r} -> {text(after)!r}")
            continue
        found = [left.pop(one) for one in covered]
        if name in said.unknown:
            if rule(said.object, name) == MAY_BE_UNKNOWN:
                verdict.predicted.append(item)
            else:
                verdict.unpredicted.append(f"{item} was unknown to the plan, and is not computed")
        elif is_as_said(before, after, name, dict(zip(covered, found))):
            verdict.predicted.append(item)
        else:
            verdict.missed.append(f"{item} {text(after)!r}")
            verdict.unpredicted.append(f"{item} {text(found[0][1])!r}")
    # Of a change without particulars nothing more is said than that it is one.
    if not said.attributes and left:
        verdict.predicted.append(f"{said.object}: {said.action}")
        left = {}
    verdict.unpredicted += [f"{said.object}: {name} {shown(real, name)}" for name in left]


def is_as_said(before, after, name: str, found: dict) -> bool:
    if name in found:
        return len(found) == 1 and text(found[name][1]) == text(after)
    # The whole of something was said to come, to go, or to have something in it that changes.
    if (before, after) == (PRESENT, PRESENT):
        return True
    if after == PRESENT:
        return any(one is not None for _, one in found.values())
    return before == PRESENT and after is None and all(one is None for _, one in found.values())


def shown(real: Change, name: str) -> str:
    if name not in real.attributes:
        return ""
    before, after = (text(one)[:60] for one in real.attributes[name])
    return f"{before!r} -> {after!r}"


def trace(before: dict, after: dict, path: str = "") -> list[str]:
    """Every place in which two dumps differ at all: what a plan left behind."""
    if isinstance(before, dict) and isinstance(after, dict):
        found = []
        for key in sorted(before.keys() | after.keys()):
            found += trace(before.get(key), after.get(key), f"{path}/{key}")
        return found
    return [] if before == after else [f"{path}: {str(before)[:80]} -> {str(after)[:80]}"]
