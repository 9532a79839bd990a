"""A browser, and a server with a deployed ensemble that nobody changes, shared by the tests of the pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser

from tests.server.conftest import deployed
from tests.support.browsing import Tab, chromium, cookie_of, open_tab
from tests.support.serving import MANY_REQUESTS, Client, Served

ADMIN, VIEWER = "ann", "vera"

Opens = Callable[..., Tab]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser. Not for the whole session: while it runs, no other test of the process can have a loop of its own."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server of one ensemble, as ``default/shop``."""
    shop = deployed(tmp_path_factory.mktemp("browsed"))
    settings = f'{MANY_REQUESTS}reads: [ {shop.parent} ]\negress: [ "127.0.0.1:9" ]\n'
    with Served(tmp_path_factory.mktemp("home"), shop, settings=settings) as server:
        yield server


@pytest.fixture(scope="session")
def admin(served: Served) -> Client:
    """The first user of that server, who has made two others: ``ann``, an administrator, and ``vera``, who may read."""
    client = served.admin()
    client.do("POST", "users", {"name": ADMIN, "admin": True})
    client.do("POST", "users", {"name": VIEWER})
    client.do("PUT", "projects/default/bindings", BINDINGS, {"If-Match": bindings_tag(client)})
    return client


BINDINGS = {
    "bindings": [
        {"kind": "user", "who": ADMIN, "role": "owner"},
        {"kind": "user", "who": VIEWER, "role": "viewer"},
    ]
}


def bindings_tag(client: Client) -> str:
    """The version of the bindings of the project."""
    return str(client.ask("GET", "projects/default/bindings").headers.get("ETag", ""))


@pytest.fixture(scope="session")
def cookies(served: Served, admin: Client) -> dict[str, tuple[str, str]]:
    """The cookies of sessions, by user; "" for nobody."""
    return {user: cookie_of(served, admin, user) for user in (ADMIN, VIEWER)}


@pytest.fixture
def opens(browser: Browser, served: Served, cookies: dict[str, tuple[str, str]]) -> Iterator[Opens]:
    """Opens tabs: ``opens("ann", size=NARROW, scheme="dark", moves=False)``; ``opens("")`` is signed in as nobody."""
    tabs: list[Tab] = []

    def open_one(user: str = ADMIN, **options: object) -> Tab:
        tab = open_tab(browser, served.url, cookies.get(user), **options)  # type: ignore[arg-type]
        tabs.append(tab)
        return tab

    yield open_one
    for tab in tabs:
        tab.close()
