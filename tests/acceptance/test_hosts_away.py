"""A host that is away: what is said of it, and what it is good for to give the same command again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.acceptance.on_hosts import Hosted, application, write_inventory
from tests.support.real.hosts import SshHost, SshHosts
from tests.support.thorough import some


@pytest.fixture
def deployed(tmp_path: Path, ssh_hosts: SshHosts) -> Iterator[tuple[Hosted, SshHost]]:
    ssh_hosts.need_isolation()
    service = application(tmp_path)
    with ssh_hosts.some("far") as (host,):
        write_inventory(service.inventory, ssh_hosts, [host])
        done = service.deploy()
        assert done.code == 0, done.both
        yield service, host


def on_two_machines(home: Path) -> Hosted:
    """The application with two instances, each on a machine of its own."""
    service = application(home)
    two = "{ type: tosca.nodes.Compute, instance_count: 2, occurrences: [ 0, 5 ] }"
    written = service.service.read_text(encoding="utf-8")
    service.service.write_text(written.replace("{ type: tosca.nodes.Compute }", two), encoding="utf-8")
    return service


@pytest.mark.parametrize(("verb", "checked"), some(list(product(("deploy", "upgrade"), (False, True))), 3))
def test_what_is_unchanged_waits_for_its_host(deployed: tuple[Hosted, SshHost], verb: str, checked: bool) -> None:
    """Known to be away it is a failure that says why, and none that is repaired by doing everything once more."""
    service, host = deployed
    host.stop()
    if checked:
        assert "cannot be reached" in service.run("check").out
    unchanged = service.run(verb, "--yes")
    if not checked:
        assert unchanged.code == 0, unchanged.both
        return
    assert unchanged.code == 4, unchanged.both
    failed = next(line for line in unchanged.err.splitlines() if line.startswith("FAILED machine_1"))
    assert failed.startswith("FAILED machine_1 status: unreachable: far: ")
    assert "refuses connections" in failed
    assert "--force" not in unchanged.both
    assert "ordito.settle" not in unchanged.both
    told = unchanged.err.partition("Next:")[2]
    assert " hosts check " in told
    assert " heal machine_1 " in told
    host.start_again()
    again = service.run(verb, "--yes")
    assert again.code == 0, again.both
    assert service.state("machine_1") == ("started", "ok")


def test_what_is_still_missing_on_a_host_that_is_ok_is_named(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    """A healing that came as far as another host, which was away as well: what was on the first is not forgotten."""
    ssh_hosts.need_isolation()
    service = application(tmp_path)
    with ssh_hosts.some("first", "second") as (first, second):
        write_inventory(service.inventory, ssh_hosts, [first, second])
        done = service.deploy()
        assert done.code == 0, done.both
        first.stop()
        second.stop()
        failed = service.run("heal", "machine_1", "--yes")
        assert failed.code == 4, failed.both
        assert service.state("app_1")[1] == "absent"
        second.start_again()
        healed = service.run("heal", "machine_1", "--yes")
        assert healed.code == 0, healed.both
        assert healed.out == "machine_1  is ok: nothing to heal\n"
        assert "app_1 existed before, and must still be created again" in healed.err
        assert " deploy " in healed.err.partition("Next:")[2]
        again = service.deploy()
        assert again.code == 0, again.both
        assert service.state("app_1") == ("started", "ok")
        assert service.host_of("machine_1") == "second"


ASKED = ("machine_1", "app_1", "machine_1 --reinstall")


@pytest.mark.parametrize(("checked", "asked"), some(list(product((False, True), ASKED)), 2))
def test_the_only_host_is_not_given_up(deployed: tuple[Hosted, SshHost], asked: str, checked: bool) -> None:
    """There is no other on which anything could be made again: so nothing is forgotten, and it is waited for."""
    service, host = deployed
    host.stop()
    if checked:
        service.run("check")
    healed = service.run("heal", *asked.split(), "--yes")
    assert healed.code == 4, healed.both
    assert "machine_1 keeps it, because there is no other: no host of" in healed.err
    assert "could not be healed" in healed.out
    assert " hosts check far " in healed.err.partition("Next:")[2]
    assert service.state("app_1") == ("started", "ok")
    assert service.taken() == {"far": "taken"}
    host.start_again()
    again = service.run("heal", "machine_1", "--yes")
    assert again.code == 0, again.both
    assert again.out == "machine_1  is ok: nothing to heal\n"
    assert service.state("machine_1") == ("started", "ok")


def test_no_more_hosts_are_given_up_than_there_are_others(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    """Two are away, and one is free: there is none for the second, and where one of those that are healed together has
    to stay nothing is done about any of them."""
    ssh_hosts.need_isolation()
    service = on_two_machines(tmp_path)
    with ssh_hosts.some("first", "second", "third") as hosts:
        first, second, _ = hosts
        write_inventory(service.inventory, ssh_hosts, hosts)
        assert service.deploy().code == 0
        first.stop()
        second.stop()
        healed = service.run("heal", "machine_1", "machine_2", "--reinstall", "--scope", "host", "--yes")
        assert healed.code == 4, healed.both
        assert "keeps it, because there is no other: no host of" in healed.err
        assert ", which is also to be healed" in healed.err
        assert healed.out.count("was not changed and could not be healed") == 2
        assert " hosts check " in healed.err.partition("Next:")[2]
        assert service.taken() == {"first": "taken", "second": "taken"}
        assert service.state("app_1") == service.state("app_2") == ("started", "ok")
        second.start_again()
        healed = service.run("heal", "machine_1", "machine_2", "--reinstall", "--scope", "host", "--yes")
        assert healed.code == 0, healed.both
        assert {service.host_of("machine_1"), service.host_of("machine_2")} == {"second", "third"}
        assert service.taken() == {"first": "lost", "second": "taken", "third": "taken"}
        assert service.state("app_1") == service.state("app_2") == ("started", "ok")


def test_what_could_not_begin_leaves_things_as_they_were(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    """What is on a host that is away goes on, whatever was asked for."""
    ssh_hosts.need_isolation()
    service = application(tmp_path)
    machine = "machine: { type: tosca.nodes.Compute"
    text = service.service.read_text()
    service.service.write_text(text.replace(machine, machine + ", metadata: { ordito.protected: 'true' }"))
    with ssh_hosts.some("far") as (host,):
        write_inventory(service.inventory, ssh_hosts, [host])
        assert service.deploy().code == 0
        host.stop()
        for verb in ("stop", "undeploy"):
            failed = service.run(verb, *(["app"] if verb == "stop" else []), "--yes")
            assert failed.code == 4, failed.both
            assert service.state("app_1") == ("started", "ok")
        assert service.run("status").out.splitlines()[0].split()[:2] == ["service", "ok"]
        host.start_again()
        again = service.deploy()
        assert again.code == 0, again.both
        assert service.run("undeploy", "--yes", "--include-protected").code == 0


def test_whole_hosts_are_healed_each_for_itself(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    """Of two hosts one is away: the other is found to be ok, and is not replaced with it."""
    ssh_hosts.need_isolation()
    service = on_two_machines(tmp_path)
    with ssh_hosts.some("first", "second", "third") as hosts:
        write_inventory(service.inventory, ssh_hosts, hosts)
        assert service.deploy().code == 0
        hosts[0].stop()
        away, there = ("1", "2") if service.host_of("machine_1") == "first" else ("2", "1")
        healed = service.run("heal", "machine_1", "machine_2", "--scope", "host", "--yes")
        assert healed.code == 0, healed.both
        assert service.host_of(f"machine_{away}") == "third", healed.both
        assert service.host_of(f"machine_{there}") == "second", healed.both
        assert f"machine_{there}  is ok: nothing to heal" in healed.out
        assert service.taken() == {"first": "lost", "second": "taken", "third": "taken"}
