"""Samples: a valid service template that holds its own invalid variants, each of which differs in one place.

The file as it is is the valid twin: lines that begin with ``#!`` are comments of it. Consecutive ``#!`` lines are a
variant, in which they become live (two blanks take the place of ``#!``, so that columns stay true) and the one live
line above them becomes a comment::

          default: [ 1, 10 ]
    #!    default: [ 10, 1 ]
    #              ^ bad-value: upper

Below a variant stands what must be found in it, in the form of ``documents.py``: exactly one diagnostic more than in
the twin. ``#!-2`` as the first line of a variant takes two live lines out instead of one, ``#!-0`` none; a variant that
holds nothing else only takes lines out. Text in the first column is written ``#!<text`` with carets below that text.
Lines keep their numbers.

A sample of several files is a folder with ``main.yaml``; each of its files may hold expectations and variants. Samples
of one file share the folders ``scripts`` and ``files`` beside them.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import msgspec

from tests.support.documents import Expected, ExpectedPart, read_expected, read_part

_REMOVAL = re.compile(r"#!-(\d+)\s*")
_NUMBER = re.compile(r"R-(?:[0-9A-Z]*[A-Z][0-9A-Z]+-)?[0-9A-Z]+(?:\.\d+)*-[a-z]*\d+")
_RANGE = re.compile(r"(?P<section>R-[0-9A-Z.-]+)-(?P<first>\d+) to (?P<last_section>R-[0-9A-Z.-]+)-(?P<last>\d+)")

SHARED = ("scripts", "files")
"""Folders whose files the samples beside them may name."""


class Variant(msgspec.Struct, frozen=True):
    """What differs from the twin: the numbers of lines taken out, lines put in; and the diagnostics it must give."""

    file: str
    removed: frozenset[int]
    live: dict[int, str]
    expected: list[Expected]

    def render(self, text: str) -> str:
        """The text of the variant, given that of its file."""
        lines = text.split("\n")
        for number in self.removed:
            lines[number - 1] = "#" + lines[number - 1][1:]
        for number, line in self.live.items():
            lines[number - 1] = line
        return "\n".join(lines)


class Sample(msgspec.Struct, frozen=True):
    """A valid service template with its variants. Files are relative to ``root``, expectations name them likewise."""

    name: str
    root: Path
    main: str
    requirements: tuple[str, ...]
    """The R-numbers that it shows: that of its name and those its first line begins with."""
    expected: list[Expected]
    parts: list[ExpectedPart]
    variants: list[Variant]

    def expected_of(self, variant: Variant) -> list[Expected]:
        """What a variant gives: what the twin gives in the lines that are still there, and its own."""
        kept = [e for e in self.expected if e.file != variant.file or e.line not in variant.removed]
        return kept + variant.expected

    def write(self, variant: Variant, folder: Path) -> Path:
        """Write a variant into an empty folder; gives its main file."""
        if self.main != "main.yaml":
            for shared in SHARED:
                if (self.root / shared).is_dir():
                    shutil.copytree(self.root / shared, folder / shared)
            (folder / self.main).write_text(variant.render(_text(self.root / self.main)), encoding="utf-8")
            return folder / self.main
        shutil.copytree(self.root, folder, dirs_exist_ok=True)
        (folder / variant.file).write_text(variant.render(_text(self.root / variant.file)), encoding="utf-8")
        return folder / self.main


class BadSample(Exception):
    """A sample that is written wrongly; says where."""


def read_sample(path: Path) -> Sample:
    """A sample from its file, or from the folder that holds its ``main.yaml``."""
    root, main = (path, "main.yaml") if path.is_dir() else (path.parent, path.name)
    files = sorted(str(p.relative_to(root)) for p in root.rglob("*.yaml")) if path.is_dir() else [main]
    sample = Sample(path.name.removesuffix(".yaml"), root, main, _requirements(path, root / main), [], [], [])
    for file in files:
        _Reader(sample, file).read()
    for variant in sample.variants:
        if len(variant.expected) != 1:
            place = f"{root / variant.file}:{min({*variant.live, *variant.removed})}"
            raise BadSample(f"{place}: a variant expects one diagnostic, this one {len(variant.expected)}")
    return sample


def numbers_at_start(text: str) -> tuple[str, ...]:
    """The R-numbers that a text begins with, up to its first colon; ``R-2.4-1 to R-2.4-3`` are three, and
    ``R-2.4-1, -2`` two."""
    head = " ".join(text.partition(":")[0].split()).rstrip(".")
    found: list[str] = []
    for piece in re.split(r", | and ", head if head.startswith("R-") else ""):
        if match := _RANGE.fullmatch(piece):
            last = match["last"] if match["last_section"] == match["section"] else match["first"]
            found += [f"{match['section']}-{n}" for n in range(int(match["first"]), int(last) + 1)]
        elif _NUMBER.fullmatch(piece):
            found.append(piece)
        elif found and re.fullmatch(r"-\d+", piece):
            found.append(found[-1].rpartition("-")[0] + piece)
    return tuple(dict.fromkeys(found))


def _requirements(path: Path, main: Path) -> tuple[str, ...]:
    named = _NUMBER.match(path.name)
    first = _text(main).partition("\n")[0].removeprefix("#").strip()
    found = tuple(dict.fromkeys([*([named[0]] if named else []), *numbers_at_start(first)]))
    if not found:
        raise BadSample(f"{path}: neither its name nor its first line begins with the number of a requirement")
    return found


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


class _Reader:
    """Reads one file of a sample, line by line."""

    def __init__(self, sample: Sample, file: str) -> None:
        self._sample = sample
        self._file = file
        self._lines = _text(sample.root / file).split("\n")
        self._live: list[int] = []
        self._variant: Variant | None = None
        self._ended = False
        self._target = 0
        self._shift = 0

    def read(self) -> None:
        for number, line in enumerate(self._lines, start=1):
            expected = read_expected(line, self._file, self._target, self._shift)
            if expected is not None:
                self._ended = True
                (self._variant or self._sample).expected.append(expected)
            elif line.startswith("#!"):
                self._add(number, line)
            else:
                self._leave(number, line)

    def _add(self, number: int, line: str) -> None:
        """Add a line to the variant above it, or begin one."""
        removal = _REMOVAL.fullmatch(line)
        if self._variant is None or self._ended or removal:
            count = int(removal[1]) if removal else 1
            taken = frozenset(self._live[len(self._live) - count :])
            self._variant = Variant(self._file, taken, {}, [])
            self._sample.variants.append(self._variant)
            self._ended = False
        if removal:
            kept = self._live[: len(self._live) - len(self._variant.removed)]
            self._target, self._shift = (kept or [0])[-1], 0
            return
        first_column = line.startswith("#!<")
        self._variant.live[number] = line[3:] if first_column else "  " + line[2:]
        self._target, self._shift = number, 3 if first_column else 0

    def _leave(self, number: int, line: str) -> None:
        """An ordinary line, which belongs to the twin."""
        if part := read_part(line):
            self._sample.parts.append(part)
            return
        self._variant, self._target, self._shift = None, number, 0
        if line.strip() and not line.lstrip().startswith("#"):
            self._live.append(number)
