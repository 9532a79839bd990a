"""The page of a job in a browser: 100,000 steps shown and scrolled, and the end of a log of 1 GB.

Times stand beside those of a bare page of the same server and of a bare loop of frames in the same browser and run,
since machines differ, and since a browser without a graphics card draws with the processor.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import ordito, run, verdict
from tests.support.browsing import Tab, chromium, cookie_of, open_tab
from tests.support.serving import MANY_REQUESTS, Served

INSTANCES, EACH = 10_000, 10
OPERATIONS = ("create", "configure", "start", "stop", "delete")
LOG_BYTES = 1 << 30
FRAME = 1 << 18
LINE = b"web_1 | a line of the kind that operations print, with 80 letters or so in each.\n"
FRAMES = 240
SLOW = 20.0
"""Milliseconds: a frame that takes longer is seen to be late."""

SHOWN, LATE, FIRST, END = 20.0, 5.0, 4.0, 7.0
"""How many times as long as a bare page, and percent of frames that are late beyond those of the bare loop. A bare page
takes about 75 ms where little else runs, so these are 1.5 s, 0.3 s and 0.5 s there."""


def main() -> None:
    """Print what the page of a job needs."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run([*ordito("init", str(place / "app"))])
        ensemble = place / "bench"
        run([*ordito("-e", str(ensemble), "deploy", str(place / "app"), "--yes")])
        events = next((ensemble / ".ordito" / "events").glob("*.ndjson"))
        _write_events(events)
        _write_log(ensemble / ".ordito" / "logs" / f"{events.stem}.log")
        with Served(place / "home", ensemble, settings=MANY_REQUESTS, apart=True) as served, chromium() as browser:
            admin = served.admin()
            admin.do("POST", "users", {"name": "ann", "admin": True})
            tab = open_tab(browser, served.url, cookie_of(served, admin, "ann"))
            # The bare page has no icon.
            tab.expected.append("error: Failed to load resource")
            _measure(tab, f"/e/default/bench/jobs/{events.stem}", ensemble / "ensemble.yaml")
            tab.close()


def _write_events(path: Path) -> None:
    """A job of 100,000 steps, of which some thousand run at any time."""
    first = path.read_text(encoding="utf-8").splitlines()[0]
    job, at = path.stem, 1_795_325_114.0
    happened: list[tuple[float, dict[str, object]]] = []
    for number in range(INSTANCES):
        for step in range(EACH):
            name = f"Standard.{OPERATIONS[step % len(OPERATIONS)]}"
            about = {"job": job, "step": f"web_{number}.{name}" + (f"#{step}" if step >= len(OPERATIONS) else ""),
                     "instance": f"web_{number}", "operation": name}  # fmt: skip
            began = at + number * 0.04 + step * 0.7
            outcome = {"ending": "succeeded", "exit_code": 0, "seconds": 0.5}
            happened.append((began, {"type": "step.started", **about}))
            happened.append((began + 0.5, {"type": "step.succeeded", **about, "outcome": outcome}))
    happened.sort(key=lambda one: one[0])
    end = happened[-1][0]
    steps = {"job": job, "workflow": "deploy", "steps": INSTANCES * EACH}
    events = [
        {"type": "job.started", **steps, "done": 0, "at": at},
        *({**event, "at": round(moment, 3)} for moment, event in happened),
        {"type": "job.finished", "job": job, "workflow": "deploy", "status": "ok", "at": end},
    ]
    with path.open("w", encoding="utf-8") as file:
        file.write(first + "\n")
        file.writelines(json.dumps({**event, "n": n}) + "\n" for n, event in enumerate(events, 1))


def _write_log(path: Path) -> None:
    content = LINE * (FRAME // len(LINE))
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as log, path.with_suffix(".index").open("wb") as index:
        at = 0
        for number in range(LOG_BYTES // len(content)):
            step = f"web_{number % INSTANCES}.Standard.create"
            head = f"={len(content)} {step}\n".encode()
            log.write(head + content + b"\n")
            index.write(f"{at + len(head)} {len(content)} {step}\n".encode())
            at += len(head) + len(content) + 1


def _measure(tab: Tab, page: str, manifest: Path) -> None:
    bare = statistics.median(_bare_page(tab) for _ in range(5))
    # The first one also loads the scripts of the page.
    _shown(tab, page)
    anew = statistics.median(_shown_anew(tab, page, manifest) for _ in range(3))
    shown = statistics.median(_shown(tab, page) for _ in range(3))
    tab.page.goto(f"{tab.url}/problems/locked")
    loop = _frames(tab, "")
    _shown(tab, page)
    scrolled = _frames(tab, ".timeline-rows")
    first, end, part = _log(tab, page)
    late = max(0.0, _late(scrolled) - _late(loop))
    print(f"the page of a job of {INSTANCES * EACH:,} steps, and of a log of {LOG_BYTES >> 20:,} MiB")
    print(f"  a bare page                    {bare:7.0f} ms")
    print(f"  the timeline, read anew        {_beside(anew, bare)}  {verdict('job-anew', anew / bare, SHOWN)}")
    print(f"  the timeline                   {_beside(shown, bare)}  {verdict('job-shown', shown / bare, SHOWN)}")
    print(f"  frames of a bare loop          {statistics.median(loop):7.1f} ms   {_late(loop):5.1f} % late")
    print(f"  frames while scrolling         {statistics.median(scrolled):7.1f} ms   {_late(scrolled):5.1f} % late  "
          f"{verdict('job-frames', late, LATE, '%')}")  # fmt: skip
    print(f"  a part of a log, asked bare    {part:7.0f} ms")
    print(f"  the first lines of the log     {_beside(first, bare)}  {verdict('log-first', first / bare, FIRST)}")
    print(f"  its end                        {_beside(end, bare)}  {verdict('log-end', end / bare, END)}")


def _beside(milliseconds: float, bare: float) -> str:
    return f"{milliseconds:7.0f} ms   {milliseconds / bare:5.1f} times as long"


def _bare_page(tab: Tab) -> float:
    began = time.perf_counter()
    tab.page.goto(f"{tab.url}/problems/locked")
    return (time.perf_counter() - began) * 1_000


def _shown(tab: Tab, page: str) -> float:
    began = time.perf_counter()
    tab.page.goto(tab.url + page)
    tab.page.locator(f'.timeline-rows[data-steps="{INSTANCES * EACH}"]').wait_for()
    return (time.perf_counter() - began) * 1_000


def _shown_anew(tab: Tab, page: str, manifest: Path) -> float:
    """The same where something has happened to the ensemble: then no answer that is kept will do."""
    os.utime(manifest)
    return _shown(tab, page)


def _frames(tab: Tab, scrolled: str) -> list[float]:
    """How long each frame took in milliseconds, while something is scrolled, or nothing."""
    text = """new Promise(done => {
        const place = SCROLLED ? document.querySelector(SCROLLED) : undefined;
        const found = []; let last = performance.now();
        const turn = now => {
            found.push(now - last); last = now;
            if (place) place.scrollTop += 60;
            if (found.length < COUNT) requestAnimationFrame(turn); else done(JSON.stringify(found));
        };
        requestAnimationFrame(turn);
    })"""
    found: list[float] = json.loads(
        _evaluated(tab, text.replace("SCROLLED", json.dumps(scrolled)).replace("COUNT", str(FRAMES)))
    )
    # The first ones still belong to what was before.
    return found[10:]


def _late(frames: list[float]) -> float:
    return 100 * sum(one > SLOW for one in frames) / len(frames)


def _log(tab: Tab, page: str) -> tuple[float, float, float]:
    """Milliseconds until the first lines of a log show, until its end does, and for a bare request for a part."""
    ensemble, job = page.split("/")[3], page.rpartition("/")[2]
    where = f"{tab.url}/api/v1/projects/default/ensembles/{ensemble}/jobs/{job}/log?limit=65536"
    request = f"await (await fetch({json.dumps(where)})).text()"
    ask = f"(async () => {{ const begun = performance.now(); {request}; return performance.now() - begun; }})()"
    view = tab.page.get_by_role("region", name="What was printed")
    tab.page.goto(tab.url + page + "/log")
    view.locator("code").first.wait_for()
    part = statistics.median(float(_evaluated(tab, ask)) for _ in range(5))
    first, jumped = [], []
    for _ in range(3):
        # From where nothing is shown, so that what is measured is the log and not the whole of the UI.
        tab.page.goto(f"{tab.url}{page}/log?step=nothing")
        tab.page.get_by_role("button", name="Show everything").wait_for()
        began = time.perf_counter()
        tab.page.get_by_role("button", name="Show everything").click()
        view.locator("code").first.wait_for()
        first.append((time.perf_counter() - began) * 1_000)
        began = time.perf_counter()
        tab.page.get_by_role("button", name="End", exact=True).click()
        tab.page.locator('.log[data-at="end"]').wait_for()
        jumped.append((time.perf_counter() - began) * 1_000)
    return statistics.median(first), statistics.median(jumped), part


def _evaluated(tab: Tab, expression: str) -> Any:
    session = tab.context.new_cdp_session(tab.page)
    answer = session.send("Runtime.evaluate", {"expression": expression, "awaitPromise": True})
    session.detach()
    return answer["result"]["value"]
