"""What authors really write: services that are sound, and services with the mistakes that people make.

``valid`` and ``broken`` hold one service each: a file, or a folder with ``main.yaml``. Their comments say what must be
found in them and what their models hold, see ``tests/support/documents.py``. A broken service gives exactly what is
expected, and nothing that only follows from it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.documents import check_document, expectations, expected_parts

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
