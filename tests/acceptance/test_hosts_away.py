"""A host that is away: what is said of it, and what it is good for to give the same command again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.on_hosts import Hosted, application, write_inventory
from tests.support.real.hosts import SshHost, SshHosts


@pytest.fixture
def deployed(tmp_path: Path, ssh_hosts: SshHosts) -> Iterator[tuple[Hosted, SshHost]]:
    ssh_hosts.need_isolation()
    service = application(tmp_path)
    with ssh_hosts.some("far") as (host,):
        write_inventory(service.inventory, ssh_hosts, [host])
        done = service.deploy()
        assert done.code == 0, done.both
        yield service, host


@pytest.mark.parametrize("verb", ["deploy", "upgrade"])
@pytest.mark.parametrize("checked", [False, True])
def test_what_is_unchanged_waits_for_its_host(deployed: tuple[Hosted, SshHost], verb: str, checked: bool) -> None:
    """Known to be away it is a failure that says why, and none that is mended by doing everything once more."""
    service, host = deployed
    host.stop()
    if checked:
        assert "it cannot be reached" in service.run("check").out
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
