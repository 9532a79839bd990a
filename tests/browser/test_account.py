"""The page of one's own account: tokens, sessions, password and theme."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.browser.conftest import ADMIN, VIEWER, Opens
from tests.support.browsing import cookie_of, open_tab
from tests.support.serving import Client, Served

PASSWORD = "seven quiet foxes walk home"


def test_it_shows_who_i_am(opens: Opens) -> None:
    tab = opens(ADMIN)
    page = tab.page
    for size, scheme in tab.looks("/me"):
        expect(page.get_by_role("heading", level=1)).to_have_text(ADMIN)
        expect(page.get_by_role("table", name="Sessions")).to_contain_text("this one")
        tab.screenshot(f"account-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0


def test_a_token_is_shown_once_and_works_until_it_is_removed(opens: Opens, served: Served) -> None:
    tab = opens(VIEWER)
    page = tab.open("/me")
    page.get_by_role("button", name="New token").click()
    page.get_by_label("Name").fill("ci")
    page.get_by_label("Role").select_option("viewer")
    page.get_by_label("Projects").fill("default")
    page.get_by_role("button", name="Make the token").click()
    dialog = page.get_by_role("dialog", name="The token ci")
    token = dialog.get_by_role("button", name="copy the token").locator(".mono").inner_text()
    assert tab.findings() == []
    assert Client(served.url).with_token(token).get("me")["name"] == VIEWER
    dialog.get_by_role("button", name="Done").click()
    row = page.get_by_role("row").filter(has_text="viewer in default")
    expect(row).to_contain_text("ci")
    row.get_by_role("button", name="Remove the token ci").click()
    page.get_by_role("button", name="Remove it").click()
    expect(page.get_by_text("You have no tokens")).to_be_visible()
    assert Client(served.url).with_token(token).ask("GET", "me").status == 401


def test_a_weak_password_is_refused_and_said(opens: Opens) -> None:
    tab = opens(VIEWER)
    tab.expected.append("error: Failed to load resource")
    page = tab.open("/me")
    page.get_by_role("button", name="Set a password").click()
    page.get_by_label("New password").fill("aaaaaaaaaaaaa")
    page.get_by_role("button", name="Set it").click()
    expect(page.get_by_role("alert")).to_contain_text("too weak")


def test_a_password_is_set_and_another_session_ended(browser: Browser, served: Served, admin: Client) -> None:
    admin.do("POST", "users", {"name": "sid"})
    tab = open_tab(browser, served.url, cookie_of(served, admin, "sid"))
    page = tab.open("/me")
    page.get_by_role("button", name="Set a password").click()
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Set it").click()
    expect(page.get_by_text("The password is set")).to_be_visible()
    origin = {"Origin": served.url}
    assert Client(served.url).ask("POST", "sessions", {"user": "sid", "password": PASSWORD}, origin).status == 201
    page.reload()
    sessions = page.get_by_role("table", name="Sessions")
    expect(sessions.get_by_role("row")).to_have_count(3)
    sessions.get_by_role("button", name="End the session").click()
    expect(sessions.get_by_role("row")).to_have_count(2)
    tab.close()


def test_the_theme_is_chosen(opens: Opens) -> None:
    page = opens(VIEWER).open("/me")
    page.get_by_role("radio", name="Dark").check()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("radio", name="As the system").check()
    expect(page.locator("html[data-theme]")).to_have_count(0)
