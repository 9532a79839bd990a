"""What a soak has found, as figures with their bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from tools.soak.growth import FLAT, Cost, Sizes, ratio, slope
from tools.soak.watching import WARM, Course

MIB = 1 << 20
FEWEST_JOBS = 60
"""Below so many jobs nothing can be said of what a history costs."""

PER_JOB = {"jobs replay": 8.0, "revisions": 3.0, "jobs list": 0.5}
"""Milliseconds of CPU that a job of the history may cost the commands that tell of all of them."""


class Figure(msgspec.Struct, frozen=True):
    """What was measured and its bar: the most that it may be, or the least."""

    name: str
    value: float
    bar: float
    unit: str
    least: bool
    held: bool


class Found(msgspec.Struct):
    """All that a soak has seen."""

    seed: int
    minutes: float
    cycles: int = 0
    actions: dict[str, int] = {}
    kills: dict[str, int] = {}
    resumed: dict[str, int] = {}
    """Of what was killed, how often a job had begun and was carried on to its end."""
    failures: list[str] = []
    steps: dict[str, int] = {}
    removals: dict[str, int] = {}
    """The most bytes that the commands had which removed what those jobs had made."""
    costs: dict[str, list[Cost]] = {}
    sizes: list[Sizes] = []
    watched: dict[str, Course] = {}
    missing: list[str] = []
    """What was not done since this machine lacks something."""
    figures: list[Figure] = []


def judge(found: Found) -> bool:
    """Compare what was found with the bars; gives whether all of them hold."""
    found.figures = [*_course(found), *_costs(found.costs), *_sizes(found.sizes), *_watched(found)]
    return all(figure.held for figure in found.figures)


def _most(name: str, value: float, bar: float, unit: str = "") -> Figure:
    return Figure(f"soak.{name}", round(value, 3), bar, unit, least=False, held=value <= bar)


def _least(name: str, value: float, bar: float, unit: str = "") -> Figure:
    return Figure(f"soak.{name}", round(value, 3), bar, unit, least=True, held=value >= bar)


def _course(found: Found) -> Iterator[Figure]:
    yield _most("failures", len(found.failures), 0)
    yield _least("cycles", found.cycles, 1)
    yield _least("kills", sum(found.kills.values()), min(100, round(found.minutes * 10 / 3)))
    yield _most("missing", len(found.missing), 0)


def _costs(costs: Mapping[str, list[Cost]]) -> Iterator[Figure]:
    """How much more commands take at the end than in the beginning; those that tell of jobs, per job."""
    for name, all_of_it in costs.items():
        if all_of_it[-1].jobs < FEWEST_JOBS:
            continue
        if name in FLAT:
            yield _most(f"cpu.{name}", ratio([one.relative for one in all_of_it]), 1.25, "times")
            yield _most(f"memory.{name}", ratio([float(one.bytes) for one in all_of_it]), 1.15, "times")
        else:
            more = slope([(one.jobs, one.relative) for one in all_of_it]) * all_of_it[0].yardstick * 1000
            yield _most(f"cpu.{name.replace(' ', '-')}", more, PER_JOB[name], "ms a job")


def _sizes(sizes: list[Sizes]) -> Iterator[Figure]:
    if not sizes or sizes[-1].jobs < FEWEST_JOBS:
        return
    yield _most("journal", ratio([float(one.journal) for one in sizes]), 1.25, "times")
    yield _most("manifest", ratio([float(one.manifest) for one in sizes]), 1.5, "times")
    per_job = [one.records / one.jobs for one in sizes]
    yield _most("records", ratio(per_job), 1.25, "times, a job")
    yield _most("logs", ratio([one.logs / one.jobs for one in sizes]), 1.25, "times, a job")
    strange = {name for one in sizes for name in one.private}
    yield _most("left-behind", len(strange), 0)


def _watched(found: Found) -> Iterator[Figure]:
    for name, course in found.watched.items():
        steps = found.steps.get(name, 0)
        if steps:
            # What is known of steps is kept until the job ends: it comes into the record of the job.
            later = steps * (1 - WARM)
            yield _most(f"memory.{name}", course.growth / 1024 / later, 4, "KiB a step")
        else:
            yield _most(f"memory.{name}", course.growth / MIB, 8, "MiB")
        if name in found.removals:
            yield _most(f"memory.removal-{name}", found.removals[name] / MIB, 400, "MiB")
        yield _most(f"files.{name}", course.most_files_after - course.most_files_before, 2)
