"""Pages in a browser: how soon the first one can be used, and 10,000 instances; and how soon an event is at its dot.

Times stand beside those of a bare page in the same browser and run, which draws as many dots and hears of one by the
barest of streams: machines differ, and a browser without a graphics card draws with the processor.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser, Page

from benchmarks.measure import ordito, run, verdict
from tests.support.browsing import Tab, chromium, cookie_of, open_tab
from tests.support.serving import MANY_REQUESTS, Served

NODES, EACH = 98, 102
"""How many nodes there are, and how many instances of each: 9,996, beside the one whose operation is waited for."""

OPENED, TOLD = 5, 9
SOON = 0.3
"""Seconds after which the bare page is told: by then it looks."""

FIRST, INTERACTIVE, TO_DOT = 600.0, 1_000.0, 150.0
"""Milliseconds."""

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Part: { derived_from: tosca.nodes.Root }
  Probe:
    derived_from: tosca.nodes.Root
    interfaces: { Standard: { operations: { start: probe.sh } } }
topology_template:
  node_templates:
    probe: { type: Probe }
"""
PROBE = """\
sleep 1.5
date +%s%N > {place}/ended
"""

BARE = b"""\
<!doctype html><link rel="icon" href="data:,"><canvas width="1200" height="1200"></canvas><button>none</button>
<p><b>waits</b></p><script>
const on = document.querySelector("canvas").getContext("2d"), button = document.querySelector("button");
for (let n = 0; n < 9997; n += 1) {
  on.beginPath(); on.arc(n % 100 * 12 + 6, Math.floor(n / 100) * 12 + 6, 4, 0, 7); on.fill();
}
button.onclick = () => button.textContent = "chosen";
new EventSource("/events").onmessage = () => {
  on.fillStyle = "red"; on.fillRect(0, 0, 12, 12); document.querySelector("b").remove();
};
</script>
"""


def main() -> None:
    """Print what the page of an ensemble needs."""
    with tempfile.TemporaryDirectory() as folder:
        ensemble = _ensemble(Path(folder))
        with (
            Served(Path(folder) / "home", ensemble, settings=MANY_REQUESTS, apart=True) as served,
            chromium() as browser,
        ):
            admin = served.admin()
            admin.do("POST", "users", {"name": "ann", "admin": True})
            cookie = cookie_of(served, admin, "ann")
            with _bare_server() as bare:
                opened = [_bare_opened(browser, bare.url) for _ in range(OPENED)]
                heard = _bare_heard(browser, bare)
            admin.get("projects/default/ensembles/bench/topology")
            first = [_first(browser, served.url, cookie) for _ in range(OPENED)]
            shown = [_opened(browser, served.url, cookie) for _ in range(OPENED)]
            dots = _heard(browser, served.url, cookie, ensemble)
    _print(*map(statistics.median, (opened, first, shown, heard, dots)))


def _print(opened: float, first: float, shown: float, heard: float, dots: float) -> None:
    print(f"the page of an ensemble of {NODES * EACH:,} instances (median of many, with an empty cache)")
    print(f"  a bare page with as many dots  {opened:7.0f} ms")
    print(f"  the list, until it can be used {first:7.0f} ms   {first / opened:5.1f} times as long  "
          f"{verdict('first', first, FIRST, 'ms')}")  # fmt: skip
    print(f"  until it can be used           {shown:7.0f} ms   {shown / opened:5.1f} times as long  "
          f"{verdict('interactive', shown, INTERACTIVE, 'ms')}")  # fmt: skip
    print(f"  an event to a bare page        {heard:7.0f} ms")
    print(f"  an operation's end to its dot  {dots:7.0f} ms   {dots / heard:5.1f} times as long  "
          f"{verdict('to-dot', dots, TO_DOT, 'ms')}")  # fmt: skip


def _ensemble(place: Path) -> Path:
    parts = "".join(f"    part_{n}: {{ type: Part, occurrences: [ {EACH}, {EACH} ] }}\n" for n in range(NODES))
    (place / "service.yaml").write_text(SERVICE + parts, encoding="utf-8")
    (place / "probe.sh").write_text(PROBE.format(place=place), encoding="utf-8")
    run(ordito("-e", str(place / "bench"), "-q", "deploy", str(place / "service.yaml"), "--yes"))
    return place / "bench"


# --------------------------------------------------------------------------------------------------------- the page


def _fresh(browser: Browser, url: str, cookie: tuple[str, str]) -> Tab:
    """A tab of a browser that has never been here."""
    tab = open_tab(browser, url, cookie)
    session = tab.context.new_cdp_session(tab.page)
    session.send("Network.clearBrowserCache")
    session.detach()
    return tab


def _first(browser: Browser, url: str, cookie: tuple[str, str]) -> float:
    """Milliseconds until the list of ensembles is there and takes what is typed."""
    tab = _fresh(browser, url, cookie)
    began = time.perf_counter()
    tab.page.goto(url, wait_until="commit")
    tab.page.get_by_role("link", name="default/bench").wait_for()
    tab.page.keyboard.press("/")
    tab.page.locator("[data-filter]:focus").wait_for()
    took = (time.perf_counter() - began) * 1_000
    tab.close()
    return took


def _opened(browser: Browser, url: str, cookie: tuple[str, str]) -> float:
    """Milliseconds until all dots are there and an instance can be chosen."""
    tab = _fresh(browser, url, cookie)
    began = time.perf_counter()
    tab.page.goto(f"{url}/e/default/bench", wait_until="commit")
    tab.page.locator(".topology-dots").nth(NODES).wait_for()
    tab.page.get_by_role("searchbox").press("Enter")
    tab.page.locator(".chosen-head").wait_for()
    took = (time.perf_counter() - began) * 1_000
    tab.close()
    return took


def _drawn(page: Page, within: str, what: str) -> float:
    """When the frame was drawn in which something was gone again that comes into an element: milliseconds since 1970.
    The page looks itself: whoever looks from outside looks now and then."""
    text = """new Promise(done => {
        const place = document.querySelector(WITHIN); let was = place.querySelector(WHAT) !== null;
        new MutationObserver((_, observer) => {
            const is = place.querySelector(WHAT) !== null;
            if (was && !is) { observer.disconnect(); requestAnimationFrame(() => setTimeout(() => done(Date.now()))); }
            was = is;
        }).observe(place, { subtree: true, childList: true, attributes: true });
    })"""
    session = page.context.new_cdp_session(page)
    expression = text.replace("WITHIN", json.dumps(within)).replace("WHAT", json.dumps(what))
    answer = session.send("Runtime.evaluate", {"expression": expression, "awaitPromise": True})
    session.detach()
    return float(answer["result"]["value"])


def _heard(browser: Browser, url: str, cookie: tuple[str, str], ensemble: Path) -> list[float]:
    """Milliseconds from the end of an operation until its dot is not pending any more."""
    tab = open_tab(browser, url, cookie)
    tab.open("/e/default/bench")
    tab.wait_until_live()
    tab.page.locator(".topology-dots").nth(NODES).wait_for()
    found = []
    for _ in range(TOLD):
        words = ordito("-e", str(ensemble), "-q", "run", "Standard.start", "--node", "probe", "--yes")
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        seen = _drawn(tab.page, '[data-box="probe"]', ".tone-pending")
        assert process.wait() == 0
        found.append(seen - int((ensemble.parent / "ended").read_text(encoding="ascii")) / 1e6)
    tab.close()
    return found


# ------------------------------------------------------------------------------------------------------- a bare page


class _Bare:
    """A server of one page, and of one stream of what is told to it."""

    def __init__(self) -> None:
        self.follows = threading.Event()
        self._told = 0
        self._news = threading.Condition()
        bare = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                is_page = self.path == "/"
                self.send_response(200)
                self.send_header("Content-Type", "text/html" if is_page else "text/event-stream")
                self.end_headers()
                # Who has left meanwhile is not told any more.
                with suppress(OSError):
                    self.wfile.write(BARE if is_page else bare.next())

            def log_message(self, *_: object) -> None:
                """Nothing is written down."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def next(self) -> bytes:
        """What is told next."""
        with self._news:
            before = self._told
            self.follows.set()
            self._news.wait_for(lambda: self._told > before)
        return b"data: told\n\n"

    def tell_soon(self) -> Callable[[], float]:
        """Tell all who follow in a moment; gives what says when that was, in milliseconds since 1970."""
        told: list[float] = []

        def tell() -> None:
            told.append(time.time() * 1_000)
            self.tell()

        threading.Timer(SOON, tell).start()
        return lambda: told[0]

    def tell(self) -> None:
        """Tell all who follow."""
        with self._news:
            self._told += 1
            self._news.notify_all()


@contextmanager
def _bare_server() -> Iterator[_Bare]:
    bare = _Bare()
    thread = threading.Thread(target=bare.server.serve_forever)
    thread.start()
    try:
        yield bare
    finally:
        bare.tell()
        bare.server.shutdown()
        thread.join()
        bare.server.server_close()


@contextmanager
def _bare_page(browser: Browser, url: str) -> Iterator[Page]:
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(url, wait_until="commit")
        yield page
    finally:
        context.close()


def _bare_opened(browser: Browser, url: str) -> float:
    # A context of its own has an empty cache.
    context = browser.new_context()
    page = context.new_page()
    began = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.get_by_role("button").click()
    page.get_by_text("chosen").wait_for()
    took = (time.perf_counter() - began) * 1_000
    context.close()
    return took


def _bare_heard(browser: Browser, bare: _Bare) -> list[float]:
    found = []
    for _ in range(TOLD):
        bare.follows.clear()
        with _bare_page(browser, bare.url) as page:
            bare.follows.wait()
            began = bare.tell_soon()
            found.append(_drawn(page, "p", "b") - began())
    return found
