"""Pages whose server is away, starts anew or forgets: each says so, refuses what would change something, comes back."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Error, Locator, Page, expect

from tests.browser.team import make_team
from tests.support.browsing import Tab, cookie_of, open_tab
from tests.support.serving import MANY_REQUESTS, Served
from tests.support.workshop import SessionClient

PROJECT, OWNER = "away", "olga"
ENSEMBLE = f"/e/{PROJECT}/prod"
SETTINGS, OF_PROJECT = f"{ENSEMBLE}/settings?tab=", f"/p/{PROJECT}/settings?tab="

ACTIONS = {
    f"{SETTINGS}spec": "Scale",
    f"{SETTINGS}inventory": "Check the hosts",
    f"{SETTINGS}secrets": "New secret",
    f"{SETTINGS}rules": "New rule",
    f"{SETTINGS}schedules": "New schedule",
    f"{SETTINGS}git": "Follow a repository",
    f"{SETTINGS}webhooks": "New webhook",
    f"{SETTINGS}members": "Give a role",
    f"{SETTINGS}general": "Freeze the ensemble",
    f"{OF_PROJECT}members": "Give a role",
    f"{OF_PROJECT}accounts": "New account",
    f"{OF_PROJECT}webhooks": "New webhook",
    f"{OF_PROJECT}rules": "New rule",
    f"{OF_PROJECT}general": "Freeze the project",
    f"{ENSEMBLE}/source": "Scale",
    f"{ENSEMBLE}/revisions": "Go back to 1…",
    f"{ENSEMBLE}/plans": "Scale",
    f"{ENSEMBLE}/jobs": "Scale",
    f"/p/{PROJECT}/packages": "choose one",
    "": "Remove",
}
"""Pages, and a button of each that would change something; "" is the page of a package."""

OF_SERVER = {
    "/admin?tab=users": "New user",
    "/admin?tab=groups": "New group",
    "/admin?tab=projects": "New project",
    "/admin?tab=server": "Freeze everything",
    "/me": "New token",
}
"""Those of administrators, and of everybody."""

KINDS = (
    f"{SETTINGS}spec",
    f"{OF_PROJECT}members",
    f"{ENSEMBLE}/source",
    f"{ENSEMBLE}/revisions",
    f"/p/{PROJECT}/packages",
    "",
)
"""One page of each kind."""

AWAY = "the server cannot be reached now"


MUTED = "rgb(90, 96, 104)"
"""The colour of what may be old, in light."""


class Away:
    """A server with a team, which can be stopped and started again."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.served = Served(home, settings=MANY_REQUESTS)
        self.url = self.served.url
        self.admin = self.served.admin()
        for name in ("ann", "vera", OWNER):
            self.admin.do("POST", "users", {"name": name, "admin": name == "ann"})
        make_team(self.admin, PROJECT, deploys=True)
        [package, *_] = self.admin.get(f"projects/{PROJECT}/packages")["items"]
        self.package = f"/p/{PROJECT}/packages/{package['digest']}"

    def let(self, role: str, *, is_admin: bool = False) -> None:
        """Let the owner have another role, "" for none."""
        path = f"projects/{PROJECT}/bindings"
        bindings = [{"kind": "user", "who": "ann", "role": "owner"}]
        bindings += [{"kind": "user", "who": OWNER, "role": role}] if role else []
        tag = str(self.admin.ask("GET", path).headers["ETag"])
        self.admin.do("PUT", path, {"bindings": bindings}, {"If-Match": tag})
        tag = str(self.admin.ask("GET", f"users/{OWNER}").headers["ETag"])
        self.admin.do("PATCH", f"users/{OWNER}", {"admin": is_admin}, {"If-Match": tag})

    def cookie(self, user: str) -> tuple[str, str]:
        """That of a new session."""
        return cookie_of(self.served, self.admin, user)

    def end(self, cookie: tuple[str, str]) -> None:
        """End a session."""
        SessionClient(self.url, "=".join(cookie)).do("DELETE", "sessions/current")

    def stop(self) -> None:
        with self.served:
            self.served.stop()

    def start(self) -> None:
        """Start it again, at the same place."""
        self.served = Served(self.home, settings="", listen=self.url.removeprefix("http://"))


@pytest.fixture(scope="module")
def away(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Away]:
    made = Away(tmp_path_factory.mktemp("away") / "home")
    yield made
    made.stop()


Opened = Callable[..., Tab]


@pytest.fixture
def tabs(browser: Browser, away: Away) -> Iterator[Opened]:
    """Opens tabs of that server."""
    found: list[Tab] = []

    def open_one(cookie: tuple[str, str]) -> Tab:
        tab = open_tab(browser, away.url, cookie)
        tab.expected.append("error: Failed to load resource")
        found.append(tab)
        return tab

    yield open_one
    for tab in found:
        tab.close()


def _button(page: Page, action: str) -> Locator:
    main = page.locator("main")
    return main.get_by_role("button", name=action).or_(main.get_by_role("link", name=action)).first


def _opened(tab: Tab, away: Away, address: str) -> Page:
    """A page that cannot follow what happens, since the stream is refused."""
    tab.refuses("/events", 503, "draining", "the server is about to stop")
    page = tab.open(address or away.package)
    page.locator('.live[data-state="offline"]').wait_for()
    expect(page.locator(".loading")).to_have_count(0)
    page.wait_for_load_state("networkidle")
    return page


def _try(page: Page) -> None:
    """Let it follow, and try at once."""
    page.unroute_all()
    with contextlib.suppress(Error):
        # It may have come back by itself.
        page.get_by_role("button", name=re.compile("^offline")).click(timeout=3_000)


def _is_dimmed(page: Page) -> None:
    expect(page.locator("html")).to_have_attribute("data-live", "offline")
    for one in page.locator('main :is(.status, .figure, [role="cell"])').all():
        expect(one).to_have_css("color", MUTED)


@pytest.mark.parametrize("address", [*ACTIONS, *OF_SERVER])
def test_a_page_that_is_not_live_says_so_and_changes_nothing(away: Away, tabs: Opened, address: str) -> None:
    action = {**ACTIONS, **OF_SERVER}[address]
    tab = tabs(away.cookie("ann"))
    page = _opened(tab, away, address)
    button = _button(page, action)
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(button).to_have_accessible_description(AWAY)
    _is_dimmed(page)
    if address in (f"{SETTINGS}secrets", "/admin?tab=users", f"/p/{PROJECT}/packages"):
        tab.screenshot(f"away{address.replace('/', '-').replace('?', '-')}")
    assert tab.findings() == []
    _try(page)
    tab.wait_until_live()
    expect(button).not_to_have_attribute("aria-disabled", "true")


@pytest.mark.parametrize("address", KINDS)
def test_who_may_no_longer_change_anything_is_told_so(away: Away, tabs: Opened, address: str) -> None:
    away.let("owner")
    tab = tabs(away.cookie(OWNER))
    page = _opened(tab, away, address)
    away.let("viewer")
    _try(page)
    tab.wait_until_live()
    button = _button(page, ACTIONS[address])
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(button).to_have_accessible_description(re.compile(r"needs the permission"))


@pytest.mark.parametrize("address", [*KINDS, "/admin?tab=users"])
def test_who_may_no_longer_look_is_told_so(away: Away, tabs: Opened, address: str) -> None:
    away.let("owner", is_admin=address.startswith("/admin"))
    tab = tabs(away.cookie(OWNER))
    page = _opened(tab, away, address)
    away.let("")
    _try(page)
    told = re.compile("or you may not see it|This is for administrators")
    expect(page.locator("main").get_by_text(told).first).to_be_visible()
    assert tab.findings() == []


@pytest.mark.parametrize("address", [*KINDS, "/admin?tab=users"])
def test_whose_session_is_over_signs_in_and_comes_back(away: Away, tabs: Opened, address: str) -> None:
    cookie = away.cookie("ann")
    tab = tabs(cookie)
    page = _opened(tab, away, address)
    away.end(cookie)
    _try(page)
    page.wait_for_url(re.compile("/sign-in"))
    where = urlsplit(tab.address())
    assert parse_qs(where.query)["return"] == [address or away.package]


READ_AGAIN = {
    f"{SETTINGS}spec": "/spec",
    f"{SETTINGS}inventory": "/inventory",
    f"{ENSEMBLE}/source": "/service",
    f"{ENSEMBLE}/revisions": "/revisions",
    f"{ENSEMBLE}/plans": "/plans",
}


@pytest.mark.parametrize("address", list(READ_AGAIN))
def test_what_a_stream_has_left_out_is_read_again(away: Away, tabs: Opened, address: str) -> None:
    tab = tabs(away.cookie("ann"))
    live = 'event: stream.live\ndata: {"type": "stream.live"}\n\n'
    told = iter([live, 'event: stream.gap\ndata: {"type": "stream.gap"}\n\n' + live])
    tab.page.route(
        re.compile(r"/api/v1/events"),
        lambda route: route.fulfill(body=next(told, live), content_type="text/event-stream"),
    )
    part = re.compile(rf"/ensembles/prod{READ_AGAIN[address]}(\?|$)")
    with tab.page.expect_response(part):
        page = tab.open(address)
    with page.expect_response(part):
        # The stream ends, and comes back with a gap.
        page.locator('.live[data-state="offline"]').wait_for()
    expect(page.locator("main")).not_to_be_empty()


@pytest.mark.parametrize(
    "chosen",
    [
        (f"{SETTINGS}secrets", f"{OF_PROJECT}accounts", "", "/admin?tab=users"),
        (f"/p/{PROJECT}/packages", f"{ENSEMBLE}/source", f"{ENSEMBLE}/revisions"),
    ],
    ids=["settings", "services"],
)
def test_pages_live_through_another_start_of_their_server(away: Away, tabs: Opened, chosen: tuple[str, ...]) -> None:
    cookie = away.cookie("ann")
    opened = [(address, tabs(cookie)) for address in chosen]
    for address, tab in opened:
        tab.open(address or away.package)
        tab.wait_until_live()
    away.stop()
    for address, tab in opened:
        tab.page.locator('.live[data-state="offline"]').wait_for()
        action = _button(tab.page, {**ACTIONS, **OF_SERVER}[address])
        expect(action).to_have_accessible_description(AWAY)
        _is_dimmed(tab.page)
        # It does not come back before something has changed.
        tab.page.route(re.compile("/api/v1/events"), lambda route: route.abort())
    away.start()
    away.admin.do("PUT", f"projects/{PROJECT}/ensembles/prod/secrets/late", {"value": "said-late"})
    if f"{OF_PROJECT}accounts" in chosen:
        away.admin.do("POST", f"projects/{PROJECT}/accounts", {"name": "late"})
    for address, tab in opened:
        _try(tab.page)
        tab.wait_until_live()
        action = _button(tab.page, {**ACTIONS, **OF_SERVER}[address])
        expect(action).not_to_have_attribute("aria-disabled", "true")
    for address, tab in opened:
        if address in (f"{SETTINGS}secrets", f"{OF_PROJECT}accounts"):
            expect(tab.page.locator("main").get_by_text("late", exact=True)).to_be_visible()
