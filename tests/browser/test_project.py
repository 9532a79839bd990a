"""The settings of a project: members, accounts, webhooks, rules, and the freeze."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ADMIN, VIEWER, Opens
from tests.browser.team import make_team
from tests.support.browsing import NARROW, WIDE
from tests.support.serving import Client, Served

PROJECT = "project"
SETTINGS = f"/p/{PROJECT}/settings"
TABS = ["members", "accounts", "webhooks", "rules", "general"]


@pytest.fixture(scope="session", autouse=True)
def team(admin: Client) -> None:
    make_team(admin, PROJECT)
    admin.do("POST", f"projects/{PROJECT}/accounts", {"name": "pipeline"})


@pytest.mark.parametrize("part", TABS)
def test_every_tab_shows(opens: Opens, part: str) -> None:
    tab = opens(ADMIN)
    page = tab.page
    for size, scheme in tab.looks(f"{SETTINGS}?tab={part}", [(WIDE, "light"), (NARROW, "dark")]):
        expect(page.get_by_role("tabpanel").get_by_role("heading").first).to_be_visible()
        expect(page.get_by_role("tabpanel").locator(".table, .rows, .empty, .form, .section h3").first).to_be_visible()
        tab.screenshot(f"project-{part}-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0


def test_a_role_is_given_changed_and_taken(opens: Opens, admin: Client) -> None:
    admin.do("POST", "users", {"name": "otto"})
    tab = opens(ADMIN)
    page = tab.open(SETTINGS)
    page.get_by_role("button", name="Give a role").click()
    page.get_by_label("Name").fill("otto")
    page.get_by_label("Role", exact=True).select_option("operator")
    assert tab.findings() == []
    page.get_by_role("button", name="Give it").click()
    row = page.get_by_role("row").filter(has_text="otto")
    expect(row.get_by_role("combobox")).to_have_value("operator")
    row.get_by_role("combobox").select_option("deployer")
    expect(row.get_by_role("combobox")).to_have_value("deployer")
    row.get_by_role("button", name="Remove otto").click()
    page.get_by_role("button", name="Take it").click()
    expect(row).to_have_count(0)
    names = [one["who"] for one in admin.get(f"projects/{PROJECT}/bindings")["bindings"]]
    assert names == [ADMIN, VIEWER]


def test_what_somebody_else_has_changed_is_not_overwritten(opens: Opens, admin: Client) -> None:
    tab = opens(ADMIN)
    tab.expected.append("error: Failed to load resource")
    page = tab.open(SETTINGS)
    expect(page.get_by_role("row").filter(has_text=VIEWER)).to_be_visible()
    where = f"projects/{PROJECT}/bindings"
    before = admin.ask("GET", where)
    changed = [*before.data["bindings"], {"kind": "account", "who": "pipeline", "role": "deployer"}]
    admin.do("PUT", where, {"bindings": changed}, {"If-Match": str(before.headers["ETag"])})
    page.get_by_label(f"Role of {VIEWER}").select_option("planner")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="pipeline")).to_be_visible()
    tag = str(admin.ask("GET", where).headers["ETag"])
    admin.do("PUT", where, {"bindings": before.data["bindings"]}, {"If-Match": tag})


def test_a_token_of_an_account_is_shown_once(opens: Opens, served: Served) -> None:
    tab = opens(ADMIN)
    page = tab.open(f"{SETTINGS}?tab=accounts")
    page.get_by_role("button", name="New token for pipeline").click()
    page.get_by_label("Name").fill("nightly")
    page.get_by_role("button", name="Make the token").click()
    dialog = page.get_by_role("dialog", name="The token nightly")
    token = dialog.get_by_role("button", name="copy the token").locator(".mono").inner_text()
    assert Client(served.url).with_token(token).get("me")["name"] == "pipeline"
    dialog.get_by_role("button", name="Done").click()
    table = page.get_by_role("table", name="Tokens of pipeline")
    expect(table).to_contain_text("nightly")
    table.get_by_role("button", name="Remove the token nightly").click()
    page.get_by_role("button", name="Remove it").click()
    expect(page.get_by_text("It has no tokens yet.")).to_be_visible()


def test_an_account_is_made_and_removed(opens: Opens) -> None:
    page = opens(ADMIN).open(f"{SETTINGS}?tab=accounts")
    page.get_by_role("button", name="New account").click()
    page.get_by_label("Name").fill("robot")
    page.get_by_role("button", name="Make the account").click()
    page.get_by_role("button", name="Remove robot").click()
    page.get_by_label("Type robot to go on").fill("robot")
    page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_role("heading", name="robot")).to_have_count(0)


def test_a_webhook_is_made_tested_paused_and_removed(opens: Opens) -> None:
    tab = opens(ADMIN)
    page = tab.open(f"{SETTINGS}?tab=webhooks")
    page.get_by_role("button", name="New webhook").click()
    page.get_by_label("Address").fill("http://127.0.0.1:9/told")
    page.get_by_role("checkbox", name="job.ended").check()
    assert tab.findings() == []
    page.get_by_role("button", name="Make the webhook").click()
    secret = page.get_by_role("dialog", name="The secret of the webhook")
    expect(secret.get_by_role("button", name="copy the secret")).to_be_visible()
    secret.get_by_role("button", name="Done").click()
    row = page.get_by_role("row").filter(has_text="/told")
    expect(row).to_contain_text("job.ended")
    row.get_by_role("button", name="Actions for").click()
    page.get_by_role("menuitem", name="Test").click()
    deliveries = page.get_by_role("dialog", name="Deliveries")
    expect(deliveries.get_by_role("row").filter(has_text="webhook.test")).to_contain_text("waits")
    tab.screenshot("project-deliveries-1440-light")
    assert tab.findings() == []
    page.keyboard.press("Escape")
    row.get_by_role("button", name="Actions for").click()
    page.get_by_role("menuitem", name="Pause").click()
    expect(row).to_contain_text("paused")
    row.get_by_role("button", name="Actions for").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="Nobody is told of events")).to_be_visible()


def test_the_project_is_described(opens: Opens, admin: Client) -> None:
    page = opens(ADMIN).open(f"{SETTINGS}?tab=general")
    page.get_by_label("What it is for").fill("The shop")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".page-head")).to_contain_text("The shop")
    assert admin.get(f"projects/{PROJECT}")["description"] == "The shop"


def test_who_may_only_read_is_told_why_not(opens: Opens) -> None:
    tab = opens(VIEWER)
    page = tab.open(f"{SETTINGS}?tab=accounts")
    expect(page.get_by_text('Seeing accounts needs the permission "members"')).to_be_visible()
    expect(page.get_by_role("button", name="New account")).to_have_attribute("aria-disabled", "true")
    page.get_by_role("tab", name="Members").click()
    expect(page.get_by_role("row").filter(has_text=ADMIN)).to_contain_text("owner")
    assert tab.findings() == []
