"""Page 9, administration: users, groups, projects, the audit log, and how the server is."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ADMIN, VIEWER, Opens
from tests.support.browsing import NARROW, WIDE, ZOOMED
from tests.support.serving import Client

TABS = ["users", "groups", "projects", "audit", "server"]


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_shows(opens: Opens, admin: Client, tab: str) -> None:
    admin.do("PUT", "groups/on-call", {"members": [ADMIN, VIEWER]}, {"If-Match": "*"})
    shown = opens(ADMIN)
    page = shown.page
    for size, scheme in shown.looks(f"/admin?tab={tab}", [(WIDE, "light"), (NARROW, "dark"), (ZOOMED, "light")]):
        expect(page.get_by_role("table").first).to_be_visible()
        expect(page.locator(".problem")).to_have_count(0)
        shown.screenshot(f"admin-{tab}-{size[0]}-{scheme}")
        assert shown.findings() == []
        assert shown.widest() <= 0


def test_who_may_not_administer_is_told_so(opens: Opens) -> None:
    tab = opens(VIEWER)
    page = tab.open("/admin")
    expect(page.get_by_role("heading", name="This is for administrators and auditors")).to_be_visible()
    expect(page.get_by_text("administer", exact=True)).to_be_visible()
    assert tab.findings() == []


def test_a_user_is_made_disabled_and_removed(opens: Opens, admin: Client) -> None:
    tab = opens(ADMIN)
    page = tab.open("/admin")
    page.get_by_role("button", name="New user").click()
    page.get_by_label("Name", exact=True).fill("zoe")
    page.get_by_role("button", name="Make the user and a link").click()
    link = page.get_by_role("dialog", name="A link for zoe")
    expect(link).to_contain_text("/sign-in#")
    link.get_by_role("button", name="Done").click()
    row = page.get_by_role("row").filter(has_text="zoe")
    expect(row).to_contain_text("no password yet")
    row.get_by_role("button", name="Actions for zoe").click()
    page.get_by_role("menuitem", name="Disable").click()
    page.get_by_role("dialog").get_by_role("button", name="Disable").click()
    expect(row).to_contain_text("disabled")
    row.get_by_role("button", name="Actions for zoe").click()
    page.get_by_role("menuitem", name="Remove").click()
    remove = page.get_by_role("dialog").get_by_role("button", name="Remove")
    expect(remove).to_be_disabled()
    page.get_by_label("Type zoe to go on").fill("zoe")
    remove.click()
    expect(row).to_have_count(0)
    assert admin.ask("GET", "users/zoe").status == 404


def test_a_group_has_members(opens: Opens, admin: Client) -> None:
    page = opens(ADMIN).open("/admin?tab=groups")
    page.get_by_role("button", name="New group").click()
    page.get_by_label("Name", exact=True).fill("night")
    page.get_by_label("Members").fill(f"{ADMIN}\n{VIEWER}")
    page.get_by_role("button", name="Set 2 members").click()
    expect(page.get_by_role("row").filter(has_text="night")).to_contain_text(f"{ADMIN}, {VIEWER}")
    admin.do("DELETE", "groups/night")


def test_a_project_is_made_and_removed(opens: Opens) -> None:
    page = opens(ADMIN).open("/admin?tab=projects")
    page.get_by_role("button", name="New project").click()
    page.get_by_label("Name", exact=True).fill("spare")
    page.get_by_label("Description").fill("nothing yet")
    page.get_by_role("button", name="Make the project").click()
    row = page.get_by_role("row").filter(has_text="nothing yet")
    row.get_by_role("button", name="Remove the project spare").click()
    page.get_by_label("Type spare to go on").fill("spare")
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)


def test_the_audit_log_is_filtered_and_shown_in_full(opens: Opens, admin: Client) -> None:
    admin.do("PATCH", "projects/default", {"description": "as audited"}, {"If-Match": "*"})
    tab = opens(ADMIN)
    page = tab.open("/admin?tab=audit")
    expect(page.get_by_text("says on the server whether they are whole")).to_be_visible()
    box = page.get_by_role("searchbox", name="Filter the audit log")
    box.fill("action:project.change since:1h")
    box.press("Enter")
    rows = page.get_by_role("table", name="Audit log").get_by_role("row")
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="project.change").click()
    expect(page.get_by_role("dialog")).to_contain_text("default")
    assert tab.findings() == []
    page.keyboard.press("Escape")
    box.fill("since:soon")
    box.press("Enter")
    expect(page.get_by_text("is no time")).to_be_visible()


def test_the_audit_log_is_followed(opens: Opens, admin: Client) -> None:
    tab = opens(ADMIN)
    page = tab.open("/admin?tab=audit&filter=action:group.set")
    tab.wait_until_live()
    rows = page.get_by_role("table", name="Audit log").get_by_role("row").filter(has_text="followed")
    expect(page.get_by_text("says on the server whether they are whole")).to_be_visible()
    expect(rows).to_have_count(0)
    admin.do("PUT", "groups/followed", {"members": [VIEWER]}, {"If-Match": "*"})
    expect(rows).to_have_count(1)
    admin.do("DELETE", "groups/followed")


def test_the_audit_log_is_exported(opens: Opens) -> None:
    page = opens(ADMIN).open("/admin?tab=audit")
    with page.expect_download() as download:
        page.get_by_role("link", name="Export all").click()
    lines = download.value.path().read_text().splitlines()
    assert json.loads(lines[0])["number"] == 1


def test_ten_thousand_rows_of_audit_scroll(opens: Opens) -> None:
    row = {
        "time": "2026-11-27T21:00:00.000Z", "principal": "ben", "by": "token ci", "address": "127.0.0.1",
        "request": "r", "action": "plan.apply", "project": "shop", "ensemble": "prod", "object": "pl_1",
        "outcome": "done", "detail": "", "hash": "0" * 64,
    }  # fmt: skip
    tab = opens(ADMIN)
    tab.answers("/audit", {"items": [{**row, "number": n} for n in range(10_000)], "next": None})
    page = tab.open("/admin?tab=audit")
    expect(page.get_by_role("table", name="Audit log")).to_have_attribute("aria-rowcount", "10001")
    assert page.get_by_role("row").count() < 200
    tab.screenshot("admin-audit-huge")


def test_the_server_is_frozen_and_thawed(opens: Opens, admin: Client) -> None:
    page = opens(ADMIN).open("/admin?tab=server")
    expect(page.get_by_text("well: database and processes answer")).to_be_visible()
    expect(page.get_by_role("table", name="Parts")).to_contain_text("react")
    page.get_by_role("button", name="Freeze everything").click()
    page.get_by_label("Reason").fill("the network is mended")
    page.get_by_role("dialog").get_by_role("button", name="Freeze everything").click()
    expect(page.get_by_text("the whole server is frozen")).to_be_visible()
    assert admin.get("freeze")["items"][0]["reason"] == "the network is mended"
    page.get_by_role("button", name="Thaw").click()
    page.get_by_role("dialog").get_by_role("button", name="Thaw").click()
    expect(page.get_by_text("the whole server is frozen")).to_have_count(0)


def test_a_part_that_cannot_be_read_leaves_the_others(opens: Opens) -> None:
    tab = opens(ADMIN)
    tab.refuses("/about", 500, "internal", "something is wrong")
    page = tab.open("/admin?tab=server")
    expect(page.locator(".problem").first).to_contain_text("something is wrong")
    expect(page.get_by_text("Jobs at a time")).to_be_visible()
