"""ARCHITECTURE.md and what goes on from there show the tables that the program uses, and name files that are there."""

from pathlib import Path

import pytest

from tools.architecture import DOCUMENTS, document, missing_files

each = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)


@each
def test_its_diagrams_are_those_of_the_code(path: Path) -> None:
    assert document(path) == path.read_text(encoding="utf-8"), "replace them: python -m tools.architecture"


@each
def test_every_file_that_it_names_is_there(path: Path) -> None:
    assert missing_files(path.read_text(encoding="utf-8")) == []


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
