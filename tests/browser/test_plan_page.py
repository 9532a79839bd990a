"""Page 3: plans, from being made to their job; decided in the browser alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opens
from tests.support.browsing import NARROW, WIDE, ZOOMED
from tests.support.workshop import Workshop

Shop = tuple[Workshop, Opens]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW, ZOOMED], ids=["wide", "narrow", "zoomed"])
def test_a_plan_says_what_happens_and_why(shop: Shop, scheme: str, size: tuple[int, int]) -> None:
    workshop, opens = shop
    name = workshop.make()
    plan = workshop.plan(name, {"workflow": "deploy"}, comment="the first one")
    tab = opens("ann", size=size, scheme=scheme)
    page = tab.open(f"/e/default/{name}/plans/{plan['id']}")
    expect(page.get_by_text("4 made")).to_be_visible()
    expect(page.get_by_text("valid: nothing has changed since")).to_be_visible()
    expect(page.get_by_text("“the first one”")).to_be_visible()
    row = page.get_by_role("row").filter(has_text="web_1")
    expect(row).to_contain_text("create")
    expect(row).to_contain_text("service.yaml")
    tab.wait_until_live()
    tab.screenshot(f"plan-{size[0]}-{scheme}")
    assert tab.findings() == []
    assert tab.widest() <= 0


@pytest.mark.parametrize("part", ["order", "graph", "inputs", "file"])
def test_each_part_of_a_plan_shows(shop: Shop, part: str) -> None:
    workshop, opens = shop
    name = workshop.make()
    plan = workshop.plan(name, {"workflow": "deploy", "input_texts": {"port": "9090"}})
    tab = opens("ann")
    page = tab.open(f"/e/default/{name}/plans/{plan['id']}?tab={part}")
    panel = page.get_by_role("tabpanel")
    told = {"order": "say.sh", "graph": "web", "inputs": "9090", "file": plan["digest"]}[part]
    expect(panel.locator("text, td, div, dd, span").get_by_text(told).last).to_be_visible()
    tab.screenshot(f"plan-{part}")
    assert tab.findings() == []
    expect(page.get_by_text("canary-of-the-workshop")).to_have_count(0)
