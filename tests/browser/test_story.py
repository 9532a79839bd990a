"""The whole story in the browser alone: from a package to its removal, by two people."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browsing import one_time_link, open_tab
from tests.support.workshop import Workshop, package

PLAN, JOB = re.compile(r"/plans/pl_"), re.compile(r"/jobs/\w+")


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


def applied(page: Page, name: str = "") -> None:
    """Apply the plan that shows, with its name typed where that is wanted, and go to its job."""
    page.wait_for_url(PLAN)
    page.get_by_role("button", name=re.compile("^Apply…")).click()
    dialog = page.get_by_role("dialog")
    if name:
        dialog.get_by_role("textbox").fill(name)
    dialog.get_by_role("button", name="Apply to").click()
    page.get_by_role("link", name=re.compile("Follow the job|See the job")).click()
    page.wait_for_url(JOB)


def test_from_a_package_to_its_removal(browser: Browser, workshop_of_all: Workshop, archives: list[Path]) -> None:
    workshop = workshop_of_all
    rules = {"rules": [{"when": {"workflows": ["deploy"]}}]}
    ann = open_tab(browser, workshop.served.url)
    cy = workshop.tab(browser, "cy")
    # Somebody signs in with the link that an administrator has given.
    link = one_time_link(workshop.admin, "ann")
    page = ann.page
    page.goto(link)
    expect(page.get_by_role("heading", name="Ensembles")).to_be_visible()

    # A package is sent, an ensemble made of it, and its first deployment planned.
    page.goto(f"{ann.url}/p/default/new?name=story")
    page.get_by_label("Or send a .csar file").set_input_files(archives[0])
    expect(page.get_by_label("Package")).not_to_have_value("")
    page.get_by_role("button", name="Make the ensemble").click()
    expect(page.get_by_label("port", exact=True)).to_be_visible()
    workshop.admin.do("PUT", "projects/default/ensembles/story/rules", rules, {"If-Match": "*"})
    page.get_by_label("port", exact=True).fill("8088")
    page.get_by_label("Comment").fill("the first one")
    page.get_by_role("button", name="Make the plan").click()
    page.wait_for_url(PLAN)
    expect(page.get_by_text("4 made")).to_be_visible()
    page.get_by_role("button", name="Apply once approved…").click()
    page.get_by_role("dialog").get_by_role("button", name="Apply once approved").click()
    expect(page.locator(".plan-head")).to_contain_text("waits for approval")

    # Somebody else finds it in the inbox, looks, and approves.
    other = cy.open("/inbox")
    other.get_by_role("link", name="story deploy").click()
    expect(other.get_by_role("row").filter(has_text="web_1")).to_contain_text("create")
    other.get_by_role("button", name="Approve…").click()
    other.get_by_role("dialog").get_by_role("button", name="Approve").click()

    # Its job is followed to the end.
    page.get_by_role("link", name=re.compile("Follow the job|See the job")).click()
    page.wait_for_url(JOB)
    expect(page.locator(".job-title")).to_contain_text("ok")

    # An upgrade to a version that fails; its log says why.
    page.goto(f"{ann.url}/e/default/story/ask/upgrade")
    page.get_by_label("Or send a .csar file").set_input_files(archives[1])
    expect(page.get_by_label("Package")).not_to_have_value("")
    page.get_by_text("Further options").click()
    page.get_by_label("Replace", exact=True).fill("web")
    page.get_by_role("button", name="Make the plan").click()
    applied(page, "default/story")
    expect(page.locator(".job-title")).to_contain_text("failed")
    failures = page.get_by_role("region", name="failed")
    expect(failures).to_contain_text("no room left on the disk")
    failures.get_by_role("button", name="Standard.create").first.click()
    expect(page.locator(".job-log")).to_contain_text("no room left on the disk")

    # Back to what was there before.
    page.goto(f"{ann.url}/e/default/story/ask/rollback")
    page.get_by_role("button", name="Make the plan").click()
    page.wait_for_url(PLAN)
    page.get_by_role("button", name="Apply…").click()
    dialog = page.get_by_role("dialog")
    if dialog.get_by_role("textbox").count():
        dialog.get_by_role("textbox").fill("default/story")
    dialog.get_by_role("button", name="Apply to").click()
    expect(page.locator(".plan-head")).to_contain_text("job ok")

    # All of it is removed, with its name typed.
    page.goto(f"{ann.url}/e/default/story/ask/undeploy")
    page.get_by_role("button", name="Make the plan").click()
    page.wait_for_url(PLAN)
    expect(page.get_by_text("4 removed")).to_be_visible()
    applied(page, "default/story")
    page.goto(f"{ann.url}/e/default/story/revisions")
    expect(page.locator(".ensemble-facts")).to_contain_text("absent")
    for tab in (ann, cy):
        tab.close()
