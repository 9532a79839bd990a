"""What grows with the history of an ensemble: what commands cost, and what files there are."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from resource import struct_rusage
from statistics import median

import msgspec

from tests.acceptance.program import environment
from tools.soak.shop import Broken, Shop

ASKED = {
    "status": ["status"],
    "plan": ["plan", "deploy"],
    "deploy": ["deploy", "--yes"],
    "output": ["output"],
    "revisions": ["revisions"],
    "jobs list": ["jobs", "list"],
    "jobs replay": ["jobs", "replay"],
}
"""Commands whose cost is measured while the shop runs and has nothing to do."""
YARDSTICK = ["validate"]
"""A command that knows nothing of the history: what it takes says how busy the machine is."""
FLAT = ("status", "plan", "deploy", "output")
"""Those whose cost must not depend on how many jobs there were."""
TIMES = 3
PRIVATE = {"journal.db", "lock", "outline", "logs", "key", "secrets.lock", "known-digests"}
"""What may lie among an ensemble's own files when nothing is at work."""


class Cost(msgspec.Struct, frozen=True):
    """What a command took when there were so many jobs: seconds of CPU, bytes of memory at most. ``yardstick`` are the
    seconds that what never changes took meanwhile."""

    jobs: int
    seconds: float
    bytes: int
    yardstick: float

    @property
    def relative(self) -> float:
        """The seconds as times of the yardstick."""
        return self.seconds / self.yardstick


class Sizes(msgspec.Struct, frozen=True):
    """What lies in the ensemble when nothing is at work: jobs, and bytes of each kind of file."""

    jobs: int
    journal: int
    manifest: int
    records: int
    logs: int
    pins: int
    private: list[str]


def costs(shop: Shop) -> dict[str, Cost]:
    """Measure all of them: each by the best of three, with the yardstick in between, since others may be at work on
    this machine."""
    jobs = count_of_jobs(shop)
    found = {}
    for name, words in ASKED.items():
        runs = [(_run(shop, words), _run(shop, [*YARDSTICK, str(shop.home / "one")])) for _ in range(TIMES)]
        yardstick = min(measured.ru_utime + measured.ru_stime for _, measured in runs)
        seconds = min(measured.ru_utime + measured.ru_stime for measured, _ in runs)
        most = min(measured.ru_maxrss for measured, _ in runs)
        found[name] = Cost(jobs, seconds, most * 1024, yardstick)
    return found


def _run(shop: Shop, words: list[str]) -> struct_rusage:
    """What a command takes as the process that it is in practice."""
    command = [sys.executable, "-m", "ordito", *words, "-e", str(shop.ensemble)]
    process = subprocess.Popen(
        command, cwd=shop.home, env=environment(shop.home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Broken(f"{' '.join(words)} ended with {process.returncode}")
    return usage


def count_of_jobs(shop: Shop) -> int:
    """How many jobs there were."""
    return sum(1 for _ in (shop.ensemble / "jobs").glob("*.yaml"))


def sizes(shop: Shop) -> Sizes:
    """What lies in the ensemble."""
    place = shop.ensemble
    return Sizes(
        jobs=count_of_jobs(shop),
        journal=sum(path.stat().st_size for path in (place / ".ordito").glob("journal.db*")),
        manifest=(place / "ensemble.yaml").stat().st_size,
        records=size_of(place / "jobs") + (place / "jobs.tsv").stat().st_size,
        logs=size_of(place / ".ordito" / "logs"),
        pins=sum(1 for _ in (place / "artifacts").iterdir()),
        private=sorted({path.name for path in (place / ".ordito").iterdir()} - PRIVATE),
    )


def size_of(folder: Path) -> int:
    """The bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def ratio(values: list[float]) -> float:
    """The last third of some values by the first third, by their medians; 1 where there are too few."""
    third = len(values) // 3
    if third == 0:
        return 1.0
    return median(values[-third:]) / max(median(values[:third]), 1e-9)


def slope(points: Sequence[tuple[float, float]]) -> float:
    """By how much the second value grows with the first: the middle of the slopes between any two points."""
    return median((b - a) / (later - earlier) for (earlier, a), (later, b) in combinations(points, 2))
