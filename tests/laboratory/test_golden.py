"""The real readers of the golden trees: Terraform, Nomad's parser, Salt's renderers."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from golden_trees import validate_jobs, validate_workspaces

pytestmark = pytest.mark.side_by_side

GOLDEN = sorted((Path(__file__).parent.parent / "golden").iterdir())
# It has no job, and test_resources.py shows it to a Terraform with its provider.
CLOUD = "resources"


@pytest.fixture(params=GOLDEN, ids=lambda case: case.name)
def tree(request):
    return request.param / "tree"


@pytest.mark.parametrize("case", [case for case in GOLDEN if case.name != CLOUD], ids=lambda case: case.name)
def test_terraform_formats_and_validates(case, estate, tmp_path):
    validate_workspaces(case / "tree", estate, tmp_path)


# A Nomad without Consul and Vault refuses jobs of the full profile: test_full.py shows them to one that has both.
@pytest.mark.parametrize(
    "case", [case for case in GOLDEN if case.name not in ("full", CLOUD)], ids=lambda case: case.name
)
def test_nomad_parses_and_validates_every_job(case, estate):
    validate_jobs(case / "tree", estate)


RENDER = """
import json, sys
import salt.config, salt.loader, salt.template
opts = salt.config.minion_config(None)
opts["file_client"] = "local"
renderers = salt.loader.render(opts, {})
for path in sys.argv[1:]:
    value = salt.template.compile_template(path, renderers, "json", None, None)
    print(json.dumps(value))
"""


def test_salt_renders_every_sls(tree, tmp_path):
    files = sorted(tree.rglob("*.sls"))
    assert files
    python = Path(os.environ["EOS_TEST_SALT"]) / "bin/python"
    ran = subprocess.run([python, "-c", RENDER, *files], capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    rendered = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(rendered) == len(files)
    for path, value in zip(files, rendered, strict=True):
        assert value == json.loads(path.read_text().split("\n", 1)[1]), path
