"""What authors really write: services that are sound, and services with the mistakes that people make.

``valid`` and ``broken`` hold one service each: a file, or a folder with ``main.yaml``. Their comments say what must be
found in them and what their models hold, see ``tests/support/documents.py``. A broken service gives exactly what is
expected, and nothing that only follows from it. ``slips`` are broken services, too: what somebody did to a large sound
one.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from tests.support.documents import Expected, check_document, expectations, expected_parts

HERE = Path(__file__).parent


def services(folder: str) -> list[Path]:
    """The main files of all services below a folder."""
    return sorted([*(HERE / folder).glob("*.yaml"), *(HERE / folder).glob("*/main.yaml")])


def name_of(main: Path) -> str:
    """What a service is called."""
    return main.parent.name if main.name == "main.yaml" else main.stem


def check(main: Path) -> None:
    """Everything that is expected of a service, and nothing else."""
    files = sorted(main.parent.rglob("*.yaml")) if main.name == "main.yaml" else [main]
    check_document(main, [e for f in files for e in expectations(f)], expected_parts(main))


@pytest.mark.parametrize("main", services("valid"), ids=name_of)
def test_valid(main: Path) -> None:
    """R-14.2-1, R-14.3-1: services of many kinds are read and give the right models."""
    assert expected_parts(main), "a service says what its model holds"
    check(main)


@pytest.mark.parametrize("main", services("broken"), ids=name_of)
def test_broken(main: Path) -> None:
    """R-14.3-1, R-14.3-4: mistakes are found where they were made, each once, and nothing else is reported."""
    assert any(expectations(f) for f in main.parent.rglob("*.yaml"))
    check(main)


# ---------------------------------------------------------------------------------------------- slips in large ones


class Place(msgspec.Struct, rename={"file": "in"}):
    """A line of a file, the ``which``-th of those that read so, and what is found in it at a text or a column."""

    file: str
    line: str
    at: str | int = ""
    finds: str = ""
    which: int = 1


class Slip(Place):
    """A line that becomes another one, in which something is found."""

    becomes: str = ""


class Slips(msgspec.Struct):
    """What somebody did to a sound service, and what else is found because of it."""

    of: str
    slips: list[Slip]
    also: list[Place] = []


SLIPS = {p.stem: msgspec.yaml.decode(p.read_bytes(), type=Slips) for p in sorted((HERE / "slips").glob("*.yaml"))}


def line_of(path: Path, place: Place) -> int:
    """The number of a line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [n for n, line in enumerate(lines, start=1) if line == place.line]
    assert len(found) >= place.which, f"{path} has no line {place.line!r}"
    return found[place.which - 1]


def expected_at(path: Path, number: int, line: str, place: Place) -> list[Expected]:
    """What a place expects in a line."""
    if not place.finds:
        return []
    assert isinstance(place.at, int) or place.at in line, f"{place.at!r} is not in {line!r}"
    column = place.at if isinstance(place.at, int) else line.index(place.at) + 1
    what, _, text = place.finds.partition(": ")
    severity, _, code = what.rpartition(" ")
    return [Expected(str(path), number, column, severity or "error", code, text)]


@pytest.mark.parametrize("name", SLIPS)
def test_slips(name: str, tmp_path: Path) -> None:
    """R-14.3-1, R-14.3-4: in large services of several files, too, each mistake is found once and nothing else."""
    case = SLIPS[name]
    shutil.copytree(HERE / "valid" / case.of, tmp_path, dirs_exist_ok=True)
    assert sum(len(p.read_text(encoding="utf-8").splitlines()) for p in tmp_path.rglob("*.yaml")) > 200
    assert len(list(tmp_path.rglob("*.yaml"))) >= 3
    expected: list[Expected] = []
    for slip in case.slips:
        path = tmp_path / slip.file
        number = line_of(path, slip)
        lines = path.read_text(encoding="utf-8").splitlines()
        lines[number - 1] = slip.becomes
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        expected += expected_at(path, number, slip.becomes, slip)
    for place in case.also:
        expected += expected_at(tmp_path / place.file, line_of(tmp_path / place.file, place), place.line, place)
    check_document(tmp_path / "main.yaml", expected, ())


@pytest.mark.parametrize("folder", sorted((HERE / "valid").glob("*.csar")), ids=lambda p: p.stem)
def test_valid_archive(folder: Path, tmp_path: Path) -> None:
    """R-14.6-1, R-6.1-1: archives with and without a meta file are read as the folders that they were made of."""
    archive = shutil.make_archive(str(tmp_path / folder.stem), "zip", folder)
    path = Path(archive).rename(tmp_path / folder.name)
    parts = [p for f in sorted(folder.rglob("*.yaml")) for p in expected_parts(f)]
    assert parts
    check_document(path, [], parts)
