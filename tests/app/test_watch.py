"""Following the status of an ensemble for as long as one likes."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from ordito.app.status import StatusRequest
from ordito.app.watch import watch
from ordito.model.unit import Unit
from tests.acceptance.program import make_small


def test_what_was_read_for_one_look_is_let_go_of_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a service is read into names each other, so only the collector frees it, and it is told while it is read
    to look at none of that again."""
    # It would wait many times as long as it takes here to look at all that this process holds.
    monkeypatch.setattr("ordito.app.watch.SHARE", 0)
    small = make_small(tmp_path)
    assert small.deploy().code == 0
    looks = watch(StatusRequest(str(small.ensemble)))
    held = []
    for second in range(3):
        # Without its outline the service itself is read.
        (small.ensemble / ".ordito" / "outline").unlink(missing_ok=True)
        os.utime(small.ensemble / "ensemble.yaml", (second, second))
        assert len(next(looks).instances) == 3
        gc.unfreeze()
        held.append(sum(isinstance(thing, Unit) for thing in gc.get_objects()))
        gc.freeze()
    assert held[0] > 0
    assert held[2] == held[1]
