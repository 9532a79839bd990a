"""Two commands at the same time: one works, the other is told who does."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.acceptance.program import LIMIT, make_small, ordito, start, status_of
from tests.support.forked import Running


def first_to_end(processes: list[Running]) -> Running:
    """The process that ends first."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        for process in processes:
            if process.poll() is not None:
                return process
        time.sleep(0.02)
    raise AssertionError("none of the commands comes to its end")


@pytest.mark.parametrize("known", [False, True])
def test_of_two_deployments_at_once_one_is_locked_out(tmp_path: Path, known: bool) -> None:
    """R-7-1: exit code 5, at once and with who holds the lock; the other one is not disturbed, and the state is
    true."""
    small = make_small(tmp_path)
    if known:
        assert small.deploy().code == 0
        assert small.run("undeploy", "--yes").code == 0
        small.log.unlink()
    hold = tmp_path / "hold"
    hold.touch()
    processes = [start(tmp_path, *small.deploying()) for _ in range(2)]
    loser = first_to_end(processes)
    winner = processes[1 - processes.index(loser)]
    _, err = loser.communicate()
    assert loser.returncode == 5, err
    assert re.search(
        rf"locked by \S+ on \S+, process {winner.pid} \(deploy\), since 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d", err
    )
    assert "--wait-lock SECONDS" in err
    assert winner.poll() is None

    hold.unlink()
    out, err = winner.communicate(timeout=LIMIT)
    assert winner.returncode == 0, out + err
    assert len(small.things()) == 9
    began = [line for line in small.log.read_text().splitlines() if line.startswith("begin")]
    assert len(began) == 12
    assert all(i["readyState"]["state"] == "started" for i in status_of(small.ensemble)["instances"].values())
    again = ordito(tmp_path, *small.deploying())
    assert again.code == 0
    assert "Nothing to do" in again.both
