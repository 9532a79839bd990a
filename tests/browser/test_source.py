"""Page 8: the files of what is deployed, and what differs between revisions."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ADMIN, VIEWER, Opens
from tests.browser.team import make_team
from tests.support.browsing import NARROW, WIDE
from tests.support.serving import Client

PROJECT = "sourced"
SOURCE = f"/e/{PROJECT}/prod/source"


@pytest.fixture(scope="session", autouse=True)
def team(admin: Client) -> None:
    make_team(admin, PROJECT, deploys=True)
    admin.do("POST", f"projects/{PROJECT}/ensembles", {"name": "empty", "package": "shop:1.0"})


def test_it_shows_what_is_deployed(opens: Opens) -> None:
    tab = opens(ADMIN)
    page = tab.page
    for size, scheme in tab.looks(SOURCE):
        expect(page.get_by_role("region", name=re.compile("^service.yaml, "))).to_contain_text("Sells things.")
        tab.screenshot(f"source-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0


def test_an_earlier_revision_is_shown(opens: Opens) -> None:
    page = opens(VIEWER).open(f"{SOURCE}?file=scripts/say.sh")
    code = page.get_by_role("region", name=re.compile("^scripts.say.sh, "))
    expect(code).to_contain_text("echo more")
    page.get_by_label("Revision").select_option("1")
    expect(code).not_to_contain_text("echo more")
    expect(page).to_have_url(re.compile("revision=1"))


def test_two_revisions_are_compared(opens: Opens) -> None:
    tab = opens(ADMIN)
    page = tab.page
    for size, scheme in tab.looks(f"{SOURCE}?file=scripts/say.sh", [(WIDE, "light"), (NARROW, "dark")]):
        page.get_by_label("Compared with").select_option("1")
        expect(page.get_by_text("+1 -0 lines")).to_be_visible()
        expect(page.locator(".code-new")).to_contain_text("echo more")
        tab.screenshot(f"source-compared-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0
        page.get_by_role("link", name="scripts/stay.sh").click()
        expect(page.get_by_text("the same", exact=True)).to_be_visible()


def test_findings_stand_at_their_lines(opens: Opens, admin: Client) -> None:
    found = admin.get(f"projects/{PROJECT}/ensembles/prod/service")
    warning = {
        "code": "unused", "severity": "warning", "message": "nothing reads this input", "file": "service.yaml",
        "line": 16, "column": 5, "end_line": None, "end_column": None, "hint": "take it away", "related": [],
    }  # fmt: skip
    tab = opens(ADMIN)
    tab.answers(f"/projects/{PROJECT}/ensembles/prod/service", {**found, "diagnostics": [warning]})
    page = tab.open(SOURCE)
    expect(page.locator("[data-line='16'] .code-finding")).to_contain_text("nothing reads this input: take it away")
    page.keyboard.press("]")
    expect(page).to_have_url(re.compile("line=16"))
    tab.screenshot("source-finding-1440-light")
    assert tab.findings() == []


def test_nothing_deployed_is_said(opens: Opens) -> None:
    tab = opens(ADMIN)
    tab.expected.append("error: Failed to load resource")
    page = tab.open(f"/e/{PROJECT}/empty/source")
    expect(page.get_by_role("heading", name="Nothing was deployed yet")).to_be_visible()
    assert tab.findings() == []


def test_a_file_that_cannot_be_read_is_said_in_its_place(opens: Opens) -> None:
    tab = opens(ADMIN)
    tab.refuses(
        f"/projects/{PROJECT}/ensembles/prod/service/files/scripts/stay.sh", 500, "internal", "the disk is broken"
    )
    page = tab.open(f"{SOURCE}?file=scripts/stay.sh")
    expect(page.get_by_role("alert")).to_contain_text("the disk is broken")
    page.get_by_role("link", name="service.yaml").click()
    expect(page.get_by_role("region", name=re.compile("^service.yaml, "))).to_be_visible()
