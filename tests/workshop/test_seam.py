"""The seam of a kind: beside its own files, only the lists of kinds name it. A kind is found by its identifiers."""

import re

import pytest
from record import ROOT

OF_MINIONS = {file.stem.removeprefix("eos_kind_") for file in (ROOT / "formula/_modules").glob("eos_kind_*.py")}
# Terraform makes resources, so that no minion has a module of theirs.
KINDS = sorted(OF_MINIONS | {"resource"})
# The lists: the core's and the engine's.
LISTS = {"crates/eos-core/src/kinds/mod.rs", "crates/eos-engine/src/kinds/mod.rs"}
# Files that name a kind besides. The kinds here are older than the rule: their lists become shorter, never longer, and a
# kind that is not here has none.
BESIDES = {
    "rules": {
        "crates/eos-core/src/plan/effects/explain.rs",
        "crates/eos-core/src/plan/mod.rs",
    },
    "secret": {
        "crates/eos-core/src/compile.rs",
        "crates/eos-core/src/plan/effects/explain.rs",
        "crates/eos-core/src/plan/mod.rs",
        "crates/eos-engine/src/operation/execution.rs",
        "crates/eos-engine/src/operation/run.rs",
        "crates/eos-engine/src/operation/take_back.rs",
        "crates/eos-engine/src/operation/way_back.rs",
        "crates/eos-engine/src/preview/secrets.rs",
        "crates/eos-engine/src/secrets.rs",
        "crates/eos-engine/src/status/live.rs",
        "crates/eos/src/commands/complete.rs",
    },
    "volume": {
        "crates/eos-core/src/drift/jobs.rs",
        "crates/eos-core/src/node.rs",
        "crates/eos-core/src/plan/effects/explain.rs",
        "crates/eos-core/src/plan/mod.rs",
        "crates/eos-core/src/why/explain.rs",
        "crates/eos-engine/src/operation/take_back.rs",
        "crates/eos-engine/src/planning.rs",
        "crates/eos-engine/src/status/live.rs",
        "crates/eos-engine/src/storage.rs",
        "crates/eos-engine/src/store.rs",
        "crates/eos/src/commands/list.rs",
        "crates/eos/src/commands/volume.rs",
    },
    "workspace": {
        "crates/eos-core/src/kinds/job.rs",
        "crates/eos-core/src/plan/steps.rs",
        "crates/eos-engine/src/diagnose/witness.rs",
        "crates/eos-engine/src/session.rs",
        "crates/eos-engine/src/terraform_graph.rs",
        "formula/_modules/eos_delivery_roles.py",
    },
}
COMMENT = re.compile(r"//[^\n]*")
# In a source file tests come last.
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", re.S)
DOCSTRING = re.compile(r'"""(?:.|\n)*?"""|#[^\n]*')


def is_own(path: str, kind: str) -> bool:
    """Whether a file is the kind's own: named after it, in each layer."""
    return bool(
        re.fullmatch(
            rf"crates/eos-(?:core|engine)/src/kinds/{kind}(?:\.rs|/.*)|formula/_\w+/eos_(?:kind_)?{kind}s?(?:_\w+)?\.py",
            path,
        )
    )


def is_named(path: str, text: str, kind: str) -> bool:
    """Whether code names the kind, by an identifier or as the name of a kind: not the English word."""
    if path.endswith(".rs"):
        text = COMMENT.sub("", TESTS.sub("", text))
        variant = "".join(word.title() for word in kind.split("_"))
        marks = (
            rf"\b(?:NodeKind|Made|MadePart|Unmade|UnmadePart)::{variant}\b",
            rf"\bkinds::{kind}\b|\bkinds::\{{[^}}]*\b{kind}\b[^}}]*\}}",
            rf"\beos_kind_{kind}\b",
            rf"\.in_workspace\s*\.{kind}s?\b",
            rf'"kind": "{kind}"',
        )
    else:
        text = DOCSTRING.sub("", text)
        marks = (
            rf"\beos_kind_{kind}\b",
            rf"""kind["']?\]? (?:==|!=|in) \(?["']{kind}["']""",
            rf"""["']kind["']: ["']{kind}["']""",
        )
    return any(re.search(mark, text) for mark in marks)


def sources() -> dict[str, str]:
    found = [*ROOT.glob("crates/*/src/**/*.rs"), *ROOT.glob("formula/**/*.py")]
    return {str(file.relative_to(ROOT)): file.read_text() for file in found if file.name != "tests.rs"}


def naming(kind: str) -> set[str]:
    """The sources that name a kind and are not its own."""
    return {path for path, text in sources().items() if not is_own(path, kind) and is_named(path, text, kind)}


@pytest.mark.parametrize("kind", KINDS)
def test_no_other_file_names_a_kind(kind):
    assert naming(kind) - LISTS == BESIDES.get(kind, set())


def test_the_list_of_exceptions_has_older_kinds_alone():
    assert set(BESIDES) == {"rules", "secret", "volume", "workspace"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_lists_and_its_own_files_name_a_kind(kind):
    """The marks find what they look for."""
    found = sources()
    assert all(re.search(rf"\bmod {kind};", found[file]) for file in LISTS)
    own = {path: text for path, text in found.items() if is_own(path, kind)}
    assert kind not in OF_MINIONS or f"formula/_modules/eos_kind_{kind}.py" in own
    assert any(is_named(path, text, kind) for path, text in own.items())


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.rs", "Work::Make(Made::File(part)) => 1,", True),
        ("a.rs", "node.address.kind == NodeKind::File", True),
        ("a.rs", "use eos_core::kinds::file;", True),
        ("a.rs", "use eos_core::kinds::{Made, file, job};", True),
        ("a.rs", 'json!({"kind": "file"})', True),
        ("a.rs", "component\n    .in_workspace\n    .files\n    .iter()", True),
        ("a.rs", "// Made::File is the kind's own", False),
        ("a.rs", "let file = File::open(path)?; Layer::Files", False),
        ("a.rs", "use eos_core::kinds::{Made, profile};", False),
        ("a.rs", "NodeKind::FileSystem", False),
        ("a.rs", "fn a() {}\n#[cfg(test)]\nmod tests {\n  Made::File(x);\n}\n", False),
        ("a.py", '__salt__["eos_kind_file.make"](x)', True),
        ("a.py", 'if asked["kind"] == "file":', True),
        ("a.py", 'if kind == "file":', True),
        ("a.py", '"""eos_kind_file is a kind."""\nopen("file")', False),
        ("a.py", '{"file": "removed"}', False),
    ],
)
def test_a_kind_is_found_by_its_identifiers(path, text, expected):
    assert is_named(path, text, "file") is expected
