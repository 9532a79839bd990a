"""Page 8, the settings of an ensemble: what it is given, and who may do what with it."""

from __future__ import annotations

import contextlib
import re

import pytest
from playwright.sync_api import Error, Page, expect

from tests.browser.conftest import ADMIN, VIEWER, Opens
from tests.browser.team import make_team
from tests.support.browsing import NARROW, WIDE, ZOOMED
from tests.support.serving import Client

PROJECT = "setting"
ENSEMBLE = f"projects/{PROJECT}/ensembles/prod"
SETTINGS = f"/e/{PROJECT}/prod/settings"
TABS = ["spec", "inventory", "secrets", "rules", "schedules", "git", "webhooks", "members", "general"]


@pytest.fixture(scope="session", autouse=True)
def team(admin: Client) -> None:
    make_team(admin, PROJECT)
    admin.do("PUT", f"{ENSEMBLE}/secrets/db-password", {"value": "canary-9731"})
    schedule = {"name": "nightly", "cron": "30 3 * * *", "request": {"workflow": "check"}, "apply": "auto"}
    admin.do("POST", f"{ENSEMBLE}/schedules", schedule)


def opened(page: Page, tab: str) -> None:
    expect(page.get_by_role("tabpanel").locator(".table, .editor, .rows, .empty, .form").first).to_be_visible()
    expect(page.get_by_role("tab", selected=True)).to_have_attribute("aria-selected", "true")


@pytest.mark.parametrize("part", TABS)
def test_every_tab_shows(opens: Opens, part: str) -> None:
    tab = opens(ADMIN)
    page = tab.page
    for size, scheme in tab.looks(f"{SETTINGS}?tab={part}", [(WIDE, "light"), (NARROW, "dark")]):
        opened(page, part)
        tab.screenshot(f"settings-{part}-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0


def test_the_spec_reflows_at_400_percent(opens: Opens) -> None:
    tab = opens(ADMIN, size=ZOOMED)
    opened(tab.open(SETTINGS), "spec")
    assert tab.findings() == []
    assert tab.widest() <= 0


def spec_of(admin: Client) -> str:
    return str(admin.get(f"{ENSEMBLE}/spec")["text"])


def set_spec(admin: Client, text: str) -> None:
    tag = str(admin.ask("GET", f"{ENSEMBLE}/spec").headers["ETag"])
    admin.do("PUT", f"{ENSEMBLE}/spec", {"text": text}, {"If-Match": tag})


def test_the_spec_is_checked_as_one_types_and_saved(opens: Opens, admin: Client) -> None:
    before = spec_of(admin)
    tab = opens(ADMIN)
    tab.expected.append("error: Failed to load resource")
    page = tab.open(SETTINGS)
    text = page.get_by_role("textbox", name="Spec")
    save = page.get_by_role("button", name="Save")
    expect(save).to_have_attribute("aria-disabled", "true")
    text.fill(before + "\nspek: {}\n")
    expect(page.get_by_text("with errors: nothing would be saved")).to_be_visible()
    expect(page.locator(".editor-findings")).to_contain_text("spek")
    tab.screenshot("settings-spec-findings-1440-light")
    assert tab.findings() == []
    text.fill("# ours\n" + before)
    expect(page.get_by_text("valid", exact=True)).to_be_visible()
    save.click()
    expect(page.get_by_text("valid", exact=True)).to_have_count(0)
    expect(save).to_have_attribute("title", "nothing is changed")
    assert spec_of(admin) == "# ours\n" + before
    set_spec(admin, before)


@pytest.mark.parametrize("takes", ["mine", "theirs"])
def test_what_somebody_else_saved_is_shown_beside_ones_own(opens: Opens, admin: Client, takes: str) -> None:
    before = spec_of(admin)
    tab = opens(ADMIN)
    tab.expected.append("error: Failed to load resource")
    page = tab.open(SETTINGS)
    page.get_by_role("textbox", name="Spec").fill("# mine\n" + before)
    set_spec(admin, "# theirs\n" + before)
    with contextlib.suppress(Error):
        # The page may have heard of it by itself.
        page.get_by_role("button", name="Save", exact=True).click(timeout=3_000)
    expect(page.get_by_role("textbox", name="Spec, what is saved now")).to_have_value("# theirs\n" + before)
    expect(page.get_by_role("textbox", name="Spec, yours")).to_have_value("# mine\n" + before)
    tab.screenshot("settings-spec-conflict-1440-light")
    assert tab.findings() == []
    if takes == "mine":
        page.get_by_role("button", name="Save yours in its place").click()
    else:
        page.get_by_role("button", name="Take what is saved").click()
    expect(page.get_by_role("textbox", name="Spec", exact=True)).to_have_value(f"# {takes}\n{before}")
    assert spec_of(admin) == f"# {takes}\n{before}"
    set_spec(admin, before)


def test_an_inventory_without_plain_passwords_is_saved(opens: Opens, admin: Client) -> None:
    tab = opens(ADMIN)
    tab.expected.append("error: Failed to load resource")
    page = tab.open(f"{SETTINGS}?tab=inventory")
    text = page.get_by_role("textbox", name="Inventory")
    text.fill("hosts:\n  one: { address: 127.0.0.1, password: plain }\n")
    expect(page.locator(".editor-findings li").first).to_be_visible()
    page.get_by_role("button", name="Discard").click()
    expect(text).to_have_value(admin.get(f"{ENSEMBLE}/inventory")["text"])


def test_secrets_are_set_and_removed_and_never_shown(opens: Opens, admin: Client) -> None:
    tab = opens(ADMIN)
    page = tab.open(f"{SETTINGS}?tab=secrets")
    page.get_by_role("button", name="New secret").click()
    page.get_by_label("Name").fill("api-key")
    page.get_by_label("Value").fill("canary-5512")
    page.get_by_role("button", name="Set the secret").click()
    row = page.get_by_role("row").filter(has_text="api-key")
    expect(row).to_contain_text("never shown")
    assert "canary" not in page.content()
    row.get_by_role("button", name="Remove api-key").click()
    page.get_by_label("Type api-key to go on").fill("api-key")
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)
    assert admin.get(f"{ENSEMBLE}/secrets")["secrets"] == ["db-password"]


def test_what_is_set_elsewhere_shows(opens: Opens, admin: Client) -> None:
    tab = opens(ADMIN)
    page = tab.open(f"{SETTINGS}?tab=secrets")
    tab.wait_until_live()
    row = page.get_by_role("row").filter(has_text="from-elsewhere")
    expect(page.get_by_role("row").filter(has_text="db-password")).to_be_visible()
    expect(row).to_have_count(0)
    admin.do("PUT", f"{ENSEMBLE}/secrets/from-elsewhere", {"value": "canary-8812"})
    expect(row).to_contain_text(re.compile(r"by \w+, now"))
    admin.do("DELETE", f"{ENSEMBLE}/secrets/from-elsewhere")
    expect(row).to_have_count(0)


def test_a_rule_is_made_changed_and_removed(opens: Opens, admin: Client) -> None:
    tab = opens(ADMIN)
    page = tab.open(f"{SETTINGS}?tab=rules")
    page.get_by_role("button", name="New rule").click()
    page.get_by_role("checkbox", name="undeploy").check()
    page.get_by_role("checkbox", name="removes").check()
    page.get_by_role("spinbutton", name="Approvals").fill("2")
    assert tab.findings() == []
    tab.screenshot("settings-rule-1440-light")
    page.get_by_role("button", name="Set the rule").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("Plans for undeploy with the risk removes need 2 approvals.")).to_be_visible()
    rule = admin.get(f"{ENSEMBLE}/rules")["rules"][0]
    assert (rule["count"], rule["when"]["workflows"]) == (2, ["undeploy"])
    page.get_by_role("button", name="Remove rule 1").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="No plan needs an approval by a rule here")).to_be_visible()


def test_a_schedule_is_made_paused_and_removed(opens: Opens, admin: Client) -> None:
    tab = opens(ADMIN)
    page = tab.open(f"{SETTINGS}?tab=schedules")
    page.get_by_role("button", name="New schedule").click()
    page.get_by_label("Name").fill("hourly")
    page.get_by_label("When", exact=True).fill("0 * * * *")
    page.get_by_label("Time zone").fill("UTC")
    page.get_by_label("Workflow").select_option("heal")
    page.get_by_label("What else it is asked with").fill('{"names": []')
    expect(page.get_by_text("this is no JSON")).to_be_visible()
    page.get_by_label("What else it is asked with").fill('{"names": []}')
    assert tab.findings() == []
    page.get_by_role("button", name="Make the schedule").click()
    row = page.get_by_role("row").filter(has_text="hourly")
    expect(row).to_contain_text("heal, carried out")
    row.get_by_role("button", name="Actions for hourly").click()
    page.get_by_role("menuitem", name="Pause").click()
    expect(row).to_contain_text("paused")
    row.get_by_role("button", name="Actions for hourly").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)


def test_a_repository_that_may_not_be_reached_is_refused(opens: Opens) -> None:
    tab = opens(ADMIN)
    tab.expected.append("error: Failed to load resource")
    page = tab.open(f"{SETTINGS}?tab=git")
    page.get_by_role("button", name="Follow a repository").click()
    page.get_by_role("textbox", name="Repository").fill("https://git.example/shop.git")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("git.example")
    assert tab.findings() == []


def test_it_is_frozen_and_thawed_and_labelled(opens: Opens, admin: Client) -> None:
    page = opens(ADMIN).open(f"{SETTINGS}?tab=general")
    panel = page.get_by_role("tabpanel")
    panel.get_by_role("textbox", name="Labels").fill("team=web")
    panel.get_by_role("button", name="Save").click()
    expect(panel.get_by_role("button", name="Save")).to_have_attribute("aria-disabled", "true")
    assert admin.get(ENSEMBLE)["labels"] == {"team": "web"}
    panel.get_by_role("button", name="Freeze the ensemble").click()
    page.get_by_label("Reason").fill("until Monday")
    page.get_by_role("dialog").get_by_role("button", name="Freeze the ensemble").click()
    expect(panel.get_by_text(f"{PROJECT}/prod is frozen")).to_be_visible()
    panel.get_by_role("button", name="Thaw").click()
    page.get_by_role("dialog").get_by_role("button", name="Thaw").click()
    expect(panel.get_by_text("is frozen")).to_have_count(0)


def test_an_ensemble_of_which_nothing_exists_is_removed(opens: Opens, admin: Client) -> None:
    admin.do("POST", f"projects/{PROJECT}/ensembles", {"name": "gone", "package": "shop:1.0"})
    page = opens(ADMIN).open(f"/e/{PROJECT}/gone/settings?tab=general")
    page.get_by_role("button", name="Remove the ensemble").click()
    expect(page.get_by_role("dialog").get_by_text("Nothing else goes with it")).to_be_visible()
    page.get_by_label("Type gone to go on").fill("gone")
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    page.wait_for_url(re.compile(r"/$"))
    assert admin.ask("GET", f"projects/{PROJECT}/ensembles/gone").status == 404


def test_who_may_only_read_sees_and_changes_nothing(opens: Opens) -> None:
    tab = opens(VIEWER)
    page = tab.open(SETTINGS)
    expect(page.get_by_role("textbox", name="Spec")).not_to_be_editable()
    save = page.get_by_role("button", name="Save")
    expect(save).to_have_attribute("title", re.compile('needs the permission "configure"'))
    page.get_by_role("tab", name="Secrets").click()
    expect(page.get_by_role("button", name="New secret")).to_have_attribute("aria-disabled", "true")
    expect(page.get_by_role("row").filter(has_text="db-password")).to_be_visible()
    assert tab.findings() == []


def test_the_tabs_are_reached_with_the_keyboard(opens: Opens) -> None:
    page = opens(ADMIN).open(SETTINGS)
    page.get_by_role("tab", name="Spec").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Inventory")).to_be_focused()
    expect(page).to_have_url(re.compile("tab=inventory"))
