"""Planning for many instances: of many templates, and of one; what four times as many cost, and how much memory."""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measure import Run, interleaved, python, run, verdict

JOB = Path(__file__).with_name("planning_job.py")
COUNT = 100_000
SHAPES = {"templates": "10,000 templates with ten each", "instances": "one template"}
MOST_SECONDS = 5.0
MOST_MEMORY = 1024.0
MOST_GROWTH = 1.4
"""How many times more than four times the cost four times the instances may have."""


def main(*, times: int) -> None:
    """Print the CPU seconds of each plan at its size and at a quarter of it, in processes of their own."""
    print(f"planning for {COUNT:,} instances (CPU seconds, median of {times} interleaved runs)")
    for shape, said in SHAPES.items():
        with tempfile.TemporaryDirectory(prefix="ordito-bench-") as folder:
            commands = [[python(), str(JOB), shape, str(count), folder] for count in (COUNT // 4, COUNT)]
            sides = [lambda c=command: run(c) for command in commands]
            (_, small), (_, full) = interleaved(sides, times, lambda r: r.cpu)
        print(f"  {said}")
        for workflow in json.loads(full[0].output):
            if workflow != "read":
                _show(
                    f"{shape}-{workflow.replace(' ', '-')}",
                    workflow,
                    [_figures(r, workflow) for r in small],
                    [_figures(r, workflow) for r in full],
                )


def _figures(made: Run, workflow: str) -> Any:
    return json.loads(made.output)[workflow]


def _show(name: str, workflow: str, small: list[Any], full: list[Any]) -> None:
    quarter, whole = (statistics.median(f["seconds"] for f in side) for side in (small, full))
    memory = max(f["memory"] for f in full)
    growth = whole / quarter / 4
    kept = [
        verdict(f"{name}-seconds", round(whole, 2), MOST_SECONDS, "s"),
        verdict(f"{name}-growth", round(growth, 2), MOST_GROWTH, "times"),
        verdict(f"{name}-memory", round(memory), MOST_MEMORY, "MiB"),
    ]
    print(
        f"    {workflow:13} {full[0]['steps']:>8,} steps {whole:6.2f} s {kept[0]}"
        f"   growth beyond linear {growth:5.2f} {kept[1]}   {memory:6.0f} MiB {kept[2]}"
    )
