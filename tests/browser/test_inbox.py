"""Page 6: what waits for me, live."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import Opens
from tests.support.browsing import LOOKS, NARROW, WIDE
from tests.support.workshop import Workshop

Shop = tuple[Workshop, Opens]


def test_it_shows_what_waits_for_an_approval_and_what_failed(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    workshop.needs_approval(name, "deploy")
    workshop.plan(name, {"workflow": "deploy"}, "ben", apply="auto", comment="please look")
    failed = workshop.deployed(fails="true")
    tab = opens("cy")
    page = tab.page
    for size, scheme in tab.looks("/inbox", [look for look in LOOKS if look[0] in (WIDE, NARROW)]):
        row = page.get_by_role("row").filter(has_text=f"{name} deploy")
        expect(row).to_contain_text("ben")
        expect(row).to_contain_text("please look")
        expect(page.get_by_role("row").filter(has_text=failed)).to_contain_text("failed")
        expect(page.get_by_role("navigation", name="Main").get_by_text("waiting")).to_be_attached()
        tab.wait_until_live()
        tab.screenshot(f"inbox-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0


def test_it_is_live_and_leads_to_the_plan(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    workshop.needs_approval(name, "deploy")
    tab = opens("cy")
    page = tab.open("/inbox")
    tab.wait_until_live()
    row = page.get_by_role("row").filter(has_text=f"{name} deploy")
    expect(row).to_have_count(0)
    workshop.plan(name, {"workflow": "deploy"}, "ben", apply="auto")
    expect(row).to_be_visible()
    row.get_by_role("link").click()
    page.get_by_role("button", name="Approve…").click()
    page.get_by_role("dialog").get_by_label("Comment").fill("looks good")
    page.get_by_role("dialog").get_by_role("button", name="Approve").click()
    expect(page.get_by_role("list", name="Approvals")).to_contain_text("approved by cy")
    expect(page.get_by_role("link", name="See the job")).to_be_visible()


def test_it_is_empty_where_nothing_needs_me(shop: Shop) -> None:
    _, opens = shop
    tab = opens("vera")
    tab.answers("/inbox", {"items": [], "next": None})
    tab.answers("/ensembles", {"items": [], "next": None})
    page = tab.open("/inbox")
    expect(page.get_by_role("heading", name="Nothing needs you")).to_be_visible()
    assert tab.findings() == []


def test_a_part_that_cannot_be_read_leaves_the_other(shop: Shop) -> None:
    _, opens = shop
    tab = opens("vera")
    tab.refuses("/inbox", 500, "internal", "the database does not answer")
    page = tab.open("/inbox")
    expect(page.get_by_role("alert")).to_contain_text("the database does not answer")
