"""What runs have given, kept in ``.cache/proofs``: a file a run with how it ended, one with its figures, and a diary of
tests, which grows while they run, so that a run which was interrupted goes on where it was.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent.parent
CACHE = ROOT / ".cache" / "proofs"
SCOPES = {
    "bench": ["src", "benchmarks"],
    "other": [".", ":!docs", ":!*.md", ":!tools/proofs"],
}
"""What a result depends on: it counts for as long as none of these files has changed."""


class Figure(msgspec.Struct, frozen=True):
    """What a run has measured. ``bar`` is the most it may be, or the least; ``unit`` is for people."""

    name: str
    value: float
    held: bool
    bar: float | None = None
    unit: str = ""
    least: bool = False


class Figures(msgspec.Struct, frozen=True):
    """The file of figures that a run writes."""

    figures: list[Figure]


def write_figures(file: Path, run: str, figures: Mapping[str, tuple[float, float, bool]]) -> None:
    """Write figures by their names, each with its bar and whether that is the least that it may be."""
    made = [
        Figure(f"{run}.{name}", value, value >= bar if least else value <= bar, bar, "", least)
        for name, (value, bar, least) in figures.items()
    ]
    file.write_bytes(msgspec.json.format(msgspec.json.encode(Figures(made))) + b"\n")


class Outcome(msgspec.Struct, frozen=True):
    """How a test ended: ``passed``, ``failed`` or ``skipped``, and why."""

    id: str
    outcome: str
    why: str = ""


class Ended(msgspec.Struct, frozen=True):
    """How a run ended. ``state`` is what the files were that it depends on, ``asked`` the selectors of its tests,
    ``load`` how many processes wanted to run when it began."""

    state: str
    commit: str
    began: str
    seconds: float
    code: int
    ended: str
    asked: list[str] = []
    load: float = 0


FINISHED, TOO_LONG, INTERRUPTED = "finished", "its time was over", "interrupted"


class Result(msgspec.Struct, frozen=True):
    """All that is known of a run."""

    how: Ended
    outcomes: dict[str, Outcome]
    figures: list[Figure]


class Results:
    """The results of all runs, in a folder."""

    def __init__(self, *, quick: bool = False) -> None:
        self._folder = CACHE / "quick" if quick else CACHE
        self._folder.mkdir(parents=True, exist_ok=True)

    def place(self, run: str, kind: str) -> Path:
        """The file of a run: ``json`` how it ended, ``figures``, ``diary``, ``done`` (tests to leave out), ``log``."""
        return self._folder / f"{run}.{kind}"

    def read(self, run: str) -> Result | None:
        """What is known of a run; none where it never ended."""
        try:
            how = msgspec.json.decode(self.place(run, "json").read_bytes(), type=Ended)
        except FileNotFoundError:
            return None
        return Result(how, self.outcomes(run), self._figures(run))

    def outcomes(self, run: str) -> dict[str, Outcome]:
        """How each test of a run ended so far."""
        place = self.place(run, "diary")
        return read_diary(place) if place.exists() else {}

    def _figures(self, run: str) -> list[Figure]:
        place = self.place(run, "figures")
        return msgspec.json.decode(place.read_bytes(), type=Figures).figures if place.exists() else []

    def write(self, run: str, how: Ended) -> None:
        """Keep how a run ended."""
        fresh = self.place(run, "new")
        fresh.write_bytes(msgspec.json.format(msgspec.json.encode(how)) + b"\n")
        fresh.replace(self.place(run, "json"))

    def forget(self, run: str) -> None:
        """Drop what is known of a run."""
        for kind in ("json", "figures", "diary", "done", "log"):
            self.place(run, kind).unlink(missing_ok=True)


def read_diary(place: Path) -> dict[str, Outcome]:
    """How each test ended: what has failed in any phase has failed, and else the last word counts."""
    found: dict[str, Outcome] = {}
    for line in place.read_bytes().splitlines():
        one = msgspec.json.decode(line, type=Outcome)
        if one.id not in found or found[one.id].outcome != "failed":
            found[one.id] = one
    return found


def commit() -> str:
    """The commit that is checked out, with a mark where files are changed; "" where git knows nothing."""
    return _git("describe", "--always", "--dirty", "--exclude", "*").strip()


def state(scope: str) -> str:
    """A digest of all files that results of this kind depend on, as they are now."""
    paths = ["--", *SCOPES[scope]]
    known = _git("ls-files", "-s", *paths) + _git("diff", "HEAD", *paths)
    fresh = _git("ls-files", "--others", "--exclude-standard", *paths).splitlines()
    digest = hashlib.sha256(known.encode())
    for name in fresh:
        digest.update(os.fsencode(name) + b"\0" + (ROOT / name).read_bytes())
    return digest.hexdigest()[:16]


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""
