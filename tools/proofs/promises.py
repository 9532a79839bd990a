"""What is promised, and what proves it: the files of ``promises/``, a part each, and the runs of ``runs.yaml``.

A promise is proven by tests (of the suite, or in their thorough form), by figures that runs measure and compare with
their bars, and by runs that end well. All that it names must hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import yaml

HERE = Path(__file__).resolve().parent


class Promise(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A promise in words, its bar where there is one, and its proofs.

    ``tests`` are files or tests (``FILE``, ``FILE::TEST``, ``FOLDER``) of the suite, ``thorough`` the same in the runs
    that try much; ``figures`` are named ``RUN.FIGURE``, with ``*`` for any; ``runs`` must end with exit code 0;
    ``seconds`` is how long a run may take. ``skips`` are words: tests that are skipped for a reason with one of them
    are no fault.
    """

    name: str
    promise: str
    bar: str = ""
    tests: list[str] = []
    thorough: list[str] = []
    figures: list[str] = []
    runs: list[str] = []
    seconds: dict[str, float] = {}
    skips: list[str] = []

    @property
    def is_proven(self) -> bool:
        """Whether anything is named that could prove it."""
        return bool(self.tests or self.thorough or self.figures or self.runs or self.seconds)


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of what is promised, in the order of reading."""

    name: str
    title: str
    promises: list[Promise]


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that is run once and proves several promises: ``tests`` by pytest, a ``bench``, or a ``command``.

    ``minutes`` are the most that it may take; ``ignore`` are tests below its own that belong to other runs; ``skips``
    are words in the reasons of tests that are skipped for a reason which is no fault; ``quick`` are the arguments of
    the command that only try the machinery. In a command ``FIGURES`` stands for the file that it writes its figures to.
    """

    about: str
    minutes: float
    tests: list[str] = []
    ignore: list[str] = []
    thorough: bool = False
    bench: str = ""
    command: list[str] = []
    quick: list[str] = []
    skips: list[str] = []


def read_parts() -> list[Part]:
    """All parts, in the order of their files."""
    files = sorted((HERE / "promises").glob("*.yaml"))
    return [msgspec.convert({"name": _name(f), **_read(f)}, Part) for f in files]


def read_runs() -> dict[str, Run]:
    """All runs, in the order in which they are best run: what fails soon comes first."""
    return msgspec.convert(_read(HERE / "runs.yaml"), dict[str, Run])


def covers(selector: str, test: str) -> bool:
    """Whether a selector (``FOLDER``, ``FILE``, ``FILE::TEST``) means a test, or all that another selector means."""
    return test == selector or test.startswith((f"{selector}/", f"{selector}::", f"{selector}["))


def run_of(selector: str, runs: dict[str, Run], *, thorough: bool) -> str | None:
    """The run that holds the tests of a selector, the one that names them most exactly; none where no run does."""
    held = {t: name for name, run in runs.items() if run.thorough is thorough for t in run.tests if covers(t, selector)}
    return held[max(held, key=len)] if held else None


def needed(promises: Sequence[Promise], runs: dict[str, Run]) -> dict[str, set[str]]:
    """The runs that prove these promises, each with the selectors of the tests that are asked for (none: all of it)."""
    wanted: dict[str, set[str]] = {}
    for promise in promises:
        for selectors, thorough in ((promise.tests, False), (promise.thorough, True)):
            for selector in selectors:
                if (run := run_of(selector, runs, thorough=thorough)) is not None:
                    wanted.setdefault(run, set()).add(selector)
        whole = {f.partition(".")[0] for f in promise.figures} | {*promise.runs, *promise.seconds}
        for run in whole:
            wanted.setdefault(run, set()).update(runs[run].tests)
    return wanted


def _read(file: Path) -> dict[str, object]:
    return dict(yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader))


def _name(file: Path) -> str:
    """A part is called as its file, without the number that orders it."""
    return file.stem.partition("-")[2]
