"""A database at work whose volume grows: no transaction fails, none is lost, and nothing restarts."""

import pwd
import re
from glob import glob

import pytest
from estates import running_estate
from packages import cannot_have
from guests import guest, no_guests
from storage import MIB, StorageHost

pytestmark = [pytest.mark.chain, pytest.mark.quiet]

PACKAGES = {
    "/usr/lib/postgresql/*/bin/postgres": "postgresql",
    "/usr/lib/postgresql/*/bin/pgbench": "postgresql-contrib",
    "setpriv": "util-linux",
}
DATA = "/opt/pgtest/data"
# Docker has no place in a guest, so that this is the host's own PostgreSQL; its volume is that of any recipe.
RECIPE = """\
recipe: pgtest
summary: A PostgreSQL of the host
version: "1"
needs:
  data:
    volume:
      purpose: database
      size: 600M
      path: "/opt/{{{{ instance }}}}/data"
      owner: "{user}:{group}"
      mode: "0700"
services:
  pgtest:
    instances: one
    cpu: 200
    memory: 384
    program: [sh, "{{{{ files_dir }}}}/start"]
    ports: {{db: {{}}}}
    check: {{tcp: true}}
    volumes: {{data: /opt/pgtest/data}}
    files:
      start: |
        set -eu
        cd /
        data=/opt/{{{{ instance }}}}/data/pgdata
        as="setpriv --reuid {user} --regid {group} --clear-groups"
        if ! [ -s "$data/PG_VERSION" ]; then
            $as {programs}/initdb -D "$data" -U postgres -A trust --no-locale -E UTF8 --no-sync
        fi
        exec $as {programs}/postgres -D "$data" -p "$NOMAD_PORT_db" -c listen_addresses='*' \\
            -c unix_socket_directories= -c shared_buffers=32MB -c max_connections=20 -c max_wal_size=128MB
"""
# One snapshot for all four, which a transaction changes together.
SUMS = """
select (select sum(abalance) from pgbench_accounts), (select sum(tbalance) from pgbench_tellers),
    (select sum(bbalance) from pgbench_branches), (select sum(delta) from pgbench_history)
"""
# The load outlives the change of size, however slow the machine is; a test that finds it ended has proved nothing.
LOAD_SECONDS = 150
# Transactions a second. As many as its one processor can do would leave the minion of a guest none of it, and Eos gives up
# on a minion that says nothing for a minute.
LOAD_RATE = 20


class Database:
    """The component, its allocation, and the guest's own clients of it."""

    def __init__(self, host: StorageHost, programs: str):
        self.host, self.programs = host, programs
        (allocation,) = host.estate.running("pgtest")
        self.allocation = allocation["ID"]
        ports = host.estate.nomad(f"/v1/allocation/{self.allocation}")["AllocatedResources"]["Shared"]["Ports"]
        self.port = next(port["Value"] for port in ports if port["Label"] == "db")

    def client(self, program: str, words: str) -> str:
        return f"{self.programs}/{program} -h 127.0.0.1 -p {self.port} -U postgres {words} postgres"

    def ask(self, query: str) -> list[str]:
        command = self.client("psql", f'-XAtq -F " " -c "{query}"')
        return self.host.machine.must(command, timeout=120).split()

    def history(self) -> int:
        return int(self.ask("select count(*) from pgbench_history")[0])

    def began(self) -> tuple:
        """What another start of it would change: the allocation, its task's starts, and the server's own first moment."""
        (allocation,) = self.host.estate.running("pgtest")
        (task,) = allocation["TaskStates"].values()
        server = self.ask("select extract(epoch from pg_postmaster_start_time())")
        return allocation["ID"], task["Restarts"], task["StartedAt"], *server


@pytest.fixture(scope="module")
def programs():
    if why := cannot_have(PACKAGES, "a database with an account of its own needs root") or no_guests():
        pytest.skip(why)
    return sorted(glob("/usr/lib/postgresql/*/bin"))[-1]


@pytest.fixture(scope="module")
def database(tmp_path_factory, programs):
    # Volumes are spread over all clients, so that this one is in an estate that nobody else uses.
    with (
        running_estate(tmp_path_factory.mktemp("database") / "estate") as estate,
        guest(estate, "dbnode", disks=["3G"], memory="1G") as machine,
    ):
        account = pwd.getpwnam("postgres")
        recipe = estate.root / "recipes/pgtest/recipe.yaml"
        recipe.parent.mkdir(parents=True)
        recipe.write_text(RECIPE.format(user=account.pw_uid, group=account.pw_gid, programs=programs))
        machine.start_nomad()
        machine.wait_for_minion()
        machine.wait_for_nomad()
        disk = "--role client,storage --volume-group data-vg --device /dev/ubdb"
        estate.must("create", "host", "dbnode", "--address", "10.0.2.15", *disk.split(), "--yes")
        host = StorageHost(estate, machine)
        host.carried_out("create", "pgtest")
        yield Database(host, programs)


def test_the_data_of_a_database_are_on_a_volume_that_nomad_knows(database):
    host = database.host
    assert host.mounted(DATA) == ("/dev/mapper/data--vg-pgtest--data", "xfs")
    assert host.size("/dev/data-vg/pgtest-data") == 600 * MIB
    assert host.machine.must(f"stat -c '%U %a' {DATA}").split() == ["postgres", "700"]
    (volume,) = host.estate.nomad("/v1/volumes?type=host&namespace=production")
    node = next(node["ID"] for node in host.estate.nomad("/v1/nodes") if node["Name"] == "dbnode")
    assert (volume["Name"], volume["NodeID"], volume["State"]) == ("pgtest-data", node, "ready"), volume
    assert database.ask("show data_directory") == [f"{DATA}/pgdata"]
    assert host.estate.nomad(f"/v1/allocation/{database.allocation}")["NodeID"] == node


def test_it_grows_under_load_and_no_transaction_fails(database):
    host, machine = database.host, database.host.machine
    machine.must(database.client("pgbench", "-i -s 2 -q"), timeout=300)
    before, capacity = database.began(), host.capacity(DATA)

    load = machine.start(database.client("pgbench", f"-c 2 -T {LOAD_SECONDS} -R {LOAD_RATE} -P 10"))
    host.estate.wait_until(lambda: database.history() > 0, 60, "transactions before the change of size")
    host.carried_out(*"resize lvm pgtest-data +300M".split())
    assert host.size("/dev/data-vg/pgtest-data") == 900 * MIB
    grown = host.capacity(DATA)
    done = database.history()
    assert not machine.is_finished(load), "the load ended before the change of size"

    code, output = machine.finished(load, LOAD_SECONDS + 120)
    print(output, f"{done} transactions when it had grown, from {capacity} to {grown} bytes")
    assert code == 0, output
    (failed,) = re.findall(r"^number of failed transactions: (\d+)", output, re.MULTILINE)
    (processed,) = re.findall(r"^number of transactions actually processed: (\d+)", output, re.MULTILINE)
    assert int(failed) == 0 and "aborted" not in output, output
    assert int(processed) > done, "no transaction after the change of size"
    assert 290 * MIB < grown - capacity <= 300 * MIB
    assert database.history() == int(processed)
    assert len(set(database.ask(SUMS.replace("\n", " ")))) == 1
    assert database.began() == before
    assert host.mounted(DATA) == ("/dev/mapper/data--vg-pgtest--data", "xfs")
