"""What programs read of every command and of every ensemble that a run of the suite makes, kept as files.

``ORDITO_GOLDEN=DIR ./run test`` writes a file for each test: what commands printed on standard output, and the files of
the ensembles that are there in the end, without what differs from run to run (ids, times, places, processes). It is
a fixture that ``tests/conftest.py`` has where that variable is set. ``python -m tests.support.golden BEFORE
[BEFORE ...] AFTER`` compares: several directories of the same version say which tests are not the same in every run.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

VARIABLE = "ORDITO_GOLDEN"
IDS = re.compile(r"(?<![0-9A-Za-z])A[0-9A-Za-z]{7}(?=[0-9a-f]{4}(?![0-9A-Za-z]))")
DIGESTS = re.compile(r"\"?\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32}|[0-9a-f]{12})\b\"?")
DIFFERS: Sequence[tuple[re.Pattern[str], str]] = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?"), "TIME"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "CLOCK"),
    (re.compile(r"\b\d+(\.\d+)?(e-\d+)?(?= ?s\b)"), "SECONDS"),
    (re.compile(r"(\"at\": ?|seconds\"?: ?|elapsed\"?: ?|pid\"?: ?'?)[0-9.e-]+"), r"\1NUMBER"),
    (re.compile(r"/(?:tmp|dev/shm)/pytest-of-[^/\s]*/pytest-\d+/(popen-gw\d+/)?"), "/tmp/"),
    (re.compile(r"\b127\.0\.0\.1:\d+|\b(?<=port: )\d{4,5}|localhost:\d+"), "ADDRESS"),
)
FILES = ("ensemble.yaml", "status/**/*.yaml", "jobs/**/*.yaml", "jobs/**/*.jsonl")
LARGEST = 200_000

_said: list[str] = []


def note(words: Sequence[object], code: int, out: str) -> None:
    """Keep what a command printed, where that is asked for."""
    if VARIABLE in os.environ:
        _said.append(f"$ {' '.join(map(str, words))}\n[{code}]\n{out}")


def steady(text: str) -> str:
    """A text without what differs from run to run; ids and digests are numbered in the order in which they come."""
    jobs: dict[str, str] = {}
    digests: dict[str, str] = {}
    text = IDS.sub(lambda found: jobs.setdefault(found[0], f"JOB{len(jobs) + 1}-"), text)
    text = DIGESTS.sub(lambda found: digests.setdefault(found[0].strip('"'), f"DIGEST{len(digests) + 1}"), text)
    for pattern, instead in DIFFERS:
        text = pattern.sub(instead, text)
    return text


def _kept(folder: Path) -> Iterator[str]:
    """The files of all ensembles below a folder."""
    for manifest in sorted(folder.rglob("ensemble.yaml")):
        for pattern in FILES:
            for path in sorted(manifest.parent.glob(pattern)):
                if path.is_file() and not path.is_symlink() and path.stat().st_size < LARGEST:
                    yield f"# {path.relative_to(folder)}\n{path.read_bytes().decode(errors='replace')}"


@pytest.fixture(autouse=True)
def golden(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep what a test has made programs see."""
    _said.clear()
    folder = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    parts = [*_said, *(_kept(folder) if folder else ())]
    if parts:
        place = Path(os.environ[VARIABLE]) / re.sub(r"[^\w.\[\]-]+", "_", request.node.nodeid)[:180]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(steady("\n".join(parts)), encoding="utf-8", errors="backslashreplace")


def differences(before: Sequence[Path], after: Path, show: Callable[[str], object] = print) -> int:
    """Show how what is kept in ``after`` differs, and give the number of tests of which that is so."""
    names = sorted(path.name for path in before[0].iterdir())
    changed = unsteady = 0
    for name in names:
        texts = [(place / name).read_text(encoding="utf-8") if (place / name).exists() else "" for place in before]
        if any(text != texts[0] for text in texts):
            unsteady += 1
            continue
        now = (after / name).read_text(encoding="utf-8") if (after / name).exists() else ""
        if now != texts[0]:
            changed += 1
            for line in difflib.unified_diff(texts[0].splitlines(), now.splitlines(), name, name, lineterm="", n=1):
                show(line)
    show(f"{len(names)} tests, {unsteady} not the same in each run before, {changed} different now")
    return changed


if __name__ == "__main__":
    *earlier, latest = map(Path, sys.argv[1:])
    sys.exit(1 if differences(earlier, latest) else 0)
