"""The revisions: listed, compared, gone back to."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opens
from tests.support.workshop import Workshop

Shop = tuple[Workshop, Opens]


@pytest.fixture(scope="session")
def revised(workshop_of_all: Workshop) -> str:
    """An ensemble of three revisions."""
    name = workshop_of_all.deployed("revised")
    for values in ({"port": "9090"}, {"port": "9091", "domain": "a-very-long-name-of-a-host.in.some.example"}):
        workshop_of_all.carry_out(name, {"workflow": "upgrade", "input_texts": values})
    return name


def test_two_are_compared(shop: Shop, revised: str) -> None:
    tab = shop[1]("ann")
    page = tab.page
    for size, scheme in tab.looks(f"/e/default/{revised}/revisions"):
        expect(page.get_by_role("row").filter(has_text="deployed")).to_contain_text("3")
        values = page.locator(".revisions-values")
        expect(values).to_contain_text("9090 → 9091")
        tab.wait_until_live()
        tab.screenshot(f"revisions-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0
        page.get_by_label("from").select_option("1")
        expect(values).to_contain_text("8080 → 9091")
        expect(page).to_have_url(re.compile("before=1&after=3"))


def test_going_back_makes_a_plan(shop: Shop, revised: str) -> None:
    page = shop[1]("ann").open(f"/e/default/{revised}/revisions")
    page.get_by_role("button", name="Go back to 2…").click()
    page.get_by_role("dialog").get_by_role("button", name="Make the plan").click()
    page.wait_for_url(re.compile("/plans/pl_"))
    expect(page.get_by_text("goes back to revision 2")).to_be_visible()


def test_nothing_was_deployed_yet(shop: Shop) -> None:
    workshop, opens = shop
    tab = opens("ann")
    page = tab.open(f"/e/default/{workshop.make()}/revisions")
    expect(page.get_by_role("heading", name="Nothing was deployed yet")).to_be_visible()
    assert tab.findings() == []
