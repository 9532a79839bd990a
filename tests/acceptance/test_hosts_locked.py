"""A host that lets nobody in is not lost: healing forgets nothing of what runs there, and starts nothing twice."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.on_hosts import Hosted, application, operations, write_inventory
from tests.support.real.host_files import make_key
from tests.support.real.hosts import SshHost, SshHosts
from tests.support.thorough import some

WHOLE = ["begin create", "end create", "begin configure", "end configure", "begin start", "end start"]


SINCE = """
import ordito.providers.pool.provider as pool
from ordito.work.targets import TargetRefused
asked, before = [], pool.PoolProvider._unreachable
async def unreachable(self, name):
    asked.append(name)
    if asked.count(name) == 1:
        return await before(self, name)
    if {locked}:
        raise TargetRefused(f"{{name}}: it lets nobody in")
    return ""
pool.PoolProvider._unreachable = unreachable
"""
"""A host is found otherwise once its instance is to be removed than when it was looked at."""


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


ASKED = ("machine_1", "app_1", "machine_1 app_1", "machine_1 --reinstall", "app_1 --reinstall")


@pytest.mark.parametrize(("asked", "checked"), some(list(product(ASKED, (False, True))), 3))
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
    assert f"once the host, or its key or password in {service.inventory}:3, is corrected" in healed.err
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
    assert "machine_1  not checked, recorded: ok (far: " in checked.out
    assert f"once the host, or its key or password in {locked.service.inventory}:3, is corrected" in checked.err
    assert "hosts check far" in checked.err
    assert " heal " not in checked.both
    assert locked.service.state("machine_1") == ("started", "ok")


@pytest.mark.parametrize("is_locked", [True, False])
def test_a_host_that_comes_back_while_it_is_healed_is_not_given_up(
    ssh_hosts: SshHosts, tmp_path: Path, is_locked: bool
) -> None:
    """It was away when it was looked at, and lets nobody in, or answers again, when it is to be given back: what may
    still run on it is neither forgotten nor begun once more, here or elsewhere."""
    ssh_hosts.need_isolation()
    service = application(tmp_path)
    with ssh_hosts.some("far", "other") as (far, other):
        write_inventory(service.inventory, ssh_hosts, [far, other])
        assert service.deploy().code == 0
        far.stop()
        words = service.words("heal", "machine_1", "--yes")
        healed = service.run_words(words, code=SINCE.format(locked=is_locked))
        assert healed.code == 1, healed.both
        assert (
            "it lets nobody in" if is_locked else "could not be reached and answers again: machine_1 keeps it"
        ) in healed.err
        assert "could not be healed" in healed.out
        assert service.state("app_1") == ("started", "ok")
        assert service.host_of("machine_1") == "far"
        assert service.taken() == {"far": "taken"}
        far.start_again()
        again = service.run("heal", "machine_1", "--yes")
        assert again.out == "machine_1  is ok: nothing to heal\n", again.both
        assert service.deploy().code == 0
        assert operations(far) == WHOLE
        assert operations(other) == []
