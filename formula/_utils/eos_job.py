"""Reads the body of an emitted job file: what its tasks run, and what it has that Eos does not emit.

A job is read with the values of its variables, so a variable changes nothing unnoticed. `strange` names every setting
that Eos does not emit for everybody: `privileged`, `cap_add`, a device, the host's network, an artifact.
"""

from __future__ import annotations

import re

_ANY = object()
_VARIABLE = re.compile(r"var\.([a-z][a-z0-9_]*)")
_COMPOSED = re.compile(r'"(?:[a-z-]+=)?\$\{var\.[a-z][a-z0-9_]*\}"')
_TYPES = ("string", "number", "map(string)", "list(string)")


def _all(*names: str) -> dict:
    return dict.fromkeys(names, _ANY)


# The sidecar of a program that runs beside its host's others; Nomad writes what it is told to read.
_SIDECAR = {
    "driver": "raw_exec",
    "config": {
        "command": "envoy",
        "work_dir": "${NOMAD_ALLOC_DIR}/..",
        "args": [
            "-c",
            "${NOMAD_SECRETS_DIR}/envoy_bootstrap.json",
            "-l",
            "warning",
            "--concurrency",
            "1",
            "--disable-hot-restart",
        ],
    },
}
_UPDATE = _all(
    "max_parallel", "health_check", "min_healthy_time", "healthy_deadline", "progress_deadline", "auto_revert"
)
_CHECK = {
    **_all("type", "path", "expose", "task", "command", "args", "interval", "timeout"),
    "check_restart": _all("limit", "grace", "ignore_warnings"),
}
_CONNECT = {
    "sidecar_service": {"port": _ANY, "proxy": {"upstreams": _all("destination_name", "local_bind_port")}},
    "sidecar_task": _SIDECAR,
}
# A file of the task's own at a path of its container. It lies where no task can put a link to the host in its place:
# Nomad mounts /local, /secrets and /alloc into every container, and follows a link when it starts that again.
_FILE = re.compile(r"placed/[A-Za-z0-9_][A-Za-z0-9_.-]*")
# Connections that wait at a socket which a reload closes go to the next one, and are not reset.
_MIGRATED = '{ "net.ipv4.tcp_migrate_req" = "1" }'
_MOUNT = {"type": "bind", **_all("source", "target"), "readonly": True}
_CONFIGS = {
    "docker": {
        **_all("image", "ports", "args", "image_pull_timeout", "entrypoint", "init", "hostname", "shm_size"),
        "mount": _MOUNT,
        "sysctl": _MIGRATED,
    },
    "raw_exec": _all("command", "args"),
}
_TASK = {
    **_all("driver", "user", "kill_timeout"),
    "lifecycle": {"hook": _ANY, "sidecar": False},
    "config": _ANY,
    "env": _ANY,
    "vault": {"env": False, "disable_file": True, "change_mode": _ANY},
    "consul": {},
    "template": {
        **_all("destination", "env", "change_mode", "data"),
        "wait": _all("min", "max"),
        "change_script": _all("command", "args", "timeout", "fail_on_error"),
    },
    "volume_mount": _all("volume", "destination"),
    "resources": _all("cpu", "memory"),
}
_GROUP = {
    "count": _ANY,
    "constraint": _all("attribute", "operator", "value"),
    "update": _UPDATE,
    "restart": _all("attempts", "interval", "delay", "mode"),
    "reschedule": _all("attempts", "unlimited"),
    "network": {"mode": "bridge", "port": _all("static", "to", "host_network")},
    "volume": {"type": "host", **_all("source", "access_mode", "attachment_mode", "sticky")},
    "service": {**_all("name", "port", "provider", "tags"), "check": _CHECK, "connect": _CONNECT},
    "task": _TASK,
}
_JOB = {
    **_all("namespace", "datacenters", "meta", "type"),
    "update": _UPDATE,
    "periodic": _all("crons", "time_zone", "prohibit_overlap", "enabled"),
    "group": _GROUP,
}


def read(body: list[tuple], values: dict, name: str) -> dict:
    """{"tasks", "commands", "volumes", "services", "strange"} of the job of the workspace of this name.

    A task is {"name", "driver", "config", "env", "templates"}; `commands` are those of checks and reloads, which run in
    a task; `volumes` are the names of those that it mounts.
    """
    environment, component = name.split("/")
    strange: list[str] = []
    jobs = [item for item in body if item[0] == "block" and item[1:3] == ("job", [component])]
    for item in body:
        declares = item[0] == "block" and item[1] == "variable" and _is_declaration(item[3])
        if not declares and item not in jobs:
            strange.append(" ".join([item[1], *item[2]]) if item[0] == "block" else item[1])
    if len(jobs) != 1:
        empty = {"tasks": [], "commands": [], "volumes": [], "services": []}
        return {**empty, "strange": [*strange, f"not one job {component}"]}
    job = _Job(values)
    job.check(f"job {component}", jobs[0][3], _JOB)
    attributes = job.attributes(jobs[0][3])
    if attributes.get("namespace") != environment:
        job.strange.append("another namespace")
    groups = [item for item in jobs[0][3] if item[0] == "block" and item[1] == "group"]
    found: dict = {"tasks": [], "commands": [], "volumes": [], "services": []}
    for _, _, labels, group in groups:
        found["tasks"] += [job.task(item) for item in group if item[:2] == ("block", "task")]
        found["commands"] += job.commands(group)
        found["volumes"] += [facts.get("source") for facts in job.each(group, "volume")]
        services = [facts.get("name") for facts in job.each(group, "service")]
        own = _service_names(environment, component, labels[0] if labels else "")
        job.strange += [f"service {service}" for service in services if service not in own]
        found["services"] += services
    return {**found, "strange": strange + job.strange}


def _service_names(environment: str, component: str, group: str) -> tuple[str, str]:
    base = component if environment == "production" else f"{component}-{environment}"
    return base, f"{base}-{group}"


def _is_declaration(body: list[tuple]) -> bool:
    return len(body) == 1 and body[0][:2] == ("attribute", "type") and body[0][2] in [("raw", kind) for kind in _TYPES]


class _Job:
    def __init__(self, values: dict):
        self.values, self.strange = values, []

    def check(self, what: str, body: list[tuple], form: dict) -> None:
        """Notes everything in a body that its form does not name, or has otherwise."""
        for item in body:
            name = item[1]
            if name not in form:
                self.strange.append(f"{what}: {name}")
            elif item[0] == "block":
                inside = f"{what}: {' '.join([name, *item[2]])}"
                self._check_block(inside, item[3], form[name])
            else:
                value = self.value(item[2], f"{what}: {name}")
                if isinstance(form[name], dict) or (form[name] is not _ANY and value != form[name]):
                    self.strange.append(f"{what}: {name}")

    def _check_block(self, what: str, body: list[tuple], form: object) -> None:
        if form is _SIDECAR and self.attributes(body, deep=True) != _SIDECAR:
            self.strange.append(what)
        elif isinstance(form, dict):
            self.check(what, body, form)
        elif form is not _ANY:
            self.strange.append(what)

    def value(self, value: tuple, what: str) -> object:
        """What a value is once the job is submitted; an expression that Eos does not emit is noted, and None."""
        kind, content = value
        if kind == "list":
            return [self.value(element, what) for element in content]
        if kind == "map":
            return {name: self.value(element, what) for name, element in content}
        if kind != "raw":
            return content
        if variable := _VARIABLE.fullmatch(content):
            return self.values.get(variable[1])
        if content == _MIGRATED:
            return content
        if not _COMPOSED.fullmatch(content):
            self.strange.append(what)
        return None

    def attributes(self, body: list[tuple], deep: bool = False) -> dict:
        found = {item[1]: self.value(item[2], item[1]) for item in body if item[0] == "attribute"}
        if deep:
            found |= {item[1]: self.attributes(item[3], deep=True) for item in body if item[0] == "block"}
        return found

    def task(self, item: tuple) -> dict:
        name, body = item[2][0] if item[2] else "", item[3]
        attributes = self.attributes(body)
        driver = str(attributes.get("driver"))
        # In a container it is a user of the image; beside the host's own programs it is one of the host.
        if "user" in attributes and driver != "docker":
            self.strange.append(f"task {name}: user")
        config: dict = {}
        env: dict = {}
        for kind, inner in ((block[1], block[3]) for block in body if block[0] == "block"):
            if kind == "config":
                self.check(f"task {name}: config", inner, _CONFIGS.get(driver, {}))
                config |= self.attributes(inner)
                mounted = [mount.get("source") for mount in self.each(inner, "mount")]
                strange = [source for source in mounted if not _FILE.fullmatch(str(source))]
                self.strange += [f"task {name}: mount of {source}" for source in strange]
            elif kind == "env":
                self.check(f"task {name}: env", inner, _all(*(entry[1] for entry in inner if entry[0] == "attribute")))
                env |= self.attributes(inner)
        templates = sum(block[:2] == ("block", "template") for block in body)
        return {"name": name, "driver": driver, "config": config, "env": env, "templates": templates}

    def each(self, body: list[tuple], kind: str) -> list[dict]:
        """The attributes of each block of a kind."""
        return [self.attributes(item[3]) for item in body if item[:2] == ("block", kind)]

    def commands(self, group: list[tuple]) -> list[list]:
        """What checks and reloads run inside a task of this group."""
        services = [item[3] for item in group if item[:2] == ("block", "service")]
        checks = [check for service in services for check in self.each(service, "check")]
        tasks = [item[3] for item in group if item[:2] == ("block", "task")]
        templates = [item[3] for task in tasks for item in task if item[:2] == ("block", "template")]
        scripts = [script for template in templates for script in self.each(template, "change_script")]
        ran = [one for one in (*checks, *scripts) if "command" in one]
        return [[one["command"], *(one.get("args") or [])] for one in ran]
