"""Following the status of an ensemble for as long as one likes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.acceptance.program import environment, make_small

LOOKS = """
import gc, json, os, sys
from pathlib import Path
from ordito.app import watch
from ordito.app.status import StatusRequest
from ordito.model.unit import Unit

watch.SHARE = 0  # It would wait many times as long as it takes here to look at all that this process holds.
ensemble = Path(sys.argv[1])
looks = watch.watch(StatusRequest(str(ensemble)))
held = []
for second in range(3):
    # Without its outline the service itself is read.
    (ensemble / ".ordito" / "outline").unlink(missing_ok=True)
    os.utime(ensemble / "ensemble.yaml", (second, second))
    count = len(next(looks).instances)
    gc.unfreeze()
    held.append([count, sum(isinstance(thing, Unit) for thing in gc.get_objects())])
    gc.freeze()
json.dump(held, sys.stdout)
"""
"""It looks at all that its process holds, so that is one of its own, which holds little else."""


def test_what_was_read_for_one_look_is_let_go_of_before_the_next(tmp_path: Path) -> None:
    """What a service is read into names each other, so only the collector frees it, and it is told while it is read
    to look at none of that again."""
    small = make_small(tmp_path)
    assert small.deploy().code == 0
    command = [sys.executable, "-c", LOOKS, str(small.ensemble)]
    done = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, check=True)
    counts, held = zip(*json.loads(done.stdout), strict=True)
    assert counts == (3, 3, 3)
    assert held[0] > 0
    assert held[2] == held[1]
