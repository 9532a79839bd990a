"""A host that lets nobody in is not lost: healing forgets nothing of what runs there, and starts nothing twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.on_hosts import Hosted, application, operations, write_inventory
from tests.support.real.host_files import make_key
from tests.support.real.hosts import SshHost, SshHosts

WHOLE = ["begin create", "end create", "begin configure", "end configure", "begin start", "end start"]


class Locked:
    """A deployed application whose host accepts another key than the inventory names from now on."""

    def __init__(self, home: Path, hosts: SshHosts, host: SshHost) -> None:
        self.service: Hosted = application(home)
        self.host = host
        self._hosts = hosts
        self.unlock()
        deployed = self.service.deploy()
        assert deployed.code == 0, deployed.both
        self.before = self.records()
        make_key(home / "other_key")
        write_inventory(self.service.inventory, hosts, [host], identity=str(home / "other_key"))

    def unlock(self) -> None:
        """Put the key right."""
        write_inventory(self.service.inventory, self._hosts, [self.host])

    def records(self) -> dict[str, Any]:
        """What is recorded of the application, save what follows from its host."""
        record: dict[str, Any] = self.service.instances()["app_1"]
        record["readyState"].pop("effective")
        return record


@pytest.fixture
def locked(tmp_path: Path, ssh_hosts: SshHosts) -> Iterator[Locked]:
    ssh_hosts.need_isolation()
    with ssh_hosts.some("far") as (host,):
        yield Locked(tmp_path, ssh_hosts, host)


@pytest.mark.parametrize("checked", [False, True])
@pytest.mark.parametrize(
    "asked", ["machine_1", "app_1", "machine_1 app_1", "machine_1 --reinstall", "app_1 --reinstall"]
)
def test_healing_leaves_everything_as_it_is(locked: Locked, asked: str, checked: bool) -> None:
    service = locked.service
    if checked:
        service.run("check")
    healed = service.run("heal", *asked.split(), "--yes")
    assert healed.code == 4, healed.both
    assert 'does not let "ops" in' in healed.both
    assert "could not be healed" in healed.out
    assert "is ok" not in healed.out
    # Its key stands in the third line.
    assert f"once the host, or its key or password in {service.inventory}:3, is put right" in healed.err
    assert healed.err.count("hosts check far") == 1
    assert "what failed is optional" not in healed.err
    assert locked.records() == locked.before
    assert service.taken() == {"far": "taken"}
    locked.unlock()
    again = service.run("heal", "machine_1", "--yes")
    assert again.code == 0, again.both
    assert again.out == "machine_1  is ok: nothing to heal\n"
    assert service.deploy().code == 0
    assert service.state("machine_1") == ("started", "ok")
    assert operations(locked.host) == WHOLE


def test_a_check_knows_nothing_of_it_and_does_not_propose_to_heal_it(locked: Locked) -> None:
    checked = locked.service.run("check")
    assert checked.code == 4, checked.both
    assert "machine_1  not asked, recorded: ok (far: " in checked.out
    assert f"once the host, or its key or password in {locked.service.inventory}:3, is put right" in checked.err
    assert "hosts check far" in checked.err
    assert " heal " not in checked.both
    assert locked.service.state("machine_1") == ("started", "ok")
