"""What writing, reading and showing the status of many instances costs."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from benchmarks.engine import EMPTY, fresh_ensemble, write_parts
from benchmarks.measure import ordito, python, run, verdict

INSTANCES = 100_000
SHOWN = 10_000
SECONDS = {"write": 2.0, "files": 2.0, "rows": 2.0}
"""CPU seconds that each part may take."""
TITLES = {"write": "written to files", "files": "read from files (a fresh clone)", "rows": "read from the journal"}
SHOWING = 0.5
"""Seconds that ``ordito status`` may take for ``SHOWN`` instances."""

JOB = str(Path(__file__).with_name("status_job.py"))


def main(*, times: int) -> None:
    """Print the CPU seconds of each part, and the time of ``ordito status``."""
    print(f"status (median of {times} runs)")
    found: dict[str, list[float]] = {part: [] for part in SECONDS}
    for _ in range(times):
        with fresh_ensemble() as folder:
            for part, figures in found.items():
                figures.append(float(run([python(), JOB, part, folder, str(INSTANCES)]).output))
    for part, figures in found.items():
        seconds = statistics.median(figures)
        said = verdict(part, round(seconds, 2), SECONDS[part], "s")
        print(f"  {INSTANCES:,} instances {TITLES[part]:32} {seconds:5.2f} s of CPU   {said}")
    with tempfile.TemporaryDirectory(prefix="ordito-bench-") as name:
        service = write_parts(Path(name), SHOWN, EMPTY)
        ensemble = str(Path(name) / "ensemble")
        run(ordito("deploy", service, "-e", ensemble, "--yes", "-q"))
        shown = statistics.median(run(ordito("status", "-e", ensemble)).wall for _ in range(times))
    print(f"  ordito status of {SHOWN:,} instances {shown:5.2f} s   {verdict('shown', round(shown, 2), SHOWING, 's')}")
