"""Each key of a container, seen by its effect from within the running container, not in a job file."""

import json
import platform
import shutil
import socket
from pathlib import Path

import pytest
from estates import Estate
from test_containers import bridge_of
from test_governance import waits

pytestmark = pytest.mark.chain

# It says what it finds, answers over UDP and TCP, and takes eight seconds to end.
VESSEL = r"""
use strict; use IO::Socket::INET; use IO::Select;
sub text { my ($file) = @_; open(my $in, '<', $file) or return "none: $!"; local $/; my $text = <$in>; $text =~ s/\n+\z//; $text }
sub say_it { my ($file, $text) = @_; open(my $out, '>', "/cargo/$file.new") or die $!; print $out $text; close $out; rename("/cargo/$file.new", "/cargo/$file") }
my ($shm) = grep { m{ /dev/shm } } split /\n/, text('/proc/mounts');
opendir(my $here, $ENV{NOMAD_TASK_DIR}); my $files = join ' ', sort grep { !/^\./ } readdir $here;
my $conf = text('/etc/vessel/vessel.conf');
my $written = open(my $try, '>>', '/etc/vessel/vessel.conf') ? 'written' : 'refused';
my $facts = join "\n", "user=$<", 'group=' . (split / /, $()[0], 'first=' . text('/proc/1/comm'),
  'hostname=' . text('/proc/sys/kernel/hostname'), "shm=$shm", "conf=$conf", "conf_is=$written", "files=$files",
  "args=@ARGV", "dotted=$ENV{'vessel.mode'}", "late=$ENV{'vessel.late'}", '';
my $ended = 0;
$SIG{TERM} = sub { $ended = 1 };
my $web = IO::Socket::INET->new(Listen => 5, LocalPort => 8080, ReuseAddr => 1) or die $!;
my $line = IO::Socket::INET->new(Listen => 5, LocalPort => 5353, ReuseAddr => 1) or die $!;
my $call = IO::Socket::INET->new(Proto => 'udp', LocalPort => 5353) or die $!;
say_it('facts', $facts);
my $ready = IO::Select->new($web, $line, $call);
until ($ended) {
  for my $one ($ready->can_read(1)) {
    if ($one == $call) { $call->recv(my $words, 100); $call->send("heard $words"); next }
    my $caller = $one->accept or next;
    print $caller "HTTP/1.0 200 OK\r\n\r\n"; close $caller;
  }
}
sleep 8;
say_it('ended', "in good order\n");
"""

RECIPE = """\
recipe: vessel
summary: Everything that can be said of a container
version: "1"
options:
  captain: {default: Ahab, help: Who commands it}
needs:
  cargo: {volume: {purpose: application, size: 1GiB, path: "/opt/{{ instance }}/cargo", owner: "1234:4321"}}
services:
  vessel:
    instances: one
    cpu: 50
    memory: 128
    image: "tools/vessel:1"
    entrypoint: [PERL, "{{ files_dir }}/vessel.pl"]
    args: [told, twice]
    user: "1234:4321"
    init: true
    hostname: vessel.example.org
    shm: 48mb
    stop: {within: 25s}
    env: {vessel.mode: dotted, vessel.late: "at {{ services.vessel.host }}"}
    files:
      vessel.pl: |
        {% raw %}PROGRAM
        {% endraw %}
      vessel.conf: {path: /etc/vessel/vessel.conf, text: "captain = {{ captain }}\\n"}
    ports: {web: {to: 8080}, call: {to: 5353, protocol: udp}}
    check: {http: /}
    volumes: {cargo: /cargo}
  mate:
    instances: one
    cpu: 20
    memory: 64
    image: "tools/vessel:1"
    user: "1234:4321"
    args: [-c, "while :; do cat /hold/facts > /hold/copy.new && mv /hold/copy.new /hold/copy; sleep 1; done"]
    volumes: {cargo: /hold}
"""

PILOT = """\
recipe: pilot
summary: A container beyond its own walls
version: "1"
services:
  pilot:
    instances: one
    cpu: 20
    memory: 64
    image: "tools/vessel:1"
    args: [-c, "cat /proc/net/dev >&2; test -c DEVICE && echo it has DEVICE; exec sleep 600"]
    privileges: {network: host, devices: [DEVICE]}
"""

ELSEWHERE = """\
recipe: elsewhere
summary: Runs on another processor
version: "1"
requires: {architecture: ARCHITECTURE}
services:
  elsewhere:
    image: "tools/vessel:1"
    args: [-c, "exec sleep 600"]
"""
DEVICE = "/dev/loop-control"
PERL_LIBRARY = "/usr/lib/x86_64-linux-gnu/perl-base"


@pytest.fixture(scope="module")
def vessel(with_containers) -> Estate:
    estate = with_containers
    perl = shutil.which("perl", path="/usr/bin")
    programs = ["sh", "cat", "mv", "sleep", "test", perl]
    estate.must("lab", "image", "tools/vessel:1", *programs, "--directory", PERL_LIBRARY)
    program = VESSEL.strip().replace("\n", "\n        ")
    estate.write_recipe("vessel", RECIPE.replace("PROGRAM", program).replace("PERL", perl))
    estate.must("create", "vessel", "--yes")
    return estate


def cargo(estate: Estate) -> Path:
    return estate.lab / "volumes/opt/vessel/cargo"


def facts(estate: Estate) -> dict[str, str]:
    lines = (cargo(estate) / "facts").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def place(estate: Estate, label: str) -> tuple[str, int]:
    """Where the host has a port of it."""
    [running] = [one for one in estate.running("vessel") if one["TaskGroup"] == "vessel"]
    allocation = estate.nomad(f"/v1/allocation/{running['ID']}")
    [port] = [one for one in allocation["AllocatedResources"]["Shared"]["Ports"] if one["Label"] == label]
    return port["HostIP"], port["Value"]


def test_user_group_hostname_and_first_process(vessel):
    found = facts(vessel)
    assert (found["user"], found["group"], found["hostname"]) == ("1234", "4321", "vessel.example.org")
    # Docker's own small process is the first, and passes signals on.
    assert found["first"] == "docker-init"
    assert (cargo(vessel) / "facts").stat().st_uid == 1234


def test_entrypoint_arguments_and_variables(vessel):
    found = facts(vessel)
    assert (found["args"], found["dotted"]) == ("told twice", "dotted")
    assert found["late"] == f"at {place(vessel, 'web')[0]}"


def test_its_processes_share_as_much_memory_as_it_says(vessel):
    assert "size=49152k" in facts(vessel)["shm"]


def test_a_file_lies_at_its_path_and_nowhere_else(vessel):
    found = facts(vessel)
    assert (found["conf"], found["conf_is"]) == ("captain = Ahab", "refused")
    # What it could replace by a link, Docker would follow at the next start, to any file of the host.
    assert found["files"] == "eos-links.env vessel.pl"


def test_it_answers_over_udp_and_over_tcp_at_the_same_port(vessel):
    there = place(vessel, "call")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as caller:
        caller.settimeout(10)
        caller.sendto(b"ahoy", there)
        assert caller.recv(100) == b"heard ahoy"
    with socket.create_connection(there, timeout=10) as caller:
        assert caller.recv(100).startswith(b"HTTP/1.0 200")


def test_two_services_share_a_volume(vessel):
    copy = cargo(vessel) / "copy"
    vessel.wait_until(copy.exists, 30, "the other service read what this one wrote")
    assert "hostname=vessel.example.org" in copy.read_text()


def test_a_changed_file_comes_with_a_restart_that_has_its_grace(vessel):
    assert not (cargo(vessel) / "ended").exists()
    vessel.must("update", "vessel", "--captain", "Ishmael", "--yes")
    assert facts(vessel)["conf"] == "captain = Ishmael"
    # It took eight seconds to end; Nomad kills after five if nobody says otherwise.
    assert (cargo(vessel) / "ended").read_text() == "in good order\n"


def test_a_plan_for_another_processor_is_refused(vessel):
    other = "amd64" if platform.machine() == "aarch64" else "arm64"
    vessel.write_recipe("elsewhere", ELSEWHERE.replace("ARCHITECTURE", other))
    refused = vessel.eos("create", "elsewhere", "--yes")
    words = " ".join(refused.stderr.split())
    assert refused.returncode == 2 and other in words and "hint:" in words, refused.stderr
    assert vessel.nomad("/v1/job/elsewhere?namespace=production") is None


def test_privileges_are_shown_raise_the_risk_and_are_had(vessel):
    # The recipe says nothing of a risk: the minion finds it.
    vessel.write_recipe("pilot", PILOT.replace("DEVICE", DEVICE))
    shown = " ".join(vessel.must("create", "pilot", "--plan").stdout.split())
    assert "the network of the host" in shown and f"devices {DEVICE}" in shown and "high risk" in shown, shown
    operation = waits(vessel, "create", "pilot")
    assert vessel.nomad("/v1/job/pilot?namespace=production") is None
    vessel.must("approve", operation, "--as", "eos-architect", "--yes")
    vessel.must("resume", operation)
    [running] = vessel.running("pilot")
    said = lambda kind: "".join(path.read_text() for path in vessel.files(f"**/{running['ID']}/**/pilot.{kind}.0"))  # noqa: E731
    vessel.wait_until(lambda: f"it has {DEVICE}" in said("stdout"), 30, "it found the device")
    assert f"{bridge_of(vessel)}:" in said("stderr"), "it has the links of its host"


def test_all_of_it_goes(vessel):
    for name in ("pilot", "vessel"):
        gone = vessel.eos("delete", name, "--yes", "--json")
        if gone.returncode == 4:
            operation = json.loads(gone.stdout.strip().split("\n")[-1])["operation"]
            vessel.must("approve", operation, "--as", "eos-architect", "--yes")
            vessel.must("resume", operation)
    assert vessel.jobs() == []
    assert (cargo(vessel) / "facts").exists(), "data stay"
