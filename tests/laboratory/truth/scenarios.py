"""The written scenarios: the start, the request, and the manual changes before it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from . import hands
from .world import World

# What a scenario starts from is named by component, or by environment and component.
Given = dict[str | tuple[str, str], dict]


@dataclass(frozen=True)
class Scenario:
    name: str
    # Of `eos`, where `{port}` is a free port; without any, the pillar as it stands is planned and applied.
    words: tuple[str, ...] = ()
    environment: str = "production"
    # Components that must be there, with options that they must have, and those that must not.
    given: Given = field(default_factory=dict)
    absent: tuple = ()
    # Nothing else may be in the environments.
    alone: bool = False
    # Commands of `eos` before the plan, such as what is to be undone.
    first: tuple[tuple[str, ...], ...] = ()
    # By hand, before the plan.
    hand: Callable[[World], None] | None = None
    # By hand, between plan and apply.
    between: Callable[[World], None] | None = None
    # A secret that is given on standard input: no plan holds it, so it is carried out by its command.
    secret: str | None = None
    # Whether the plan can be saved and applied as it is.
    saved: bool = True
    # An engine that does not answer while the plan is made.
    silent: str | None = None
    # Nomad says that there is no place for it, and so it fails.
    fails: bool = False
    full: bool = False
    # All that there is in the environment afterwards, where that is known.
    leaves: dict | None = None

    def keyed(self, name: str | tuple[str, str]) -> tuple[str, str]:
        return name if isinstance(name, tuple) else (self.environment, name)


HELLO = {"hello": {}}
PAGE = {"page": {}}
STORE = {"store": {}}
NOTES = {"notes": {}}
KEEPER = {"keeper": {}}

CREATE = [
    Scenario("create the first component of an environment", ("create", "hello"), absent=("hello",), alone=True),
    Scenario(
        "create a second one of a recipe",
        ("create", "hello", "--name", "greeter", "--greeting", 'It\'s "me"', "--memory", "80"),
        given=HELLO,
        absent=("greeter",),
    ),
    Scenario("create with a fixed port", ("create", "page", "--fixed-port", "{port}"), given=HELLO, absent=("page",)),
    Scenario(
        "create with two services and a volume",
        ("create", "page", "--beside", "--room"),
        absent=("page",),
        hand=hands.no_volume_directory("page"),
    ),
    Scenario("create with a generated secret", ("create", "store"), absent=("store",)),
    Scenario(
        "create with a secret that is given",
        ("create", "store", "--password", "-"),
        absent=("store",),
        secret="correct horse",
    ),
    Scenario("create one that uses another", ("create", "notes"), absent=("notes",)),
    Scenario(
        "create with a volume in development",
        ("create", "keeper"),
        environment="development",
        absent=("keeper",),
        hand=hands.no_volume_directory("keeper-development"),
    ),
    Scenario("create what is there already", ("create", "hello"), given=HELLO),
]

UPDATE = [
    Scenario("change a text", ("update", "hello", "--greeting", "Hi"), given=HELLO),
    Scenario(
        "change a text back to its default",
        ("update", "hello", "--unset", "greeting"),
        given={"hello": {"greeting": "Hi"}},
    ),
    Scenario("change a number", ("update", "page", "--workers", "7"), given=PAGE),
    Scenario("change a flag", ("update", "page", "--loud"), given={"page": {"loud": False}}),
    Scenario("change a command", ("update", "page", "--remark", "a new word"), given=PAGE),
    Scenario("change a file", ("update", "page", "--note", "two\nlines"), given=PAGE),
    Scenario("change a check", ("update", "page", "--look", "/metrics"), given={"page": {"look": "/health"}}),
    Scenario("fix a port", ("update", "page", "--fixed-port", "{port}"), given={"page": {"fixed_port": None}}),
    Scenario("let a port go", ("update", "page", "--unset", "fixed_port"), given={"page": {"fixed_port": 28999}}),
    Scenario(
        "change resources",
        ("update", "hello", "--cpu", "60", "--memory", "70"),
        given={"hello": {"cpu": 50, "memory": 64}},
    ),
    Scenario("add a service", ("update", "page", "--beside"), given={"page": {"beside": False}}),
    Scenario("take a service away", ("update", "page", "--beside=false"), given={"page": {"beside": True}}),
    Scenario(
        "add a volume",
        ("update", "page", "--room"),
        given={"page": {"room": False}},
        hand=hands.no_volume_directory("page"),
    ),
    Scenario("take a volume away", ("update", "page", "--room=false"), given={"page": {"room": True}}),
    Scenario(
        "change many things of one component",
        ("update", "page", "--title", "All", "--workers", "9", "--loud", "--note", "all new", "--memory", "72"),
        given={"page": {"loud": False, "memory": 64}},
    ),
    Scenario(
        "take the newest recipe",
        ("update", "keeper", "--upgrade"),
        given=KEEPER,
        hand=hands.recipe(
            "keeper", ('version: "1"', 'version: "2"'), ('mode: "0750"', 'mode: "0700"'), ("LABEL", "NAME")
        ),
    ),
    Scenario("change what another one uses", ("update", "notes-store", "--title", "renamed"), given=NOTES),
    Scenario("change one that uses another", ("update", "notes", "--heading", "Minutes"), given=NOTES),
    Scenario("change a component with a secret", ("update", "store", "--title", "Barn"), given=STORE),
    Scenario("give a secret", ("update", "store", "--password", "-"), given=STORE, secret="battery staple"),
    Scenario("change what is so already", ("update", "page", "--workers", "7"), given={"page": {"workers": 7}}),
]

SCALE = [
    Scenario("scale up", ("update", "hello", "--replicas", "2"), given={"hello": {"replicas": 1}}),
    Scenario(
        "scale up and change",
        ("update", "hello", "--replicas", "3", "--greeting", "Three"),
        given={"hello": {"replicas": 2}},
    ),
    Scenario(
        "change two instances",
        ("update", "hello", "--greeting", "Both"),
        given={"hello": {"replicas": 2}},
    ),
    Scenario("scale down", ("update", "hello", "--replicas", "1"), given={"hello": {"replicas": 3}}),
    Scenario(
        "scale down and change",
        ("update", "hello", "--replicas", "1", "--greeting", "One"),
        given={"hello": {"replicas": 2}},
    ),
]

ROTATE = [
    Scenario("rotate a secret", ("rotate", "secret", "store", "password"), given=STORE),
    Scenario("rotate a secret that another one has a copy of", ("rotate", "secret", "notes-store"), given=NOTES),
]

HAND = [
    Scenario(
        "Nomad runs another number by hand, then a text changes",
        ("update", "hello", "--greeting", "After a hand"),
        given={"hello": {"replicas": 1}},
        hand=hands.count("hello", 3),
    ),
    Scenario(
        "a variable is changed in Nomad, then the number changes",
        ("update", "hello", "--replicas", "2"),
        given={"hello": {"replicas": 1}},
        hand=hands.env("hello", "EOS_HELLO_GREETING", "by hand"),
    ),
    Scenario(
        "a variable is added in Nomad, then memory changes",
        ("update", "hello", "--memory", "66"),
        given={"hello": {"replicas": 1, "memory": 64}},
        hand=hands.env("hello", "STRAY", "by hand"),
    ),
    Scenario(
        "a job is changed in Nomad, and nothing is asked for",
        given={"hello": {"replicas": 1}},
        hand=hands.count("hello", 2),
    ),
    Scenario(
        "a job's meta is changed in Nomad, and nothing is asked for",
        given={"hello": {"replicas": 1}},
        hand=hands.meta("hello", "eos_digest", "0" * 64),
    ),
    Scenario(
        "a job is purged, then a text changes",
        ("update", "hello", "--greeting", "Back again"),
        given={"hello": {"replicas": 1}},
        hand=hands.stopped("hello", purge=True),
    ),
    Scenario("a job is purged, and nothing is asked for", given=HELLO, hand=hands.stopped("hello", purge=True)),
    Scenario(
        "a job is stopped, then a text changes",
        ("update", "hello", "--greeting", "On again"),
        given={"hello": {"replicas": 1}},
        hand=hands.stopped("hello", purge=False),
    ),
    Scenario(
        "Terraform forgot a job, then a text changes",
        ("update", "hello", "--greeting", "Remembered"),
        given={"hello": {"replicas": 1}},
        hand=hands.forgotten("hello"),
    ),
    Scenario(
        "Terraform's state is edited, then the number changes",
        ("update", "hello", "--replicas", "2"),
        given={"hello": {"replicas": 1}},
        hand=hands.terraform_state(
            "hello", lambda state: state["resources"][0]["instances"][0]["attributes"].update(modify_index="7")
        ),
    ),
    Scenario(
        "a rendered file is edited, then a text changes",
        ("update", "hello", "--greeting", "Rendered"),
        given={"hello": {"replicas": 1}},
        hand=hands.rendered_file("hello", "hello.nomad.hcl"),
    ),
    Scenario(
        "a volume's directory is opened to all, then a text changes",
        ("update", "keeper", "--label", "Open"),
        given=KEEPER,
        hand=hands.directory_mode("keeper", 0o777),
    ),
    Scenario(
        "a volume's directory is gone, then the recipe moves on",
        ("update", "keeper", "--upgrade"),
        given=KEEPER,
        hand=hands.all_of(
            hands.directory_gone("keeper"), hands.recipe("keeper", ('version: "1"', 'version: "3"'), ("0750", "2750"))
        ),
    ),
    Scenario(
        "a secret is changed in Nomad, then a text changes",
        ("update", "store", "--title", "Shed"),
        given=STORE,
        hand=hands.variable("store", "password", "by hand"),
    ),
    Scenario(
        "a namespace's description changes, then a text changes",
        ("update", "hello", "--greeting", "Described"),
        given=HELLO,
        hand=hands.namespace("production", "by hand"),
    ),
]

MIXED = [
    Scenario(
        "an option is changed in the pillar by hand",
        given={"hello": {}, "page": {}},
        alone=True,
        hand=hands.pillar({"hello": {"greeting": "From the file"}, "page": {}}),
    ),
    Scenario(
        "one is created, one changed and one deleted in the pillar",
        given={"hello": {}, "page": {}},
        alone=True,
        hand=hands.pillar({"hello": {"replicas": 2}, "store": {}}),
    ),
    Scenario(
        "two are changed at once",
        given={"hello": {}, "store": {}},
        alone=True,
        hand=hands.pillar({"hello": {"greeting": "Both"}, "store": {"title": "of them"}}),
    ),
    Scenario(
        "one is changed in the pillar and another one in Nomad",
        given={"hello": {"replicas": 1}, "page": {}},
        alone=True,
        hand=hands.all_of(hands.count("hello", 2), hands.pillar({"hello": {}, "page": {"title": "Mixed"}})),
    ),
    Scenario(
        "one is changed in the pillar and in Nomad, and a second one comes with a volume",
        given={"hello": {"replicas": 1}, "page": {}},
        absent=("keeper",),
        alone=True,
        hand=hands.all_of(
            hands.env("hello", "STRAY", "by hand"),
            hands.no_volume_directory("keeper"),
            hands.pillar({"hello": {"greeting": "Both"}, "page": {}, "keeper": {}}),
        ),
    ),
]

BACK = [
    Scenario(
        "undo a change", ("undo",), given=HELLO, first=(("update", "hello", "--greeting", "To be undone"),), saved=False
    ),
    Scenario(
        "undo a creation",
        ("undo",),
        given=HELLO,
        absent=("greeter",),
        first=(("create", "hello", "--name", "greeter"),),
        saved=False,
    ),
    Scenario("undo a deletion", ("undo",), given={**HELLO, "page": {}}, first=(("delete", "page"),), saved=False),
    Scenario(
        "undo a rotation's neighbour",
        ("undo",),
        given=STORE,
        first=(("update", "store", "--title", "Undone"),),
        saved=False,
    ),
]

PROMOTE = [
    Scenario(
        "promote to where there is none",
        ("promote", "hello", "--from", "staging", "--to", "production"),
        given={("staging", "hello"): {"greeting": "From staging", "replicas": 1}},
        absent=("hello",),
    ),
    Scenario(
        "promote what has changed",
        ("promote", "hello", "--from", "staging", "--to", "production"),
        given={("staging", "hello"): {"greeting": "Newer", "replicas": 1}, "hello": {"greeting": "Older"}},
    ),
    Scenario(
        "promote one that uses another",
        ("promote", "notes", "--from", "staging", "--to", "production"),
        given={("staging", "notes"): {"heading": "Promoted"}},
        absent=("notes",),
    ),
    Scenario("end an environment", ("delete", "--all"), environment="staging", given={("staging", "hello"): {}}),
]

DELETE = [
    Scenario("delete one of several", ("delete", "hello"), given={**HELLO, **PAGE}),
    Scenario("delete one with a secret", ("delete", "store"), given={**PAGE, **STORE}),
    Scenario("delete one that uses another", ("delete", "notes"), given={**PAGE, **NOTES}),
    Scenario("delete one whose data are kept", ("delete", "keeper"), given={**PAGE, **KEEPER}),
    Scenario("delete one whose data go", ("delete", "keeper"), environment="development", given=KEEPER),
    Scenario(
        "delete one that runs no longer",
        ("delete", "hello"),
        given={**HELLO, **PAGE},
        hand=hands.stopped("hello", purge=True),
    ),
    Scenario("delete the last one", ("delete", "hello"), given=HELLO, alone=True),
]

TROUBLE = [
    Scenario(
        "too much memory", ("update", "hello", "--memory", "9000000"), given={"hello": {"memory": 64}}, fails=True
    ),
    Scenario(
        "too much processor for two instances",
        ("update", "hello", "--cpu", "900000", "--replicas", "2"),
        given={"hello": {"cpu": 50}},
        fails=True,
    ),
    Scenario(
        "Nomad is silent",
        ("update", "hello", "--greeting", "Silence"),
        given=HELLO,
        silent="nomad",
    ),
    Scenario(
        "Salt's minion is silent",
        ("update", "hello", "--greeting", "Quiet"),
        given=HELLO,
        silent="salt-minion",
    ),
]

FULL = [
    Scenario("full: create with a secret", ("create", "store"), absent=("store",), full=True),
    Scenario("full: scale up", ("update", "store", "--replicas", "2"), given={"store": {"replicas": 1}}, full=True),
    Scenario("full: rotate a secret", ("rotate", "secret", "store"), given=STORE, full=True),
    Scenario(
        "full: change a component with a secret",
        ("update", "store", "--title", "Barn"),
        given=STORE,
        full=True,
    ),
    Scenario("full: create one that uses another", ("create", "notes"), absent=("notes",), full=True),
    Scenario(
        "full: Consul lets another one in, then a text changes",
        ("update", "notes-store", "--title", "Watched"),
        given=NOTES,
        hand=hands.intentions("notes-store", "stranger"),
        full=True,
    ),
    Scenario("full: delete one that uses another", ("delete", "notes"), given=NOTES, full=True),
    Scenario("full: delete one with a secret", ("delete", "store"), given=STORE, full=True),
]

WRITTEN = [*CREATE, *UPDATE, *SCALE, *ROTATE, *HAND, *BACK, *MIXED, *PROMOTE, *DELETE, *TROUBLE, *FULL]
