"""Measuring whole processes: CPU time and wall time of a command, several times, sides interleaved."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """One finished process: user and system CPU seconds of it and its children, wall seconds, and what it printed."""

    cpu: float
    wall: float
    output: str


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Run:
    """Run a command to its end. ``RuntimeError`` with its messages where it fails."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=None if environment is None else dict(environment),
        text=True,
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output, errors = process.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = time.perf_counter() - began
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{errors[-2000:]}")
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Run(cpu, wall, output)


def interleaved(
    sides: Sequence[Callable[[], Run]], times: int, figure: Callable[[Run], float]
) -> list[tuple[float, list[Run]]]:
    """Run all sides in turn, ``times`` rounds; for each side the median figure and its runs."""
    runs: list[list[Run]] = [[] for _ in sides]
    for _ in range(times):
        for place, side in enumerate(sides):
            runs[place].append(side())
    return [(statistics.median(figure(r) for r in side), side) for side in runs]


def python() -> str:
    """The interpreter that the benchmarks run with."""
    return sys.executable


def ordito(*arguments: str) -> list[str]:
    """The command line of the ``ordito`` beside this interpreter."""
    return [str(Path(sys.executable).with_name("ordito")), *arguments]
