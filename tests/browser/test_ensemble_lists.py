"""What stands around the pages of an ensemble, and its lists of jobs, plans and policies."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from ordito.results.policies import EventOfTrigger, NoticeData, PoliciesData, PolicyData, TriggerData
from tests.browser.conftest import ADMIN, VIEWER, Opens

SHOP = "/e/default/shop"


@pytest.mark.parametrize("name", ["jobs", "plans", "policies"])
def test_a_list_is_shown(opens: Opens, name: str) -> None:
    tab = opens(ADMIN)
    page = tab.page
    for size, scheme in tab.looks(f"{SHOP}/{name}"):
        expect(page.get_by_role("heading", level=1)).to_contain_text("shop")
        expect(page.get_by_role("navigation", name="Pages of default/shop").get_by_text(name.title())).to_be_visible()
        expect(page.locator(".ensemble-facts")).to_contain_text("ok")
        tab.wait_until_live()
        tab.screenshot(f"{name}-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0


def test_a_freeze_is_made_told_and_ended(opens: Opens) -> None:
    tab = opens(ADMIN)
    page = tab.open(f"{SHOP}/plans")
    page.get_by_role("button", name="Freeze", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("the disks are being replaced")
    dialog.get_by_label("Hours").fill("2")
    tab.screenshot("freeze-dialog")
    dialog.get_by_role("button", name="Freeze", exact=True).click()
    banner = page.locator(".ensemble-freeze")
    expect(banner).to_contain_text("Frozen by ann")
    expect(banner).to_contain_text("the disks are being replaced")
    tab.screenshot("freeze-banner")
    assert tab.findings() == []
    banner.get_by_role("button", name="End the freeze").click()
    page.get_by_role("dialog").get_by_role("button", name="End the freeze").click()
    expect(banner).to_have_count(0)


def test_what_is_not_permitted_says_why(opens: Opens) -> None:
    page = opens(VIEWER).open(f"{SHOP}/plans")
    scale = page.get_by_role("button", name="Scale")
    expect(scale).to_have_attribute("aria-disabled", "true")
    expect(scale).to_have_accessible_description('needs the permission "plan", which the owners of default give')
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(page.get_by_role("menuitem", name="Upgrade")).to_contain_text("needs the permission")


def test_an_ensemble_that_is_not_there_is_said_to_be_gone(opens: Opens) -> None:
    tab = opens(ADMIN)
    tab.expected.append("error: Failed to load resource")
    page = tab.open("/e/default/nowhere/plans")
    expect(page.get_by_role("alert")).to_contain_text("nowhere")
    expect(page.get_by_role("link", name="All ensembles")).to_be_visible()
    assert tab.findings() == []


def test_a_policy_tells_what_it_waits_for_and_what_it_did(opens: Opens) -> None:
    did = EventOfTrigger(3, "load", "web_2", "2026-11-22T21:58:18Z", "scaled web to 4", done=True, job="A6BM5PEY0000")
    kept = EventOfTrigger(2, "load", "web_1", "2026-11-22T21:50:18Z", "it does not hold", done=False, job=None)
    trigger = TriggerData("load", {}, "10 s", 3, "average", ("scale web by 1",), {"web": 2}, {}, (did, kept))
    policy = PolicyData("tosca.policies.Scaling", ("web",), ("web",), enforced=True, triggers={"out": trigger})
    notice = NoticeData(
        number=4, event="load", entity="web_1", at=1.76e9, values={}, state="waiting", job="", dropped="", triggers=()
    )
    tab = opens(ADMIN)
    tab.answers("/projects/default/ensembles/shop/policies", PoliciesData({"grow": policy}, (notice,)))
    page = tab.open(f"{SHOP}/policies")
    shown = page.get_by_role("region", name="grow")
    expect(shown).to_contain_text("scale web by 1")
    expect(shown).to_contain_text("web (2 of 3)")
    expect(shown.get_by_role("link", name="A6BM5PEY0000")).to_have_attribute("href", f"{SHOP}/jobs/A6BM5PEY0000")
    expect(shown).to_contain_text("it does not hold")
    expect(page.get_by_role("heading", name="Waiting notices")).to_be_visible()
    tab.screenshot("policies-usual")
    assert tab.findings() == []
