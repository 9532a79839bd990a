"""Measuring whole processes: CPU time and wall time of a command, several times, sides interleaved."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """One finished process: user and system CPU seconds of it and its children, wall seconds, the most memory it had
    in MiB, and what it printed."""

    cpu: float
    wall: float
    memory: float
    output: str


UNUSUAL = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
"""Variables under which Python compiles what is installed compiled already, and writes without a buffer: who develops
may have set them, and who uses a program has not."""


def run(command: Sequence[str], environment: Mapping[str, str] = os.environ) -> Run:
    """Run a command to its end, as users run it. ``RuntimeError`` with its messages where it fails."""
    usual = {name: value for name, value in environment.items() if name not in UNUSUAL}
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=errors,
            stdin=subprocess.DEVNULL,
            env=usual,
            text=True,
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{errors.read()[-2000:]}")
        return Run(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, output.read())


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


@dataclass(frozen=True)
class Figure:
    """What was measured, by a name that is the benchmark's own, with its bar: the most it may be, or the least."""

    name: str
    value: float
    bar: float
    unit: str
    least: bool

    @property
    def held(self) -> bool:
        """Whether the bar is kept."""
        return self.value >= self.bar if self.least else self.value <= self.bar


figures: list[Figure] = []
"""All that was compared with a bar so far, for ``--strict`` and ``--json``."""


def verdict(name: str, value: float, bar: float, unit: str = "", *, least: bool = False) -> str:
    """Keep a figure with its bar; gives whether it keeps it, to be printed behind the figure."""
    figure = Figure(name, value, bar, unit, least)
    figures.append(figure)
    return f"(bar {bar:g}{'' if figure.held else ': MISSED'})"
