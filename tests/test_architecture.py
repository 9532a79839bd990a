"""ARCHITECTURE.md shows the tables that the program uses, and names files that are there."""

import pytest

from tools.architecture import DOCUMENT, document, missing_files


@pytest.fixture(scope="module")
def text() -> str:
    return DOCUMENT.read_text(encoding="utf-8")


def test_its_diagrams_are_those_of_the_code(text: str) -> None:
    assert document(text) == text, "make them anew: python -m tools.architecture"


def test_every_file_that_it_names_is_there(text: str) -> None:
    assert missing_files(text) == []


def test_what_is_not_there_is_found() -> None:
    """A room's table names files of the room; all else is a path in the package or in the repository."""
    lines = [
        "`work/plan.py`, `run.py`",
        "| `work` | `plan.py`, `driver.py` |",
        "`docs/lifecycle.md`, `docs/none.md`, `none/`",
        "<!-- room: model -->",
        "`types.py`, `driver.py`, `work/plan.py`",
        "## Another part",
        "`driver.py`",
    ]
    assert missing_files("\n".join(lines)) == ["2: driver.py", "3: docs/none.md", "3: none/", "5: driver.py"]
