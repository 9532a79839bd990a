"""A browser, and a server with a deployed ensemble that nobody changes, shared by the tests of the pages."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.server.conftest import deployed
from tests.support.browsing import OPEN, Tab, chromium, cookie_of, open_tab
from tests.support.serving import MANY_REQUESTS, Client, Served
from tests.support.workshop import Workshop, workshop

ADMIN, VIEWER = "ann", "vera"

Opens = Callable[..., Tab]


LONGEST = 300
"""Seconds that a test may take: some show a page in six ways, on a machine that does much else."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests of pages their time."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.timeout(LONGEST))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that fails says what its tabs show."""
    report = yield
    if report.failed and call.when == "call":
        report.sections += [("a tab", tab.tells()) for tab in OPEN]
    return report


def command(ensemble: Path, *words: str) -> list[str]:
    """The command that does something to an ensemble."""
    return [sys.executable, "-m", "ordito", "-e", str(ensemble), "-q", *words, "--yes"]


def ordito(ensemble: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Do something to an ensemble, in a process of its own: while there is a browser, this one cannot have a loop."""
    return subprocess.run(command(ensemble, *words), check=False, capture_output=True)


def deployed_apart(place: Path, name: str, service: str) -> Path:
    """An ensemble in which a service was deployed whose operations run ``say.sh``, which fails while there is a file
    ``failing`` beside it."""
    (place / "service.yaml").write_text(service)
    (place / "say.sh").write_text(f'echo "$ORDITO_STEP says hello"; [ ! -e {place}/failing ]\n')
    done = ordito(place / name, "deploy", str(place / "service.yaml"))
    assert done.returncode == 0, done.stderr.decode()
    return place / name


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


@pytest.fixture(scope="session")
def workshop_of_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """A server on which tests make ensembles of their own."""
    with workshop(tmp_path_factory.mktemp("workshop")) as served:
        yield Workshop(served)


@pytest.fixture
def shop(workshop_of_all: Workshop, browser: Browser) -> Iterator[tuple[Workshop, Opens]]:
    """That server, and what opens tabs of it."""
    tabs: list[Tab] = []

    def open_one(user: str = ADMIN, **options: object) -> Tab:
        tab = workshop_of_all.tab(browser, user, **options)
        tabs.append(tab)
        return tab

    yield workshop_of_all, open_one
    for tab in tabs:
        tab.close()
