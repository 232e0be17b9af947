"""Files of a host: a recipe with no service is created, updated, drifts, is reconciled, rolled back, undone and deleted."""

import hashlib
import json
import os

import pytest
from estates import Estate

pytestmark = pytest.mark.chain
RECIPE = """\
recipe: tuning
summary: A setting of a host
version: "1"
risk: low
options:
  hosts: {type: list, default: [control], help: Where}
  value: {type: integer, default: 10, help: The setting}
  more: {type: flag, default: false, help: Whether there is a second file}
host:
  hosts: "{{ hosts }}"
  files:
    FILES/60-{{ component }}.conf:
      text: "vm.swappiness = {{ value }}\\n"
      user: "UID"
      group: "GID"
    FILES/61-{{ component }}.conf:
      text: |
        {% raw %}{{ not a template }}{% endraw %}
      user: "UID"
      group: "GID"
      mode: "600"
      when: "{{ more }}"
"""


class Tuned:
    """The one component of these tests, and its files as the host itself has them."""

    def __init__(self, estate: Estate):
        self.estate = estate
        self.directory = estate.host_files

    def text(self, number: int = 60) -> str | None:
        file = self.directory / f"{number}-tuning.conf"
        return file.read_text() if os.path.lexists(file) else None

    def address(self, number: int = 60) -> str:
        return f"file{self.directory}/{number}-tuning.conf@control"

    def drift(self) -> list[tuple]:
        """(object, verdict, layer, names of attributes) of all that is not in step."""
        ran = self.estate.eos("drift", "--json")
        assert ran.returncode in (0, 3), ran.stdout + ran.stderr
        found = json.loads(ran.stdout.strip().split("\n")[-1])["objects"]
        return [
            (one["object"], one["verdict"], one["layer"], sorted(each["name"] for each in one["attributes"]))
            for one in found
        ]

    def newest(self) -> str:
        return self.estate.json("history", "--limit", "1")["operations"][0]["id"]

    def records(self) -> list[str]:
        return [file.name for file in self.estate.files("salt/minion/**/eos/files/*.json")]


@pytest.fixture(scope="module")
def tuned(estate):
    estate.host_files.mkdir(mode=0o755, exist_ok=True)
    recipe = RECIPE.replace("FILES", str(estate.host_files))
    recipe = recipe.replace("UID", str(os.getuid())).replace("GID", str(os.getgid()))
    estate.write_recipe("tuning", recipe)
    yield Tuned(estate)
    estate.eos("delete", "tuning", "--yes")


def test_a_recipe_of_files_alone_lives_its_whole_life(tuned):
    estate = tuned.estate
    plan = estate.json("create", "tuning", "--plan")["plan"]
    assert [change["address"] for change in plan["changes"]] == [tuned.address()]
    assert [(step["work"], step.get("kind")) for step in plan["steps"]] == [("deliver", None), ("make", "file")]
    (effect,) = plan["effects"]
    path = tuned.directory / "60-tuning.conf"
    assert (effect["object"], effect["action"]) == (f"salt/file/control:{path}", "create"), effect
    assert effect["change"] == tuned.address()
    assert tuned.text() is None

    estate.must("create", "tuning", "--yes")
    assert tuned.text() == "vm.swappiness = 10\n"
    assert path.stat().st_mode & 0o7777 == 0o644
    assert tuned.drift() == []
    why = estate.must("why", tuned.address()).stdout
    assert "default of value" in why, why
    assert estate.json("create", "tuning", "--plan")["plan"]["steps"] == []

    # Updated: the other text, and a second file.
    estate.must("update", "tuning", "--value", "20", "--more", "--yes")
    updated = tuned.newest()
    assert (tuned.text(), tuned.text(61)) == ("vm.swappiness = 20\n", "{{ not a template }}\n")
    assert (tuned.directory / "61-tuning.conf").stat().st_mode & 0o7777 == 0o600

    # Rolled back: the text before, and the second file is gone.
    estate.must("rollback", updated, "--yes")
    assert (tuned.text(), tuned.text(61)) == ("vm.swappiness = 10\n", None)
    assert tuned.drift() == []

    # Deleted, and undone: it is there again.
    estate.must("delete", "tuning", "--yes")
    assert (tuned.text(), tuned.records()) == (None, [])
    estate.must("undo", "--yes")
    assert tuned.text() == "vm.swappiness = 10\n"
    assert tuned.drift() == []


def test_an_edit_by_hand_is_drift_and_is_reconciled(tuned):
    estate = tuned.estate
    estate.must("create", "tuning", "--yes")
    path = tuned.directory / "60-tuning.conf"
    path.write_text("by hand, and nobody else's business\n")
    assert tuned.drift() == [(tuned.address(), "changed", "host", ["content"])]
    said = estate.eos("drift", "--json").stdout
    # The digest of what is there is said, and not a word of it.
    assert "nobody else" not in said and hashlib.sha256(path.read_bytes()).hexdigest() in said, said
    path.chmod(0o666)
    assert tuned.drift() == [(tuned.address(), "changed", "host", ["content", "mode"])]

    # A file has no place in the pillar: it is the recipe's text with options in it.
    refused = estate.eos("reconcile", "tuning", "--adopt", "--yes", env={"COLUMNS": "300"})
    assert refused.returncode != 0 and "cannot be adopted" in refused.stderr, refused.stderr

    estate.must("reconcile", "--yes")
    assert (tuned.text(), path.stat().st_mode & 0o7777) == ("vm.swappiness = 10\n", 0o644)
    assert tuned.drift() == []

    path.unlink()
    assert tuned.drift() == [(tuned.address(), "missing", "host", [])]
    estate.must("reconcile", "--yes")
    assert tuned.text() == "vm.swappiness = 10\n"
    assert tuned.drift() == []


def test_a_creation_is_undone(tuned):
    estate = tuned.estate
    estate.must("delete", "tuning", "--yes")
    estate.must("create", "tuning", "--yes")
    assert tuned.text() is not None
    estate.must("undo", "--yes")
    assert (tuned.text(), tuned.records()) == (None, [])


def test_a_file_of_somebody_else_stops_an_update_and_all_goes_back(tuned):
    """The second file was there before Eos: the update fails, and the first file is what it was."""
    estate = tuned.estate
    estate.must("create", "tuning", "--yes")
    other = tuned.directory / "61-tuning.conf"
    other.write_text("an administrator's\n")
    try:
        ran = estate.eos("update", "tuning", "--value", "30", "--more", "--yes")
        # A long path breaks lines anywhere.
        said = " ".join((ran.stdout + ran.stderr).split())
        assert ran.returncode != 0 and "was there before Eos" in said, said
        assert (tuned.text(), other.read_text()) == ("vm.swappiness = 10\n", "an administrator's\n")
    finally:
        other.unlink()
    assert tuned.drift() == []


def test_nothing_is_left(tuned):
    estate = tuned.estate
    estate.must("delete", "tuning", "--yes")
    assert os.listdir(tuned.directory) == []
    assert tuned.records() == []
    assert tuned.drift() == []
    assert "tuning" not in json.dumps(estate.json("status"))
