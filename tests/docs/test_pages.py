"""Every page of the documentation does what it says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ordito.cli.main import run
from tests.docs.page import Mistake, read_page
from tests.docs.places import ROOT, pages
from tests.docs.reading import carry_out


@pytest.fixture
def folder() -> Iterator[Path]:
    """A directory with a short path, as readers have; what programs print of it is cut where it is long."""
    with TemporaryDirectory(prefix="page-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as made:
        yield Path(made)


@pytest.mark.parametrize("template", sorted((ROOT / "tests/docs/templates").glob("*.yaml")), ids=lambda path: path.stem)
def test_a_template_that_pages_show_parts_of_is_valid(template: Path, capfd: pytest.CaptureFixture[str]) -> None:
    # Files that it names are not there, which is a warning.
    assert run(["validate", str(template)]) == 0, capfd.readouterr().err


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", pages())
def test_a_page_does_what_it_says(name: str, folder: Path) -> None:
    said = ""
    try:
        carry_out(read_page(ROOT / name, name), folder)
    except Mistake as mistake:
        said = str(mistake)
    if said:
        pytest.fail(said, pytrace=False)
