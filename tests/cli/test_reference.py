"""The pages of the reference are what the code says now, and the manual knows all verbs."""

from __future__ import annotations

import re
import subprocess

import pytest

from ordito.cli.exit_codes import ExitCode
from ordito.cli.manual import FOLDER, manual_of
from tests.cli.program import Run
from tests.cli.test_usage import ALL, GROUPS, ROOT
from tests.support.real.needs import need
from tools.reference import environment, pages


@pytest.mark.parametrize("page", pages.PAGES)
def test_the_page_is_up_to_date(page: str) -> None:
    written = (pages.ROOT / page).read_text(encoding="utf-8")
    assert written == pages.PAGES[page](), "make it again: python -m tools.reference"


VERBS = {" ".join(words) for words in ALL if not any(words == other[: len(words)] != other for other in ALL)}


def test_the_manual_has_a_page_for_each_verb_and_no_others() -> None:
    assert {path.stem.replace("_", " ") for path in FOLDER.glob("*.yaml")} == VERBS


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_what_the_manual_names_is_there(verb: str) -> None:
    manual = manual_of(verb)
    assert manual.examples
    assert all(f"ordito {verb}" in example.run for example in manual.examples)
    assert {ExitCode(code) for code in manual.exits} <= set(ExitCode)
    assert set(manual.see) <= VERBS | set(GROUPS)


def test_help_needs_no_other_page(run: Run) -> None:
    shown = run("deploy", "--help").out
    titles = [line for line in shown.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles == [
        *("Options:", "How the job runs:", "Options of every verb:", "Examples:", "Exit codes:", "See also:")
    ]
    assert "ordito deploy --yes" in shown


NAMES = re.compile(r"""["'](_?(?:ORDITO|XDG)_[A-Z_]+|CUE_EXE|NO_COLOR|FORCE_COLOR|TERM)["']""")
INSIDE = {
    "ORDITO_ANSIBLE",  # leads plug-ins of Ansible to what they are to do
    "ORDITO_SERVICE",  # leads `cloudify` in scripts to the files of their service
    "ORDITO_KEEP",  # stands in a text, and is replaced
    "XDG_RUNTIME_DIR",  # is handed to engines of containers
    "_ORDITO_COMPLETE",  # is set by the script of a shell
}


def test_every_variable_that_the_code_names_is_described() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    described = {name for names in environment.variables().values() for name in names}
    assert set(NAMES.findall(source)) - INSIDE == {name for name in described if NAMES.fullmatch(f'"{name}"')}


def test_the_page_for_man_is_in_order() -> None:
    need("mandoc", "mandoc")
    page = pages.ROOT / "share/man/man1/ordito.1"
    checked = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True, check=False
    )
    assert [line for line in checked.stdout.splitlines() if "missing date" not in line] == []
    shown = subprocess.run(["mandoc", "-T", "utf8", page], capture_output=True, text=True, check=True).stdout
    shown = re.sub(".\b", "", shown)
    assert all(f"   ordito {verb} " in shown for verb in VERBS)
