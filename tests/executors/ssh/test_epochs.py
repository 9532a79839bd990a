"""Hosts of an ensemble that another machine has taken over: who held it before begins nothing there any more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from ordito.executors.remote.executor import RemoteExecutor
from ordito.executors.ssh.connector import SshConnector
from ordito.work.invocation import Ending, Outcome
from tests.executors.place import Ran
from tests.executors.ssh.far import PATIENCE, Far
from tests.executors.test_held import ONE, SAME_AGAIN, TWO, KnownHold
from tests.support.real.hosts import SshHosts


@pytest.fixture
def own(tmp_path: Path, ssh_hosts: SshHosts) -> Iterator[Far]:
    with ssh_hosts.some("own") as hosts:
        yield Far(tmp_path, ssh_hosts, hosts[0], "area")


def executor_of(far: Far, hold: KnownHold) -> RemoteExecutor:
    return RemoteExecutor([SshConnector()], far.area, PATIENCE, hold)


async def run(far: Far, executor: RemoteExecutor, name: str) -> Outcome:
    ran = Ran()
    async for _, progress in executor.run([far.invocation(f"#!/bin/bash\ntouch /tmp/{name}\n", f"{name}.sh")]):
        ran.take(progress)
    return ran.outcome


async def test_a_host_refuses_who_was_succeeded(own: Far) -> None:
    """Who was ready there before, and who comes now; and lets an ensemble begin anew that was moved."""
    former = executor_of(own, KnownHold(ONE))
    assert (await run(own, former, "a")).succeeded
    successor = executor_of(own, KnownHold(TWO))
    # It asks there how something has ended before it runs anything.
    assert await successor.settle(own.doubt(step="b.sh")) is None
    for late in (former, executor_of(own, KnownHold(ONE)), executor_of(own, KnownHold(SAME_AGAIN))):
        outcome = await run(own, late, "b")
        assert outcome.ending is Ending.NOT_STARTED
        assert "another worker has taken this ensemble over" in outcome.message
        await late.leave()
    assert (await run(own, successor, "b")).succeeded
    await successor.leave()
    moved = executor_of(own, KnownHold(msgspec.structs.replace(ONE, ensemble="e2")))
    assert (await run(own, moved, "c")).succeeded
    await moved.leave()


async def test_an_equal_epoch_of_another_is_refused(own: Far) -> None:
    one = executor_of(own, KnownHold(ONE))
    assert (await run(own, one, "a")).succeeded
    other = executor_of(own, KnownHold(SAME_AGAIN))
    assert (await run(own, other, "b")).ending is Ending.NOT_STARTED
    await one.leave()
    await other.leave()


async def test_a_host_starts_nothing_before_the_lease_is_sure(own: Far) -> None:
    hold = KnownHold(ONE)
    hold.is_sure = False
    executor = executor_of(own, hold)
    assert (await run(own, executor, "a")).succeeded
    assert hold.waited == 1
    await executor.leave()
