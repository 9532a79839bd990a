"""What the specification requires, as data: a file for each requirement, named after its number.

Each file is a sample, see ``tests/support/samples.py``: a valid service template with the diagnostics and the parts of
the model that it gives, and variants of it that give exactly one diagnostic more. ``R-3.3.3-1[2]`` is the second
variant of ``R-3.3.3-1.yaml``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.support.documents import Expected, check_document
from tests.support.samples import BadSample, Sample, read_sample

HERE = Path(__file__).parent
PATHS = sorted([*HERE.glob("*/*.yaml"), *(p.parent for p in HERE.glob("*/*/main.yaml"))])

Case = tuple[Sample | BadSample, int]


def cases() -> Iterator[tuple[str, Case]]:
    """Each sample and each of its variants; what is no sample is a case that fails."""
    for path in PATHS:
        try:
            sample = read_sample(path)
        except (BadSample, ValueError) as problem:
            yield path.name, (BadSample(f"{path}: {problem}"), 0)
            continue
        yield sample.name, (sample, 0)
        for number in range(1, len(sample.variants) + 1):
            yield f"{sample.name}[{number}]", (sample, number)


CASES = dict(cases())


@pytest.mark.parametrize("name", CASES)
def test_sample(name: str) -> None:
    """A sample gives what it says; each of its variants gives one diagnostic more."""
    sample, number = CASES[name]
    if isinstance(sample, BadSample):
        raise sample
    if number == 0:
        check(sample, sample.root)
        return
    with tempfile.TemporaryDirectory() as folder:
        check_variant(sample, number, Path(folder))


def check(sample: Sample, root: Path) -> None:
    """The twin gives what its comments say."""
    check_document(root / sample.main, below(root, sample.expected), sample.parts)


def check_variant(sample: Sample, number: int, folder: Path) -> None:
    """A variant gives one diagnostic more than the twin."""
    variant = sample.variants[number - 1]
    main = sample.write(variant, folder)
    expected = below(folder, sample.expected_of(variant))
    live = "\n".join(f"{sample.root / variant.file}:{n}: {line}" for n, line in variant.live.items())
    try:
        check_document(main, expected, ())
    except AssertionError as error:
        taken = ", ".join(str(n) for n in sorted(variant.removed)) or "none"
        raise AssertionError(f"variant {number}, without line {taken}:\n{live}\n{error}") from None


def below(folder: Path, expected: list[Expected]) -> list[Expected]:
    """Expectations whose files lie in a folder."""
    return [msgspec.structs.replace(e, file=str(folder / e.file)) if e.line else e for e in expected]
