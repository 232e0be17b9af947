"""Reads the Terraform files of a workspace as Eos emits them: which resources, which job, with which values.

Everything is compared with the few forms that Eos emits. So no file here calls a function that reads the host, has a
data source, a provisioner or a provider of its own, or gives the job a value that is not in `terraform.tfvars.json`.

The resources of a recipe are in `resources.tf.json`, where Terraform reads every text and key as a template: a text is
either one reference to another resource of that file, or begins no template.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

_LATE = {"node_ids", "registered", "secret_version"}
_SET_UP_BACKENDS = (["s3"], ["azurerm"])
_BACKENDS = (["local"], ["consul"], *_SET_UP_BACKENDS)
_PLACE = "object({ address = string, port = number })"
_TYPES = {"string", "number", "map(string)", "list(string)", _PLACE}
_VAR = r"var\.[a-z][a-z0-9_]*"
_NEED = r"[a-z][a-z0-9_]*"
_REGISTRATION = "nomad_dynamic_host_volume_registration"
_CALLERS = (
    rf"jsonencode\(\{{ Sources = \[for caller in {_VAR} : "
    r'\{ Name = caller, Action = "allow", Precedence = 9, Type = "consul" \}\] \}\)'
)
_SECONDS = rf'"\$\{{max\(300(, \({_VAR} \+ 1\) \* [0-9]+)+\)\}}s"'
_WHOLE = rf"(?P<v>{_VAR}) >= [0-9]+ && (?P=v) <= [0-9]+ && floor\((?P=v)\) == (?P=v)"

# By what Eos emits: the attributes that a block has, each with the raw expressions or the literals that it may be, and
# the blocks in it. A name in angle brackets stands for any.
_TEXT, _BOOL = ("text",), ("bool",)
_VARIABLE = {"description": _TEXT, "type": "|".join(map(re.escape, _TYPES))}
_CHECKED_VARIABLE = {**_VARIABLE, "validation": {"condition": _WHOLE, "error_message": _TEXT}}
_CAPABILITY = {"access_mode": _TEXT, "attachment_mode": _TEXT}
_RESOURCES = {
    "nomad_namespace": {"name": r"var\.namespace", "description": _TEXT},
    _REGISTRATION: {
        "for_each": _VAR,
        "name": _VAR,
        "namespace": r"var\.namespace",
        "node_id": rf"var\.node_ids\[({_VAR}|each\.key)\]",
        "host_path": rf"{_VAR}|each\.value",
        "capability": _CAPABILITY,
    },
    "consul_config_entry": {"kind": _TEXT, "name": _VAR, "config_json": _CALLERS},
    "nomad_job": {
        "jobspec": r'file\("\$\{path\.module\}/[a-z0-9-]+\.nomad\.hcl"\)',
        "purge_on_destroy": _BOOL,
        "detach": _BOOL,
        "depends_on": ("list", rf"{_REGISTRATION}\.{_NEED}"),
        "hcl2": {"vars": ("map", rf"{_VAR}|(tostring|jsonencode)\({_VAR}\)")},
        "timeouts": {"create": _SECONDS, "update": _SECONDS},
    },
}
_OWN_RESOURCES = "resources.tf.json"
_RESOURCE_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")
_TYPE = re.compile(r"[a-z]+_[a-z0-9_]+")
_REFERENCE = re.compile(r"\$\{([a-z0-9_]+)\.([a-z][a-z0-9_]*)\.[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*\}")
# As in `eos_hcl`: a dollar before a brace begins a template, two of them do not, and of more nobody is sure.
_LITERAL = re.compile(r"(?:[^$%]|\$\$\{|%%\{|\$(?!\$*\{)|%(?!%*\{))*", re.DOTALL)
_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./:@-]{0,254}")
# What Terraform reads of a resource beside its arguments: a provisioner runs programs here.
_META = {"connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioner"}
_DYNAMIC = "dynamic"
_DEEPEST = 20
_OUTPUT = {"value": r"nomad_job\.component\.(id|namespace)|nomad_namespace\.environment\.name"}
# What a recipe says: a value of its own, with the place of its service put into it.
_SAID = r"(var\.registered == null \? null : )?({0}|format\({0}, var\.registered\.address(, var\.registered\.port)?\))"
_OF_OUTPUTS = {"outputs", "registered"}
_RECIPE_OUTPUTS = "recipe_outputs.tf"
_REQUIRED = {"required_providers": {"<name>": ("map", None)}}


def read(
    name: str, contents: dict[str, bytes], read_hcl: Callable[[bytes], list[tuple]], providers: dict[str, dict]
) -> dict:
    """What the workspace of this name has; ValueError says what is not as Eos emits it.

    `read_hcl` is `eos_hcl.read` and `providers` the table of `eos_providers`: Salt gives modules of this kind no way to
    one another.

    `values` are those of the variables, `resources` the types, `volumes` (need, name) of those that it registers and
    `places` (need, host, path) where they are, `services` those whose callers it names, `job` its job file's body or
    None, `own` the types of the resources that its recipe names.
    """
    environment, component = name.split("/")
    here, module = _directories(environment, component, contents)
    files = {path: _parsed(path, content, read_hcl) for path, content in contents.items() if not path.endswith(".json")}
    declared = _declared(f"{here}/variables.tf", files, _VARIABLE)
    values = _values(f"{here}/terraform.tfvars.json", contents, declared)
    _check_root(f"{here}/main.tf", files, component, module, declared, providers)
    said, of_place = _recipe_outputs(f"{module}/{_RECIPE_OUTPUTS}", files)
    if _declared(f"{module}/variables.tf", files, _CHECKED_VARIABLE) | of_place != declared:
        raise ValueError(f"{module}/variables.tf has other variables than {here}/variables.tf")
    _check_handed_on(f"{here}/outputs.tf", files, component, said)
    if (outputs := f"{module}/outputs.tf") in files:
        for _, labels, body in _blocks(outputs, files, {"output": 1}):
            _check(f"output {labels[0]}", body, _OUTPUT)
    own = _own(f"{module}/{_OWN_RESOURCES}", contents, providers)
    return {"values": values, "own": own, **_module(module, files, component, values, own, providers)}


def _directories(environment: str, component: str, contents: dict[str, bytes]) -> tuple[str, str]:
    """Of the environment and of the module; there are these files in them, and no others."""
    here = f"terraform/environments/{environment}/{component}"
    modules = {path.rpartition("/")[0] for path in contents if path.startswith(f"terraform/modules/{component}/")}
    module = next(iter(modules), "")
    wanted = {f"{here}/{file}" for file in ("main.tf", "variables.tf", "terraform.tfvars.json")}
    wanted |= {f"{module}/{file}" for file in ("main.tf", "variables.tf")}
    others = ("outputs.tf", _RECIPE_OUTPUTS, f"{component}.nomad.hcl", _OWN_RESOURCES)
    optional = {f"{here}/outputs.tf", *(f"{module}/{file}" for file in others)}
    strange = sorted((set(contents) ^ wanted) - optional)
    if strange or not re.fullmatch(rf"terraform/modules/{component}/[0-9a-f]{{12}}", module):
        raise ValueError(f"{strange[0] if strange else module} is no file of a workspace that Eos emits, or is missing")
    return here, module


def _parsed(path: str, content: bytes, read_hcl: Callable[[bytes], list[tuple]]) -> list[tuple]:
    try:
        return read_hcl(content)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _json(path: str, contents: dict[str, bytes]) -> object:
    def unique(pairs: list[tuple]) -> dict:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("a name is there twice")
        return dict(pairs)

    def no_number(text: str) -> None:
        raise ValueError(f"{text} is no number")

    try:
        return json.loads(contents[path].decode(), object_pairs_hook=unique, parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {error}") from error


def _own(path: str, contents: dict[str, bytes], providers: dict[str, dict]) -> list[str]:
    """The types of the resources in the file that the recipe's own are in, if there is one."""
    if path not in contents:
        return []
    document = _json(path, contents)
    kinds = document.get("resource") if isinstance(document, dict) and set(document) == {"resource"} else None
    if not isinstance(kinds, dict) or not all(isinstance(named, dict) for named in kinds.values()):
        raise ValueError(f"{path} has something else than resources")
    there = {(kind, name) for kind, named in kinds.items() for name in named}
    for kind, name in sorted(there):
        row = providers.get(kind.split("_")[0], {}) if _TYPE.fullmatch(kind) else {}
        if not row.get("recipes") or not _RESOURCE_NAME.fullmatch(name):
            raise ValueError(f"{path} has a resource {kind}.{name}")
        arguments = kinds[kind][name]
        if not isinstance(arguments, dict) or _META & set(arguments):
            raise ValueError(f"{path}: {kind}.{name} has more than arguments")
        _check_data(f"{path}: {kind}.{name}", arguments, there, 0)
    return sorted(kind for kind, _ in there)


def _check_data(what: str, value: object, there: set[tuple[str, str]], depth: int) -> None:
    """Refuses data in which Terraform would find a template that is no reference to one of these resources."""
    if depth > _DEEPEST:
        raise ValueError(f"{what} is too deep")
    if isinstance(value, dict):
        for key, inner in value.items():
            if not _KEY.fullmatch(key) or (key == _DYNAMIC and isinstance(inner, (dict, list))):
                raise ValueError(f"{what} has {key!r} for a key")
            _check_data(what, inner, there, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check_data(what, inner, there, depth + 1)
    elif isinstance(value, str) and not _LITERAL.fullmatch(value):
        reference = _REFERENCE.fullmatch(value)
        if reference is None or (reference[1], reference[2]) not in there:
            raise ValueError(f"{what} has an expression that Eos does not emit")


def _values(path: str, contents: dict[str, bytes], declared: set[str]) -> dict:
    values = _json(path, contents)
    if not isinstance(values, dict) or set(values) != declared - _LATE:
        raise ValueError(f"{path} has not the values of the variables")
    return values


def _declared(path: str, files: dict, form: dict) -> set[str]:
    blocks = _blocks(path, files, {"variable": 1})
    for _, labels, body in blocks:
        _check(f"{path}: variable {labels[0]}", body, form)
    return {labels[0] for _, labels, _ in blocks}


def _recipe_outputs(path: str, files: dict) -> tuple[set[str], set[str]]:
    """The names of the outputs of the recipe, and of the variables that they alone need."""
    blocks = _blocks(path, files, {"variable": 1, "output": 1}) if path in files else []
    found: dict[str, set[str]] = {"variable": set(), "output": set()}
    for kind, labels, body in blocks:
        text = re.escape(f'var.outputs["{labels[0]}"]')
        form = _VARIABLE if kind == "variable" else {"value": _SAID.format(text)}
        _check(f"{path}: {kind} {labels[0]}", body, form)
        found[kind].add(labels[0])
    if strange := sorted(found["variable"] - _OF_OUTPUTS):
        raise ValueError(f"{path} has a variable {strange[0]}, which Eos does not emit there")
    return found["output"], found["variable"]


def _check_handed_on(path: str, files: dict, component: str, said: set[str]) -> None:
    """The workspace has the outputs of the recipe, each as its module has it."""
    blocks = _blocks(path, files, {"output": 1}) if path in files else []
    for _, labels, body in blocks:
        _check(f"{path}: output {labels[0]}", body, {"value": re.escape(f"module.{component}.{labels[0]}")})
    if {labels[0] for _, labels, _ in blocks} != said:
        raise ValueError(f"{path} has other outputs than the recipe")


def _check_root(
    path: str, files: dict, component: str, module: str, declared: set[str], providers: dict[str, dict]
) -> None:
    blocks = _blocks(path, files, {"terraform": 0, "provider": 1, "module": 1})
    for kind, labels, body in blocks:
        if kind == "provider" and (labels[0] not in providers or body != _set_up(providers[labels[0]])):
            raise ValueError(f"{path} sets up provider {labels[0]}")
        if kind == "terraform":
            _check_terraform(path, body, providers)
    calls = [(labels[0], body) for kind, labels, body in blocks if kind == "module"]
    given = {item[1]: item[2] for item in calls[0][1] if item[0] == "attribute"} if calls else {}
    source = given.pop("source", None)
    passed_on = {variable: ("raw", f"var.{variable}") for variable in declared}
    below = module.removeprefix("terraform/")
    whole = len(calls) == 1 and len(calls[0][1]) == len(given) + 1
    if not whole or calls[0][0] != component or source != ("text", f"../../../{below}") or given != passed_on:
        raise ValueError(f"{path} does not call its own module with its own variables")


def _set_up(row: dict) -> list[tuple]:
    """The whole configuration of a provider: nothing, or an empty block that it cannot do without."""
    return [("block", row["block"], [], [])] if row["block"] else []


def _check_terraform(path: str, body: list[tuple], providers: dict[str, dict]) -> set[str]:
    """Answers the providers that it requires."""
    backends = [item for item in body if item[0] == "block" and item[1] == "backend"]
    for _, _, labels, settings in backends:
        # The minion replaces these settings by those of the slice; they are for people who work by hand.
        named = [item[2][0] in ("text", "bool", "map") for item in settings if item[0] == "attribute"]
        are_known = len(named) == len(settings) and all(named) and labels in _SET_UP_BACKENDS
        if labels not in _BACKENDS or (settings and not are_known):
            raise ValueError(f"{path} sets up its backend")
    rest = [item for item in body if item not in backends]
    _check(f"{path}: terraform", rest, {"required_version": _TEXT, **_REQUIRED})
    found = set()
    for _, _, _, required in (item for item in rest if item[0] == "block"):
        for _, provider, (_, facts) in required:
            named = dict(facts)
            known = named.get("source") == ("text", providers.get(provider, {}).get("source"))
            if not known or set(named) != {"source", "version"} or named["version"][0] != "text":
                raise ValueError(f"{path} has a provider {provider} of its own")
            found.add(provider)
    return found


def _module(module: str, files: dict, component: str, values: dict, own: list[str], providers: dict[str, dict]) -> dict:
    path, file = f"{module}/main.tf", f"{module}/{component}.nomad.hcl"
    resources, volumes, places, services = [], [], [], []
    required: set[str] = set()
    for kind, labels, body in _blocks(path, files, {"terraform": 0, "resource": 2}):
        if kind == "terraform":
            required |= _check_terraform(path, body, providers)
            continue
        if labels[0] not in _RESOURCES:
            raise ValueError(f"{path} has a resource of type {labels[0]}")
        _check(f"{path}: {labels[0]}", body, _RESOURCES[labels[0]])
        attributes = _attributes(path, labels[0], body)
        resources.append(labels[0])
        if labels[0] == _REGISTRATION:
            volumes.append((labels[1], _named(attributes["name"], values)))
            places += [(labels[1], *place) for place in _places(attributes, values)]
        elif labels[0] == "consul_config_entry":
            if attributes.get("kind") != ("text", "service-intentions"):
                raise ValueError(f"{path} writes another entry of Consul's than intentions")
            services.append(_named(attributes["name"], values))
        elif labels[0] == "nomad_job":
            if attributes.get("jobspec") != ("raw", f'file("${{path.module}}/{component}.nomad.hcl")'):
                raise ValueError(f"{path} has another job file")
            _check_passed_on(path, body)
    # Terraform would look for one that is not required under a name of its own making.
    if strange := sorted({kind.split("_")[0] for kind in own} - required):
        raise ValueError(f"{path} does not require provider {strange[0]}")
    if resources.count("nomad_job") != (file in files):
        raise ValueError(f"{path} does not register its one job")
    registered = {"volumes": volumes, "places": places, "services": services}
    return {"resources": sorted(resources), **registered, "job": files.get(file)}


def _attributes(path: str, resource: str, body: list[tuple]) -> dict:
    attributes = {item[1]: item[2] for item in body if item[0] == "attribute"}
    needed = {_REGISTRATION: {"name", "node_id", "host_path"}, "consul_config_entry": {"name"}}
    if missing := needed.get(resource, set()) - set(attributes):
        raise ValueError(f"{path}: {resource} has no {', '.join(sorted(missing))}")
    return attributes


def _places(attributes: dict, values: dict) -> list[tuple]:
    """(host, path) of each registration that these attributes make."""
    node, path = attributes["node_id"][1], attributes["host_path"]
    host = ("raw", node.removeprefix("var.node_ids[").removesuffix("]"))
    if "for_each" not in attributes:
        return [(_named(host, values), _named(path, values))]
    paths = _named(attributes["for_each"], values)
    if not isinstance(paths, dict) or (host[1], path[1]) != ("each.key", "each.value"):
        raise ValueError("the paths of a volume are no map by host")
    return list(paths.items())


def _named(value: tuple, values: dict) -> object:
    """The value of the variable that an expression names."""
    name = value[1].removeprefix("var.")
    if name not in values:
        raise ValueError(f"{name} has no value")
    return values[name]


def _check_passed_on(path: str, body: list[tuple]) -> None:
    """Each variable of the job has the value of the variable of the same name."""
    for _, _, _, inner in (item for item in body if item[0] == "block" and item[1] == "hcl2"):
        for _, _, (_, entries) in inner:
            for variable, (_, expression) in entries:
                if not re.fullmatch(rf"(tostring\(|jsonencode\(|)var\.{re.escape(variable)}\)?", expression):
                    raise ValueError(f"{path} gives the job another value for {variable}")


def _blocks(path: str, files: dict, kinds: dict[str, int]) -> list[tuple]:
    """(kind, labels, body) of each block of a file that has nothing but blocks of these kinds, with so many labels."""
    found = []
    for item in files[path]:
        if item[0] != "block" or kinds.get(item[1]) != len(item[2]):
            raise ValueError(f"{path} has {item[1]}, which Eos does not emit there")
        found.append((item[1], item[2], item[3]))
    return found


def _check(what: str, body: list[tuple], form: dict) -> None:
    """Refuses a body that has anything but what its form names."""
    for item in body:
        name = item[1]
        wanted = form.get(name, form.get("<name>"))
        if item[0] == "block":
            if not isinstance(wanted, dict) or item[2]:
                raise ValueError(f"{what} has {name}, which Eos does not emit there")
            _check(f"{what}: {name}", item[3], wanted)
        elif isinstance(wanted, (str, tuple)):
            if not _fits(item[2], wanted):
                raise ValueError(f"{what}: {name} is not as Eos emits it")
        else:
            raise ValueError(f"{what} has {name}, which Eos does not emit there")


def _fits(value: tuple, wanted: str | tuple) -> bool:
    kind, content = value
    if isinstance(wanted, str):
        return kind == "raw" and re.fullmatch(wanted, content) is not None
    if kind != wanted[0]:
        return False
    if kind == "list":
        return all(_fits(element, wanted[1]) for element in content)
    if kind == "map" and wanted[1] is not None:
        return all(_fits(element, wanted[1]) for _, element in content)
    return True
