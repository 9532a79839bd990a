"""The whole story in the browser alone: from a package to its removal, by two people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browsing import Tab, one_time_link, open_tab
from tests.support.workshop import Workshop, package

STORY = "default/story"
PLAN, JOB = re.compile(r"/plans/pl_"), re.compile(r"/jobs/\w+")
TO_JOB = re.compile("Follow the job|See the job")


@pytest.fixture
def archives(tmp_path: Path) -> list[Path]:
    """Two versions of the shop; the second fails when it is created."""
    found = []
    for version, default in (("7.0", "false"), ("7.1", "true")):
        path = tmp_path / f"shop-{version}.csar"
        changed = {"fails: { type: boolean, default: false": f"fails: {{ type: boolean, default: {default}"}
        path.write_bytes(package(version, **changed))
        found.append(path)
    return found


@pytest.fixture
def tabs(browser: Browser, workshop_of_all: Workshop) -> Iterator[tuple[Tab, Tab]]:
    """A tab of nobody yet, and one of who approves."""
    both = open_tab(browser, workshop_of_all.served.url), workshop_of_all.tab(browser, "cy")
    yield both
    for tab in both:
        tab.close()


def signs_in(page: Page, link: str) -> None:
    """Sign in with the link that an administrator has given."""
    page.goto(link)
    expect(page.get_by_role("heading", name="Ensembles")).to_be_visible()


def sends(page: Page, archive: Path) -> None:
    """Send a package, which is chosen then."""
    # Before it is known who is signed in nothing can be sent.
    expect(page.get_by_label("Or send a .csar file")).to_be_enabled()
    page.get_by_label("Or send a .csar file").set_input_files(archive)
    expect(page.get_by_label("Package")).not_to_have_value("")


def plans(page: Page) -> None:
    """Send the form, and wait until its plan is made."""
    page.get_by_role("button", name="Make the plan").click()
    page.wait_for_url(PLAN)
    expect(page.get_by_role("button", name=re.compile("^Apply"))).to_be_visible()


def applies(page: Page, *, is_risky: bool = False) -> None:
    """Apply the plan that shows, with the name of the ensemble typed where something is at risk, and go to its job."""
    expect(page.get_by_role("list", name="Risks")).to_have_count(1 if is_risky else 0)
    page.get_by_role("button", name="Apply…").click()
    dialog = page.get_by_role("dialog")
    if is_risky:
        expect(dialog.get_by_role("button", name=f"Apply to {STORY}")).to_be_disabled()
        dialog.get_by_role("textbox").fill(STORY)
    dialog.get_by_role("button", name=f"Apply to {STORY}").click()
    page.get_by_role("link", name=TO_JOB).click()
    page.wait_for_url(JOB)


def approves(page: Page) -> None:
    """Find the plan in the inbox, look at it, and approve it."""
    page.get_by_role("link", name="story deploy").click()
    expect(page.get_by_role("row").filter(has_text="web_1")).to_contain_text("create")
    page.get_by_role("button", name="Approve…").click()
    page.get_by_role("dialog").get_by_role("button", name="Approve").click()


@pytest.mark.timeout(600)
def test_from_a_package_to_its_removal(tabs: tuple[Tab, Tab], workshop_of_all: Workshop, archives: list[Path]) -> None:
    (zoe, cy), admin = tabs, workshop_of_all.admin
    page, at = zoe.page, f"{zoe.url}/e/{STORY}"
    # Somebody whom no other test knows: a new link ends all sessions of its user.
    admin.do("POST", "users", {"name": "zoe", "admin": True})
    signs_in(page, one_time_link(admin, "zoe"))

    # A package is sent, an ensemble made of it, and its first deployment planned, which needs somebody's approval.
    page.goto(f"{zoe.url}/p/default/new?name=story")
    sends(page, archives[0])
    page.get_by_role("button", name="Make the ensemble").click()
    page.get_by_label("port", exact=True).wait_for()
    page.goto(f"{at}/settings?tab=rules")
    page.get_by_role("button", name="New rule").click()
    page.get_by_role("checkbox", name="deploy", exact=True).check()
    page.get_by_role("button", name="Set the rule").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("Plans for deploy need 1 approval")).to_be_visible()
    page.goto(f"{at}/deploy")
    page.get_by_label("port", exact=True).fill("8088")
    plans(page)
    page.get_by_role("button", name="Apply once approved…").click()
    page.get_by_role("dialog").get_by_role("button", name="Apply once approved").click()
    expect(page.locator(".plan-head")).to_contain_text("waits for approval")
    approves(cy.open("/inbox"))

    # The page has followed; so is the job, to its end.
    page.get_by_role("link", name=TO_JOB).click()
    page.wait_for_url(JOB)
    expect(page.locator(".job-title")).to_contain_text("ok")

    # An upgrade fails; its log says why.
    page.goto(f"{at}/ask/upgrade")
    sends(page, archives[1])
    page.get_by_text("Further options").click()
    page.get_by_label("Replace", exact=True).fill("web")
    plans(page)
    applies(page, is_risky=True)
    expect(page.locator(".job-title")).to_contain_text("failed")
    failures = page.get_by_role("region", name="failed")
    failures.get_by_role("button", name="Standard.create").first.click()
    expect(page.locator(".job-log")).to_contain_text("no room left on the disk")

    # Back to what was there before, and all of it removed.
    for form in ("rollback", "undeploy"):
        page.goto(f"{at}/ask/{form}")
        plans(page)
        applies(page, is_risky=form == "undeploy")
        expect(page.locator(".job-title")).to_contain_text("ok")
    page.goto(f"{at}/revisions")
    expect(page.locator(".ensemble-facts")).to_contain_text("absent")
