"""What grows with the history of an ensemble: what commands cost, and what files there are."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
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
MEASURED = """\
import atexit, os, sys
told = int(sys.argv.pop(1))
@atexit.register
def tell():
    with open("/proc/self/status") as status:
        os.write(told, next(line.split()[1] for line in status if line.startswith("VmHWM")).encode())
from ordito.cli.main import main
main()
"""
"""What the kernel tells of a process that has ended holds also what it had before it became this program."""
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
        yardstick = min(seconds for _, (seconds, _) in runs)
        seconds = min(seconds for (seconds, _), _ in runs)
        found[name] = Cost(jobs, seconds, min(most for (_, most), _ in runs), yardstick)
    return found


def _run(shop: Shop, words: list[str]) -> tuple[float, int]:
    """The seconds of CPU that a command takes as the process that it is in practice, and the most bytes that it has."""
    with tempfile.TemporaryFile() as told:
        command = [sys.executable, "-c", MEASURED, str(told.fileno()), *words, "-e", str(shop.ensemble)]
        process = subprocess.Popen(
            command,
            cwd=shop.home,
            env=environment(shop.home),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[told.fileno()],
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise Broken(f"{' '.join(words)} ended with {process.returncode}")
        told.seek(0)
        return usage.ru_utime + usage.ru_stime, int(told.read()) * 1024


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
