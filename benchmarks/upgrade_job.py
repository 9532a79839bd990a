"""One command on a service of many instances, measured from inside: ``upgrade_job.py ENSEMBLE WORD ...``.

Everything is real save the operations: an executor tells at once that they have ended. Prints, as JSON, the CPU seconds
of the command, and how many operations were carried out on how many instances.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import engine_job
from ordito.cli import main as command_line
from ordito.cli.verbs import deploy, plan  # noqa: F401  (what is imported is not measured)
from ordito.work.invocation import Ending, Outcome

# That job imports what it needs where it is measured.
vars(engine_job).update(Ending=Ending, Outcome=Outcome)


def main(ensemble: str, words: list[str]) -> dict[str, float]:
    """Run the command; its figures."""
    told = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    began = time.process_time()
    with contextlib.redirect_stdout(told), mock.patch("ordito.app.plugins.local_executors", _executors):
        code = command_line.run([*words, "-e", ensemble])
    taken = time.process_time() - began
    told.seek(0)
    lines = told.read().splitlines()
    assert code == 0, lines[-20:]
    events = [json.loads(line) for line in lines] if "--json" in words else []
    begun = [e for e in events if e["type"] == "step.started"]
    return {"seconds": taken, "operations": len(begun), "instances": len({e["instance"] for e in begun})}


def _executors(*_: object) -> tuple[engine_job.DoesNothing]:
    return (engine_job.DoesNothing(),)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2:])))
