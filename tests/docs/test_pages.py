"""Every page of the documentation does what it says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ordito.cli.main import run
from tests.docs.at_server import Exceptions, asks_a_server, commands_of, table
from tests.docs.page import Mistake, Page, read_page
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
    read(read_page(ROOT / name, name), folder)


def read(page: Page, folder: Path, at_server: Exceptions | None = None) -> None:
    """Do what a page says, and fail with what is not so."""
    said = ""
    try:
        carry_out(page, folder, at_server)
    except Mistake as mistake:
        said = str(mistake)
    if said:
        pytest.fail(said, pytrace=False)


PAGES = {page.name: page for page in (read_page(ROOT / name, name) for name in pages())}
AT_SERVER = [name for name, page in PAGES.items() if asks_a_server(page) and name not in table().left_out]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", AT_SERVER)
def test_a_page_does_the_same_at_a_server(name: str, folder: Path) -> None:
    read(PAGES[name], folder, table().pages.get(name, Exceptions()))


def test_what_is_said_of_pages_at_a_server_is_about_them() -> None:
    """No entry of the table is about a page or a command that is not there, or that no server could be asked."""
    known = table()
    assert not [name for name in known.left_out if name not in PAGES or not asks_a_server(PAGES[name])]
    assert not [name for name in known.pages if name not in AT_SERVER]
    shown = {name: set(commands_of(PAGES[name])) for name in known.pages}
    assert not [(name, text) for name, found in known.pages.items() for text in found.all if text not in shown[name]]
    assert all(known.left_out.values())
    assert all(why for found in known.pages.values() for why in found.all.values())
