"""Signing in: with a password, with a one-time link; and the page that confirms the code of a command."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ADMIN, Opens
from tests.support.browsing import NARROW, WIDE, Tab, one_time_link
from tests.support.serving import Client, Served

PASSWORD = "four quiet rivers meet"
SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])


@pytest.fixture(scope="module")
def pat(served: Served, admin: Client) -> str:
    """A user with a password."""
    admin.do("POST", "users", {"name": "pat"})
    client, own = Client(served.url), {"Origin": served.url}
    secret = one_time_link(admin, "pat").rpartition("#")[2]
    answer = client.ask("POST", "sessions", {"link": secret}, own)
    own["Cookie"] = answer.headers["Set-Cookie"].partition(";")[0]
    client.do("PUT", "me/password", {"new": PASSWORD}, own)
    return "pat"


def sign_in(tab: Tab, user: str, password: str) -> None:
    tab.page.get_by_label("Name").fill(user)
    tab.page.get_by_label("Password").fill(password)
    tab.page.get_by_role("button", name="Sign in").click()


def test_the_page_itself(opens: Opens) -> None:
    tab = opens("")
    page = tab.page
    for size, scheme in tab.looks("/sign-in"):
        expect(page.get_by_label("Name")).to_be_focused()
        tab.screenshot(f"sign-in-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0


def test_whoever_is_not_signed_in_comes_back_to_where_they_were(opens: Opens, pat: str) -> None:
    tab = opens("")
    tab.expected.append("error: Failed to load resource: the server responded with a status of 401")
    page = tab.open("/device")
    expect(page).to_have_url(tab.url + "/sign-in?return=%2Fdevice")
    sign_in(tab, pat, PASSWORD)
    expect(page.get_by_role("heading", name="Confirm a code")).to_be_visible()
    expect(page).to_have_url(tab.url + "/device")


def test_a_wrong_password_is_said_in_its_place(opens: Opens, pat: str) -> None:
    tab = opens("")
    tab.expected.append("error: Failed to load resource: the server responded with a status of 401")
    page = tab.open("/sign-in")
    sign_in(tab, pat, "wrong")
    expect(page.get_by_role("alert")).to_contain_text("user and password do not belong together")
    tab.screenshot("sign-in-wrong")
    assert tab.findings() == []
    sign_in(tab, pat, PASSWORD)
    expect(page.get_by_role("heading", name="Ensembles")).to_be_visible()


def test_a_link_signs_in_once_and_leaves_no_trace(opens: Opens, admin: Client) -> None:
    admin.do("POST", "users", {"name": "lin"})
    link = one_time_link(admin, "lin")
    tab = opens("")
    tab.page.goto(link)
    expect(tab.page.get_by_role("button", name="lin, menu")).to_be_visible()
    expect(tab.page).to_have_url(tab.url + "/")
    tab.page.go_back()
    assert "#" not in tab.page.url
    other = opens("")
    other.expected.append("error: Failed to load resource: the server responded with a status of 401")
    other.page.goto(link)
    expect(other.page.get_by_role("alert")).to_contain_text("links work once, for five minutes")
    expect(other.page).to_have_url(tab.url + "/sign-in")


def test_signing_out_ends_the_session(opens: Opens, pat: str) -> None:
    tab = opens("")
    tab.expected.append("error: Failed to load resource: the server responded with a status of 401")
    page = tab.open("/sign-in")
    sign_in(tab, pat, PASSWORD)
    page.get_by_role("button", name="pat, menu").press("Enter")
    menu = page.get_by_role("menu")
    expect(menu).to_be_visible()
    tab.screenshot("menu")
    assert tab.findings() == []
    page.keyboard.press("End")
    expect(menu.get_by_role("menuitem", name="Sign out")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto(tab.url + "/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_password_is_set_by_who_came_with_a_link(opens: Opens, admin: Client) -> None:
    admin.do("POST", "users", {"name": "sue"})
    tab = opens("")
    page = tab.page
    page.goto(one_time_link(admin, "sue"))
    page.get_by_role("button", name="sue, menu").click()
    page.get_by_role("menuitem", name="Password").click()
    dialog = page.get_by_role("dialog", name="Password")
    dialog.get_by_label("New password").fill("sue sue sue sue")
    tab.expected.append("error: Failed to load resource: the server responded with a status of 422")
    dialog.get_by_role("button", name="Set it").click()
    expect(dialog.get_by_role("alert")).to_contain_text("the new password is too weak")
    tab.screenshot("password")
    assert tab.findings() == []
    dialog.get_by_label("New password").fill(PASSWORD)
    dialog.get_by_role("button", name="Set it").click()
    expect(dialog.get_by_role("status")).to_contain_text("The password is set")
    other = opens("")
    other.open("/sign-in")
    sign_in(other, "sue", PASSWORD)
    expect(other.page.get_by_role("button", name="sue, menu")).to_be_visible()


@SCHEMES
def test_a_command_is_signed_in_by_its_code(opens: Opens, served: Served, scheme: str) -> None:
    command = Client(served.url)
    login = command.do("POST", "logins", {"name": "ordito on laptop"})
    tab = opens(ADMIN, scheme=scheme)
    page = tab.open("/device")
    tab.screenshot(f"device-{scheme}")
    assert tab.findings() == []
    # By keys alone: the field has the focus, and Enter goes on.
    page.keyboard.type(f"{login['code'][:4]}-{login['code'][4:]}".lower())
    page.keyboard.press("Enter")
    expect(page.get_by_text("ordito on laptop")).to_be_visible()
    tab.screenshot(f"device-asks-{scheme}")
    assert tab.findings() == []
    page.get_by_role("button", name="Yes, sign it in").press("Enter")
    expect(page.get_by_role("heading", name="Confirmed")).to_be_visible()
    assert tab.findings() == []
    state = command.ask("GET", f"logins/{login['id']}", headers={"Ordito-Login": login["secret"]}).data
    assert (state["user"], command.with_token(state["token"]).get("me")["name"]) == (ADMIN, ADMIN)


def test_an_unknown_code_is_said_in_its_place(opens: Opens) -> None:
    tab = opens(ADMIN)
    tab.expected.append("error: Failed to load resource: the server responded with a status of 404")
    page = tab.open("/device")
    page.get_by_label("Code").fill("BBBB-BBBB")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("alert")).to_contain_text("no sign-in with this code waits")
    tab.screenshot("device-unknown")
    assert tab.findings() == []


def test_an_address_without_a_page_says_so(opens: Opens) -> None:
    tab = opens(ADMIN)
    page = tab.open("/e/none/of/these")
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    assert tab.findings() == []


def test_an_address_of_nothing_is_a_page_that_says_so(opens: Opens) -> None:
    tab = opens(ADMIN)
    tab.expected.append("error: Failed to load resource: the server responded with a status of 404")
    page = tab.open("/nothing-of-the-kind")
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    tab.screenshot("missing")
    assert tab.findings() == []
    page.get_by_role("main").get_by_role("link", name="Ensembles").click()
    expect(page.get_by_role("table", name="Ensembles")).to_be_visible()


def test_a_code_has_a_page_of_its_own(opens: Opens) -> None:
    tab = opens("")
    for size, scheme in tab.looks("/problems/constraint", [(WIDE, "light"), (NARROW, "dark")]):
        expect(tab.page.get_by_role("heading", name="What to do")).to_be_visible()
        tab.screenshot(f"problem-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0
