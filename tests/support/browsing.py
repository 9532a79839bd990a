"""A browser for tests of the web UI: whatever it complains about fails the test.

Pages are looked at with a real server behind them. What a server would need hours for, as five hundred ensembles, is
answered in its place, with the structs that the server itself would send.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from tests.support.real.needs import lacking, program
from tests.support.serving import API, Client, Served

ROOT = Path(__file__).parent.parent.parent
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
BUILT = ROOT / "src" / "ordito" / "server" / "web" / "index.html"
SCREENSHOTS = ROOT / ".cache" / "screenshots"

PICTURES = ROOT / "docs" / "ui" / "pictures"
PICTURED = {
    "shop": "shop", "ensembles-1440-light": "ensembles", "topology-1440-light": "ensemble", "plan-1440-light": "plan",
    "job-failed-1440-light": "job", "log-1440-light": "log", "inbox-1440-light": "inbox",
    "revisions-1440-light": "revisions", "deploy-1440-light": "forms", "source-1440-light": "source",
    "packages-1440-light": "packages", "settings-spec-1440-light": "settings", "admin-audit-1440-light": "admin",
    "account-1440-light": "account",
}  # fmt: skip
"""The screenshots that are pictures of the documentation, and their names there. With ``ORDITO_PICTURES`` in the
environment the tests make them anew."""

WIDE = (1440, 900)
NARROW = (390, 844)
ZOOMED = (320, 256)
"""What a window of 1280x1024 has at 400 %."""

LOOKS = [(size, scheme) for size in (WIDE, NARROW, ZOOMED) for scheme in ("light", "dark")]

PATIENCE = 45_000
"""How long a test waits for what a page is to show, in milliseconds."""

LATEST = 30
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser of this machine. Skips the test where there is none, or no web UI."""
    found = program("chromium")
    if found is None:
        lacking("chromium", "there is no chromium")
    if not BUILT.exists() or not AXE.exists():
        lacking("chromium", "the web UI is not built; ./run web builds it")
    with sync_playwright() as playwright:
        # Within containers it cannot make a sandbox of its own, and it sees nothing but what tests show it.
        # Plans are made, and jobs run, while a page is looked at.
        expect.set_options(timeout=PATIENCE)
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        _FREE.pop(browser, None)
        browser.close()


class Room:
    """A context of a browser for one tab at a time. It keeps a page that shows nothing: with one there, the next tab
    costs half as much."""

    def __init__(self, browser: Browser, free: list[Room]) -> None:
        self.free = free
        self.context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
        self.blank = self.context.new_page()
        self.debugger = self.context.new_cdp_session(self.blank)

    def enter(self, url: str) -> None:
        """Begin with nothing of the tab before."""
        self.context.clear_cookies()
        self.debugger.send("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "all"})

    def leave(self) -> None:
        """Close what shows."""
        for page in self.context.pages:
            if page is not self.blank:
                page.close()
        self.free.append(self)


_FREE: dict[Browser, list[Room]] = {}
"""The rooms in which no tab shows now, by the browser that runs."""

OPEN: list[Tab] = []
"""The tabs that show."""


class Tab:
    """A tab of somebody, which keeps what the browser complains about."""

    def __init__(self, room: Room, url: str) -> None:
        self.room = room
        self.context = room.context
        self.url = url
        self.page: Page = room.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        OPEN.append(self)
        self.complaints: list[str] = []
        self.expected: list[str] = []
        """Beginnings of messages that a test provokes, as those of requests that are refused."""

        self.asked: deque[str] = deque(maxlen=LATEST)
        """The latest answers of the server, for who looks for why a test has failed."""

        self.page.on("console", self._console)
        self.page.on("response", lambda one: self.asked.append(f"{one.status} {one.request.method} {one.url}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _console(self, message: ConsoleMessage) -> None:
        self.complaints.append(f"{message.type}: {message.text}")

    def open(self, address: str) -> Page:
        """Go to a page, and wait until it shows its heading."""
        self.page.goto(self.url + address)
        self.page.locator("h1, h2, .problem").first.wait_for()
        return self.page

    def looks(
        self, address: str, which: Iterable[tuple[tuple[int, int], str]] = LOOKS
    ) -> Iterator[tuple[tuple[int, int], str]]:
        """Go to a page again and again, in windows of some sizes, light and dark: one tab costs less than six."""
        for size, scheme in which:
            self.page.set_viewport_size({"width": size[0], "height": size[1]})
            self.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            self.open(address)
            yield size, scheme

    def wait_until_live(self) -> None:
        """Wait until the page follows what happens."""
        self.page.locator('.live[data-state="live"]').wait_for()

    def answers(self, path: str, data: object, status: int = 200, again_in: int = 0) -> None:
        """Answer requests of the API for a path, with any query, in the server's place. ``**`` is any part of it."""

        def answer(route: Route) -> None:
            media = "application/json" if status < 400 else "application/problem+json"
            headers = {"Content-Type": media, **({"Retry-After": str(again_in)} if again_in else {})}
            route.fulfill(status=status, headers=headers, body=msgspec.json.encode(data))

        self.page.route(f"{self.url}{API}{path}", answer)
        self.page.route(f"{self.url}{API}{path}?**", answer)
        if status >= 400:
            self.expected.append("error: Failed to load resource")

    def refuses(self, path: str, status: int, code: str, detail: str, hint: str = "", *, again_in: int = 0) -> None:
        """Refuse requests of the API for a path with a problem; the page is not to come back for so many seconds."""
        problem = {"type": f"/problems/{code}", "title": code, "status": status, "code": code, "detail": detail}
        self.answers(
            path, {**problem, "hint": hint, "next": [], "diagnostics": [], "request_id": "0" * 32}, status, again_in
        )

    def findings(self) -> list[str]:
        """What axe-core finds in the page as it is."""
        session = self.context.new_cdp_session(self.page)
        # By the debugger, so that the policy of the page stays as it is.
        session.send("Runtime.evaluate", {"expression": _axe()})
        run = f"axe.run(document, {json.dumps({'runOnly': WCAG, 'resultTypes': ['violations']})})"
        expression = f"{run}.then(found => JSON.stringify(found.violations))"
        answer = session.send("Runtime.evaluate", {"expression": expression, "awaitPromise": True})
        session.detach()
        found: list[Mapping[str, Any]] = json.loads(answer["result"]["value"])
        return [
            f"{one['id']}: {one['help']}: {node['html'][:200]} ({node.get('failureSummary', '')[:300]})"
            for one in found
            for node in one["nodes"]
        ]

    def screenshot(self, name: str) -> Path:
        """Keep what shows, for people: ``.cache/screenshots/NAME.png``."""
        path = SCREENSHOTS / f"{name}.png"
        self.page.screenshot(path=path)
        if name in PICTURED and os.environ.get("ORDITO_PICTURES"):
            PICTURES.mkdir(exist_ok=True)
            shutil.copyfile(path, PICTURES / f"{PICTURED[name]}.png")
        return path

    def address(self) -> str:
        """The address as the page has it now; ``page.url`` may be a moment behind."""
        session = self.context.new_cdp_session(self.page)
        answer = session.send("Runtime.evaluate", {"expression": "location.href"})
        session.detach()
        return str(answer["result"]["value"])

    def widest(self) -> int:
        """How far the page reaches beyond the window to the right, in pixels."""
        session = self.context.new_cdp_session(self.page)
        expression = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        answer = session.send("Runtime.evaluate", {"expression": expression})
        session.detach()
        return int(answer["result"]["value"])

    def tells(self) -> str:
        """What shows now, what has the focus, and what the browser and the server have said: where a test fails."""
        self.page.set_default_timeout(5_000)
        try:
            focus = self.page.evaluate("document.activeElement?.outerHTML.slice(0, 200)")
            shows = self.page.locator("body").aria_snapshot()
        except PlaywrightError as error:
            focus, shows = "", f"it does not say: {error}"
        said = [f"the browser: {one}" for one in self.complaints] + [f"the server: {one}" for one in self.asked]
        return "\n".join([f"{self.page.url} in {self.page.viewport_size}", f"focus: {focus}", *said, shows])

    def close(self) -> None:
        """Close it. Raises ``AssertionError`` where the browser complained."""
        self.leave()
        unexpected = [one for one in self.complaints if not any(one.startswith(known) for known in self.expected)]
        assert not unexpected, unexpected

    def leave(self) -> None:
        """Close what shows, as one closes a tab."""
        if self in OPEN:
            OPEN.remove(self)
            self.room.leave()


@cache
def _axe() -> str:
    return AXE.read_text(encoding="utf-8")


def open_tab(
    browser: Browser,
    url: str,
    cookie: tuple[str, str] | None = None,
    size: tuple[int, int] = WIDE,
    scheme: str = "light",
    *,
    moves: bool = True,
) -> Tab:
    """A tab with cookies and a store of its own: signed in by a ``cookie``, in a window of a ``size``, light or
    dark."""
    free = _FREE.setdefault(browser, [])
    room = free.pop() if free else Room(browser, free)
    room.enter(url)
    if cookie is not None:
        room.context.add_cookies([{"name": cookie[0], "value": cookie[1], "url": url}])
    tab = Tab(room, url)
    tab.page.set_viewport_size({"width": size[0], "height": size[1]})
    tab.page.emulate_media(
        color_scheme="dark" if scheme == "dark" else "light", reduced_motion="no-preference" if moves else "reduce"
    )
    return tab


def cookie_of(served: Served, admin: Client, user: str) -> tuple[str, str]:
    """The cookie of a new session of a user: its name and its value."""
    client = Client(served.url)
    link = one_time_link(admin, user).rpartition("#")[2]
    answer = client.ask("POST", "sessions", {"link": link}, {"Origin": served.url})
    assert answer.status == 201, answer
    name, _, value = answer.headers["Set-Cookie"].partition(";")[0].partition("=")
    return name, value


def one_time_link(admin: Client, user: str) -> str:
    """A new link with which a user signs in."""
    link: str = admin.do("POST", f"users/{user}/reset")["link"]
    return link
