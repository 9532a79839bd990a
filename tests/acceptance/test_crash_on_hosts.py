"""Jobs on hosts of a pool, cut anywhere: they end as if nothing had been, no operation runs twice, each instance is on
its own host and nowhere else, and once all is removed nothing is left, neither on the hosts nor in the books."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from ordito.ensemble.layout import Layout
from ordito.ensemble.replay import rebuild
from ordito.ensemble.store import read_ensemble
from tests.acceptance.on_hosts import Hosted, write_inventory
from tests.acceptance.program import LOGGING, completed_twice, log_lines, overlaps
from tests.acceptance.test_crash_everywhere import KILL_AT_RECORD
from tests.support.real.hosts import SshHost, SshHosts

THOROUGH = os.environ.get("ORDITO_THOROUGH") == "1"
SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  far.App:
    derived_from: tosca.nodes.SoftwareComponent
    attributes: { mark: { type: string } }
    requirements:
      - peer: { capability: tosca.capabilities.Node, relationship: far.Link, occurrences: [ 0, UNBOUNDED ] }
    interfaces:
      Standard:
        operations:
          create: { implementation: do.sh, outputs: { mark: [ SELF, mark ] } }
          configure: do.sh
          start: do.sh
          stop: do.sh
          delete: do.sh
relationship_types:
  far.Link:
    derived_from: tosca.relationships.DependsOn
    interfaces:
      Configure:
        type: tosca.interfaces.relationship.Configure
        operations: { pre_configure_source: do.sh, add_target: do.sh, remove_target: do.sh }
topology_template:
  node_templates:
    store_machine: { type: tosca.nodes.Compute }
    store: { type: far.App, requirements: [ { host: store_machine } ] }
    machine: { type: tosca.nodes.Compute, instance_count: 2, occurrences: [ 0, 9 ] }
    app: { type: far.App, requirements: [ { host: machine }, { peer: store } ] }
"""
PLACE = "/tmp/far"
LOG = f"{PLACE}/operations.log"
SCRIPT = f"""\
set -eu
name=${{INSTANCE:-$SOURCE-$TARGET}}
case ${{ORDITO_STEP##*.}} in
    create) : >{PLACE}/$name.created ;;
    start)
        setsid sleep 98765 </dev/null >/dev/null 2>&1 & echo $! >{PLACE}/$name.started ;;
    stop)
        if [ -e {PLACE}/$name.started ]; then kill "$(<{PLACE}/$name.started)" 2>/dev/null || :; fi
        rm -f {PLACE}/$name.started ;;
    delete) rm -f {PLACE}/$name.created ;;
    add_target) : >{PLACE}/$name.linked ;;
    remove_target) rm -f {PLACE}/$name.linked ;;
esac
mark=$name
"""


@dataclass(frozen=True)
class Case:
    """A command, what is done before, after how many records it is cut in quick tests, and at most in thorough ones."""

    words: str
    before: Sequence[str] = ("deploy",)
    quick: Sequence[int] = ()
    most: int = 0


CASES: Mapping[str, Case] = {
    "deploy": Case("deploy", before=(), quick=(25,), most=70),
    "undeploy": Case("undeploy", quick=(28,), most=36),
    "scale out": Case("scale machine=3", most=36),
    "scale in": Case("scale machine=1", most=24),
    "heal": Case("heal machine_1 --reinstall", most=48),
}


def cuts() -> list[tuple[str, int]]:
    return [(name, n) for name, case in CASES.items() for n in (range(case.most) if THOROUGH else case.quick)]


@pytest.fixture(scope="module")
def members(ssh_hosts: SshHosts) -> Iterator[list[SshHost]]:
    """The hosts of the pool."""
    ssh_hosts.need_isolation()
    with ssh_hosts.some("one", "two", "three", "four") as started:
        yield started


@pytest.fixture
def service(ssh_hosts: SshHosts, members: list[SshHost], tmp_path: Path) -> Hosted:
    """The service, on hosts on which nothing is."""
    folder = tmp_path / "service"
    folder.mkdir()
    (folder / "service.yaml").write_text(SERVICE, encoding="utf-8")
    logged = f"[ -d {PLACE} ] || mkdir -p {PLACE}\n" + LOGGING.format(log=LOG)
    (folder / "do.sh").write_text(f"#!/bin/bash\n{logged}{SCRIPT}", encoding="utf-8")
    for host in members:
        host.run("sh", "-c", f"rm -rf {PLACE} /home/ops/.ordito; pkill -u ops sleep; :")
    hosted = Hosted(tmp_path, folder / "service.yaml")
    write_inventory(hosted.inventory, ssh_hosts, members)
    return hosted


def given(service: Hosted, words: str) -> list[str]:
    """The arguments of a command of a case."""
    return service.deploying() if words == "deploy" else service.words(*words.split(), "--yes")


def on_hosts(members: Sequence[SshHost]) -> dict[str, set[str]]:
    """What operations have left on each host; what is left of the program itself is a thing as well."""
    found = {}
    for host in members:
        files = {f.removeprefix(PLACE + "/") for f in host.files()}
        files = {f.split("/tools-")[0].split("/trees/")[0] for f in files if not f.startswith("operations.log")}
        files = {f.replace("/.ordito/", "/.jobs/") if "/jobs/" in f else f for f in files}
        found[host.name] = {f if "/.ordito/" not in f else ".ordito" for f in files}
        sleeping = host.run("sh", "-c", "ps -eo args | grep -c '^sleep 98765' || :").strip()
        found[host.name].add(f"{sleeping} started")
    return found


def wanted(service: Hosted, members: Sequence[SshHost]) -> dict[str, set[str]]:
    """What has to be on each host by what is recorded."""
    found: dict[str, set[str]] = {host.name: {"0 started"} for host in members}
    if (service.ensemble / "ensemble.yaml").exists():
        for name, record in service.instances().items():
            if "host" not in record or record["readyState"]["local"] == "absent":
                continue
            there = {f"{name}.created", f"{name}.started", ".ordito", "1 started"}
            there |= {f"{name}-store_1.linked"} if name.startswith("app") else set()
            found[service.host_of(record["host"])] = there
    return found


def assert_true(service: Hosted, members: Sequence[SshHost]) -> None:
    """What is recorded is what there is, on the hosts and in the books."""
    assert on_hosts(members) == wanted(service, members)
    machines = {n for n, r in service.instances().items() if "machine" in n and r["readyState"]["local"] != "absent"}
    assert service.taken() == {service.host_of(name): "taken" for name in machines}
    for host in members:
        log = Path(f"{host.root}{LOG}")
        assert overlaps(log) == []
        assert completed_twice(log) == []
        assert all(kind in ("begin", "end") for kind, *_ in log_lines(log))
    rebuilt = rebuild(Layout(service.ensemble))
    assert rebuilt.problems == ()
    with read_ensemble(service.ensemble) as ensemble:
        assert ensemble.unfinished is None
        assert rebuilt.snapshot.instances == ensemble.snapshot.instances
        assert rebuilt.snapshot.attributes == ensemble.snapshot.attributes
        assert rebuilt.status == ensemble.status


@pytest.mark.parametrize(("name", "number"), cuts())
def test_cut_after_a_record(service: Hosted, members: list[SshHost], name: str, number: int) -> None:
    case = CASES[name]
    for words in case.before:
        done = service.run_words(given(service, words))
        assert done.code == 0, done.both
    killed = service.run_words(given(service, case.words), code=KILL_AT_RECORD.format(number=number))
    if killed.code == 0:
        pytest.skip("the job has fewer records than that")
    assert killed.code == -signal.SIGKILL, killed.both
    resumed = service.run("jobs", "resume")
    if "Nothing to resume" in resumed.both or "is not an ensemble" in resumed.both:
        done = service.run_words(given(service, case.words))
        assert done.code == 0, done.both
    else:
        assert resumed.code == 0, resumed.both
    assert_true(service, members)
    removed = service.run("undeploy", "--yes")
    assert removed.code == 0, removed.both
    assert on_hosts(members) == {host.name: {"0 started"} for host in members}
    assert service.taken() == {}
