"""A container gets its files and volumes of its host, whatever it does with what it may write."""

import pytest
from estates import open_engine

pytestmark = [pytest.mark.chain]

IMAGE = "tools/contained:1"
# At its first start it puts links to the host wherever it may write, under the names of its file, and fails. At the next
# it tells what it finds. {0} tells the two tasks apart: each has a directory of its own.
TRICK = (
    "if test -e /alloc/data/{0}; then exec {1}; fi; : > /alloc/data/{0}; "
    "for place in /local /alloc /alloc/data /secrets /placed /local/placed; do "
    "rm -f $place/page; ln -s HOST $place/page; done; exit 1"
)
RECIPE = """\
recipe: contained
summary: Tries to have the host mounted
version: "1"
risk: medium
services:
  contained:
    instances: one
    image: tools/contained:1
    args: [-c, "SERVICE"]
    cpu: 20
    memory: 32
    files:
      page:
        path: /page
        text: "its own words"
    tasks:
      prepare:
        runs: before
        args: [-c, "PREPARE"]
        memory: 32
"""


def test_a_link_in_place_of_a_file_shows_nothing_of_the_host(with_containers, tmp_path):
    estate = with_containers
    host = tmp_path / "host"
    host.mkdir()
    (host / "of-the-host").write_text("of the host\n")
    estate.json("lab", "image", IMAGE, "sh", "cat", "ln", "ls", "rm", "sleep")
    told = "sh -c 'cat /page; echo; ls -l /page /local/page; ls /page/; {}'"
    service = TRICK.format("service", told.format("sleep 600"))
    prepare = TRICK.format("prepare", told.format("true"))
    text = RECIPE.replace("SERVICE", service).replace("PREPARE", prepare).replace("HOST", str(host))
    estate.write_recipe("contained", text)
    estate.must("create", "contained", "--yes")
    [allocation] = estate.running("contained")
    for task in ("prepare", "contained"):
        estate.wait_until(lambda task=task: "/local/page" in said(estate, allocation, task), 30, "it told")
        found = said(estate, allocation, task)
        assert "its own words" in found and f"-> {host}" in found, "the trick was tried, and the file is its own"
        assert "of-the-host" not in found, found
    assert allocation["TaskStates"]["contained"]["Restarts"] == allocation["TaskStates"]["prepare"]["Restarts"] == 1
    estate.must("delete", "contained", "--yes")


def said(estate, allocation: dict, task: str) -> str:
    path = f"/v1/client/fs/logs/{allocation['ID']}?namespace=production&task={task}&type=stdout&plain=true"
    token = {"X-Nomad-Token": estate.management_token}
    with open_engine(estate.endpoints["nomad"], path, headers=token) as answer:
        return answer.read().decode()
