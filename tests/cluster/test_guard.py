"""Workers with a guard: what they have at work ends with them, so that others need not wait for their machine."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.acceptance.program import ordito
from tests.cluster.shop import GATED, CommandWorker, Shop
from tests.support.serving import children_of, until


@pytest.fixture
def guarded(shop: Shop) -> CommandWorker:
    """A worker with a guard, which is the process that is known."""
    return CommandWorker(shop, "one", "--guard")


def worker_of(guarded: CommandWorker) -> int:
    """The worker of a guard; its other children are orphans of operations."""
    commands = {child: Path(f"/proc/{child}/cmdline").read_bytes() for child in children_of(guarded.process.pid)}
    (worker,) = (child for child, command in commands.items() if b"ordito.cluster.worker" in command)
    return worker


def is_gone(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] in "ZX"


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_operations_end_with_their_worker(shop: Shop, guarded: CommandWorker, how: str) -> None:
    """Also those that have left their session; and who takes the job over runs them again, as the store says."""
    changed = ordito(
        shop.project.home, "store", "change", "--lost-after", "assume-ended", "--store-file", shop.stored.address_file
    )
    assert changed.code == 0, changed.both
    shop.let_gated_wait_apart()
    shop.add("i1")
    operation = shop.wait_until_gated()
    apart = until(shop.apart, bool)
    worker = worker_of(guarded)
    os.kill(worker, signal.SIGKILL if how == "killed" else signal.SIGSTOP)
    assert guarded.process.wait(60) == 1
    assert is_gone(operation)
    assert is_gone(apart)
    assert is_gone(worker)
    other = CommandWorker(shop, "other")
    try:
        shop.open()
        _, outcome = shop.ended("i1")
        assert outcome.status == "ok", other.log()
        shop.check_once()
    finally:
        other.kill()
    assert ("has not confirmed its lease" in guarded.log()) is (how == "stopped")


def test_what_has_ended_leaves_its_daemons(shop: Shop, guarded: CommandWorker) -> None:
    """A guard ends what is at work, and nothing else."""
    shop.let_first_leave_a_daemon()
    shop.add("i1")
    shop.wait_until_gated()
    daemon = shop.apart()
    worker = worker_of(guarded)
    os.kill(worker, signal.SIGKILL)
    assert guarded.process.wait(60) == 1
    assert not is_gone(daemon)
    os.kill(daemon, signal.SIGKILL)


def test_a_guarded_worker_drains(shop: Shop, guarded: CommandWorker) -> None:
    shop.open()
    shop.add("i1")
    assert shop.ended("i1")[1].status == "ok"
    guarded.drain()
    assert "drained" in guarded.log()
    assert GATED in shop.steps_ended()
