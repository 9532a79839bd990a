"""Pages 4, 5 and the list of jobs: jobs that ended well, that failed, that run, and very large ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.browser.conftest import ADMIN, BINDINGS, VIEWER, bindings_tag
from tests.support.browsing import WIDE, Tab, cookie_of, open_tab
from tests.support.serving import MANY_REQUESTS, Client, Served, until
from tests.support.shown_jobs import ShownShop, many_steps

WEB_2 = "web_2.Standard.start"

# Machines that do much else at the same time take their time.
expect.set_options(timeout=20_000)

Opens = Callable[..., Tab]


class Shops:
    """A server with ensembles that each have jobs of another kind."""

    def __init__(self, place: Path) -> None:
        self.good = ShownShop(place / "good", "good")
        self.bad = ShownShop(place / "bad", "bad")
        self.live = ShownShop(place / "live", "live")
        self.bad.fails(WEB_2)
        self.bad.fails_once("web_1.Standard.configure")
        assert self.good.deploy() == 0
        assert self.bad.deploy() != 0
        assert self.live.deploy() == 0
        self.served = Served(
            place / "home", self.good.directory, self.bad.directory, self.live.directory,
            settings=f"{MANY_REQUESTS}reads: [ {place} ]\n",
        )  # fmt: skip
        self.admin = self.served.admin()
        for name, is_admin in ((ADMIN, True), (VIEWER, False)):
            self.admin.do("POST", "users", {"name": name, "admin": is_admin})
        self.admin.do("PUT", "projects/default/bindings", BINDINGS, {"If-Match": bindings_tag(self.admin)})
        self.cookies = {user: cookie_of(self.served, self.admin, user) for user in (ADMIN, VIEWER)}

    def job(self, ensemble: str) -> str:
        """The id of the latest job of an ensemble."""
        found: str = _id_of(self.admin, ensemble)
        return found

    def close(self) -> None:
        for shop in (self.good, self.bad, self.live):
            shop.stop()
        self.served.__exit__()


def _id_of(admin: Client, ensemble: str) -> str:
    found = admin.get(f"projects/default/ensembles/{ensemble}/jobs/latest")["job"]
    return found if isinstance(found, str) else str(found["changeId"])


def _running(admin: Client, ensemble: str) -> str:
    """The id of the job that runs in an ensemble, as soon as there is one."""
    where = f"projects/default/ensembles/{ensemble}/jobs/latest"
    return str(until(lambda: admin.get(where)["job"], lambda job: isinstance(job, str)))


@pytest.fixture(scope="module")
def shops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shops]:
    found = Shops(tmp_path_factory.mktemp("shops"))
    yield found
    found.close()


@pytest.fixture
def opens(browser: Browser, shops: Shops) -> Iterator[Opens]:
    tabs: list[Tab] = []

    def open_one(user: str = ADMIN, **options: object) -> Tab:
        tab = open_tab(browser, shops.served.url, shops.cookies[user], **options)  # type: ignore[arg-type]
        tabs.append(tab)
        return tab

    yield open_one
    for tab in tabs:
        tab.close()


def address(ensemble: str, job: str, more: str = "") -> str:
    return f"/e/default/{ensemble}/jobs/{job}{more}"


# --------------------------------------------------------------------------------------------------- what has ended


def test_a_job_that_failed_says_first_what_failed(shops: Shops, opens: Opens) -> None:
    tab = opens(ADMIN)
    page = tab.page
    for size, scheme in tab.looks(address("bad", shops.job("bad"))):
        failures = page.get_by_role("region", name="1 failed")
        expect(failures).to_contain_text("web_2 Standard.start")
        expect(failures).to_contain_text("permission denied")
        expect(failures).to_contain_text("service.yaml:10:")
        skip = failures.get_by_role("link", name="Skip this step…")
        expect(skip).to_have_attribute("href", re.compile(r"step=web_2"))
        expect(page.get_by_role("region", name="What was printed")).to_contain_text("store_1.Standard.start is done")
        if size is WIDE:
            expect(page.get_by_role("group", name="Timeline")).to_be_visible()
        tab.wait_until_live()
        tab.screenshot(f"job-failed-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0


def test_the_table_has_the_same_and_its_choice_narrows_the_log(shops: Shops, opens: Opens) -> None:
    tab = opens()
    page = tab.open(address("bad", shops.job("bad")))
    page.get_by_role("button", name="Table", exact=True).click()
    table = page.get_by_role("table", name="Steps")
    again = table.get_by_role("row").filter(has_text="web_1").filter(has_text="tried again")
    expect(again).to_be_visible()
    expect(table.get_by_role("row").filter(has_text="critical").first).to_be_visible()
    row = table.get_by_role("row").filter(has_text="web_2").filter(has_text="failed")
    row.get_by_role("button").click()
    expect(page).to_have_url(re.compile(r"step=web_2\.Standard\.start"))
    log = page.get_by_role("region", name="What was printed")
    expect(log).to_contain_text("permission denied")
    expect(log).not_to_contain_text("web_1")
    about = page.get_by_role("region", name=WEB_2)
    expect(about).to_contain_text("exit 1")
    # So that nothing lies half below the header, which would look too small to be met.
    page.get_by_role("heading", level=2).scroll_into_view_if_needed()
    page.mouse.wheel(0, -5_000)
    expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
    tab.screenshot("job-table")
    assert tab.findings() == []


def test_keys_go_from_failure_to_failure_and_change_how_steps_show(shops: Shops, opens: Opens) -> None:
    page = opens().open(address("bad", shops.job("bad")))
    expect(page.get_by_role("group", name="Timeline")).to_be_visible()
    page.keyboard.press("]")
    expect(page).to_have_url(re.compile(r"step=web_2"))
    page.keyboard.press("t")
    expect(page.get_by_role("table", name="Steps").locator(".chosen")).to_contain_text("web_2")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Filter the instances")).to_be_focused()
    page.keyboard.type("store")
    expect(page.get_by_role("table", name="Steps").get_by_role("rowheader")).to_have_text(["store_1"] * 3)


def test_a_bar_is_chosen_and_a_time_is_brushed(shops: Shops, opens: Opens) -> None:
    tab = opens()
    page = tab.open(address("good", shops.job("good")))
    rows = page.get_by_role("group", name="Timeline")
    box = rows.bounding_box()
    assert box is not None
    # The store comes first, and alone: whatever is met at the beginning of the first row is a step of it.
    for share in range(24, 99):
        page.mouse.click(box["x"] + box["width"] * share / 100, box["y"] + 36)
        if "step=store_1" in tab.address():
            break
    expect(page).to_have_url(re.compile(r"step=store_1\.Standard\."))
    whole = page.get_by_role("button", name="Whole")
    expect(whole).to_be_disabled()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 100, steps=4)
    page.mouse.up()
    expect(whole).to_be_enabled()
    tab.screenshot("job-zoomed-in")
    page.keyboard.press("0")
    expect(whole).to_be_disabled()


def test_whoever_may_not_read_logs_sees_the_rest(shops: Shops, opens: Opens) -> None:
    tab = opens(VIEWER)
    tab.expected.append("error: Failed to load resource")
    page = tab.open(address("bad", shops.job("bad")))
    expect(page.get_by_role("alert").filter(has_text="What was printed could not be read")).to_contain_text('"logs"')
    expect(page.get_by_role("region", name="1 failed")).to_contain_text("web_2")
    expect(page.get_by_role("button", name="Retry the job…")).to_have_attribute("aria-disabled", "true")
    tab.screenshot("job-without-logs")
    assert tab.findings() == []


def test_a_part_that_is_broken_leaves_the_others(shops: Shops, opens: Opens) -> None:
    tab = opens()
    job = shops.job("good")
    tab.refuses(f"/projects/default/ensembles/good/jobs/{job}/timeline", 422, "no-record", "the record is missing")
    page = tab.open(address("good", job))
    expect(page.get_by_role("alert").filter(has_text="What it did could not be read")).to_contain_text(
        "the record is missing"
    )
    expect(page.get_by_role("region", name="What was printed")).to_contain_text("is done")


def test_a_job_that_is_not_there_is_said_not_to_be(shops: Shops, opens: Opens) -> None:
    tab = opens()
    tab.expected.append("error: Failed to load resource")
    page = tab.open(address("good", "A6BM5PEYzzzz"))
    expect(page.get_by_role("alert").first).to_contain_text("there is no job")


def test_files_can_be_taken_along(shops: Shops, opens: Opens) -> None:
    page = opens().open(address("bad", shops.job("bad")))
    for label, text in (("Events", '"type":"job.finished"'), ("What was printed", f"{WEB_2}: bind 0.0.0.0:80")):
        page.get_by_role("button", name="Download").click()
        with page.expect_download() as found:
            page.get_by_role("menuitem", name=label).click()
        assert text in found.value.path().read_text()


# -------------------------------------------------------------------------------------------------------- what runs


def test_a_job_is_followed_to_its_end_over_a_new_start_of_the_server(
    tmp_path: Path, shops: Shops, browser: Browser
) -> None:
    shop = ShownShop(tmp_path / "held", "held")
    assert shop.deploy("--input", "webs=1") == 0
    shop.holds("web_2.Standard.start")
    shop.fails_once("web_3.Standard.create")
    settings = f"{MANY_REQUESTS}reads: [ {tmp_path} ]\n"
    served = Served(tmp_path / "home", shop.directory, settings=settings)
    admin = served.admin()
    admin.do("POST", "users", {"name": ADMIN, "admin": True})
    tab = open_tab(browser, served.url, cookie_of(served, admin, ADMIN))
    # While the server is away, requests fail.
    tab.expected.append("error: Failed to load resource")
    try:
        shop.begin("--input", "webs=3")
        page = tab.open(address("held", _running(admin, "held")))
        expect(page.get_by_role("region", name="Now")).to_contain_text("web_2 Standard.start")
        tab.wait_until_live()
        expect(page.locator(".job-far")).to_contain_text("steps")
        tab.screenshot("job-running")
        assert tab.findings() == []
        port = served.url.rpartition(":")[2]
        served.__exit__()
        expect(page.locator('.live[data-state="offline"]')).to_be_visible()
        expect(page.get_by_role("button", name="Cancel…")).to_have_attribute("aria-disabled", "true")
        tab.screenshot("job-offline")
        served = Served(tmp_path / "home", shop.directory, settings=settings, listen=f"127.0.0.1:{port}")
        page.locator('.live[data-state="offline"]').click()
        shop.let_through("web_2.Standard.start")
        assert shop.end() == 0
        expect(page.locator(".job-title")).to_contain_text("ok")
        expect(page.locator(".job-facts")).to_contain_text("6 operations")
        log = page.get_by_role("region", name="What was printed")
        expect(log).to_contain_text("web_2.Standard.start was let through")
        expect(log.get_by_text("web_2.Standard.start was let through")).to_have_count(1)
        expect(log).to_contain_text("web_2.Standard.start is done")
    finally:
        tab.leave()
        shop.stop()
        served.__exit__()


def test_a_job_that_somebody_else_cancels(shops: Shops, opens: Opens) -> None:
    shops.live.holds("web_4.Standard.configure")
    shops.live.begin("--input", "webs=5")
    watching = opens()
    where = address("live", _running(shops.admin, "live"))
    page = watching.open(where)
    expect(page.get_by_role("region", name="Now")).to_contain_text("web_4 Standard.configure")
    watching.wait_until_live()
    other = opens().open(where)
    other.get_by_role("button", name="Cancel…").click()
    dialog = other.get_by_role("dialog")
    expect(dialog).to_contain_text("may finish")
    dialog.get_by_role("button", name="Cancel the job").click()
    expect(other.get_by_role("button", name="End now…")).to_be_visible()
    shops.live.let_through("web_4.Standard.configure")
    expect(page.locator(".job-title")).to_contain_text("cancelled")
    expect(page.get_by_role("button", name="Cancel…")).to_have_count(0)
    shops.live.end()
    watching.screenshot("job-cancelled")


# ------------------------------------------------------------------------------------------------------------ the log


def test_the_log_alone(shops: Shops, opens: Opens) -> None:
    tab = opens(ADMIN)
    page = tab.page
    for size, scheme in tab.looks(address("bad", shops.job("bad"), "/log")):
        log = page.get_by_role("region", name="What was printed")
        expect(log.locator(".ansi-green").first).to_have_text("store_1.Standard.create")
        expect(log).to_contain_text("<b>no markup</b>")
        assert log.locator("b").count() == 0
        tab.wait_until_live()
        tab.screenshot(f"log-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0


def test_a_text_is_found_and_a_line_is_linked(shops: Shops, opens: Opens) -> None:
    tab = opens()
    page = tab.open(address("bad", shops.job("bad"), "/log"))
    find = page.get_by_role("searchbox", name="Find in the log")
    find.fill("PERMISSION")
    find.press("Enter")
    expect(page.get_by_role("status").filter(has_text="1 of 1")).to_be_visible()
    line = page.locator(".log-line[aria-current]")
    expect(line).to_contain_text("permission denied")
    expect(line.locator(".found")).to_have_text("permission")
    linked = opens().open(page.url.removeprefix(tab.url))
    expect(linked.locator(".log-line[aria-current]")).to_contain_text("permission denied")
    find.fill("nowhere to be found")
    find.press("Enter")
    expect(page.get_by_role("status").filter(has_text="not found")).to_be_visible()


def test_the_log_is_narrowed(shops: Shops, opens: Opens) -> None:
    page = opens().open(address("bad", shops.job("bad"), "/log"))
    log = page.get_by_role("region", name="What was printed")
    expect(log).to_contain_text("web_3")
    instances = page.get_by_label("Narrow to one of the instances")
    instances.focus()
    instances.select_option("store_1")
    expect(page).to_have_url(re.compile("instance=store_1"))
    expect(log).not_to_contain_text("web_3")
    page.get_by_label("Narrow to one of the operations").select_option("Standard.create")
    expect(log).not_to_contain_text("store_1.Standard.start")
    page.goto(page.url.replace("instance=store_1", "instance=nobody"))
    expect(page.get_by_role("heading", name="What is chosen has printed nothing")).to_be_visible()
    page.get_by_role("button", name="Show everything").click()
    expect(log).to_contain_text("web_3")


def test_a_log_that_is_not_kept_says_so(shops: Shops, opens: Opens) -> None:
    tab = opens()
    job = shops.job("good")
    tab.refuses(
        f"/projects/default/ensembles/good/jobs/{job}/log", 410, "forgotten", "what it printed is not kept any more"
    )
    page = tab.open(address("good", job, "/log"))
    expect(page.get_by_role("alert")).to_contain_text("not kept any more")


# ---------------------------------------------------------------------------------------------------- very much of it


def huge(tab: Tab, ensemble: str, job: str, instances: int) -> None:
    """The job is shown as one of that many instances."""
    timeline, steps = many_steps(instances, 10, job)
    base = f"/projects/default/ensembles/{ensemble}/jobs/{job}"
    tab.answers(f"{base}/timeline", timeline)
    tab.answers(f"{base}/steps", steps)


@pytest.mark.parametrize(("instances", "scheme"), [(1, "light"), (40, "dark"), (10_000, "light")])
def test_jobs_of_any_size_are_shown(shops: Shops, opens: Opens, instances: int, scheme: str) -> None:
    tab = opens(scheme=scheme)
    job = shops.job("good")
    huge(tab, "good", job, instances)
    page = tab.open(address("good", job))
    rows = page.get_by_role("group", name="Timeline")
    expect(rows).to_be_visible()
    tab.screenshot(f"job-{instances}-instances")
    page.get_by_role("button", name="Table", exact=True).click()
    table = page.get_by_role("table", name="Steps")
    expect(table).to_have_attribute("aria-rowcount", str(instances * 10 + 1))
    if instances == 10_000:
        page.keyboard.press("]")
        expect(page).to_have_url(re.compile(r"step=web_\d+"))
        expect(table.locator(".chosen")).to_be_visible()
    tab.screenshot(f"job-{instances}-instances-table")


# ---------------------------------------------------------------------------------------------------------- all jobs


def test_all_jobs(shops: Shops, opens: Opens) -> None:
    tab = opens(ADMIN)
    page = tab.page
    for size, scheme in tab.looks("/jobs"):
        table = page.get_by_role("table", name="Jobs")
        expect(table.get_by_role("row").filter(has_text="default/bad")).to_contain_text("failed")
        tab.wait_until_live()
        tab.screenshot(f"jobs-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0


def test_jobs_are_filtered_and_opened(shops: Shops, opens: Opens) -> None:
    page = opens().open("/jobs")
    page.get_by_role("button", name="failed", exact=True).click()
    expect(page).to_have_url(re.compile("filter=status%3Afailed"))
    table = page.get_by_role("table", name="Jobs")
    expect(table.get_by_role("rowheader")).to_have_count(1)
    page.get_by_role("searchbox", name="Filter the jobs").fill("in:default/nowhere")
    expect(page.get_by_role("heading", name="No job is as the filter says")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    expect(table.get_by_role("row").filter(has_text="default/good")).to_be_visible()
    page.get_by_role("heading", name="Jobs").click()
    page.get_by_role("button", name="failed", exact=True).click()
    expect(table.get_by_role("rowheader")).to_have_count(1)
    page.get_by_role("heading", name="Jobs").click()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="1 failed")).to_be_visible()


def test_many_jobs_come_in_parts(opens: Opens, shops: Shops) -> None:
    tab = opens()
    items: list[dict[str, Any]] = [
        {"project": "default", "ensemble": "good", "id": f"A6BM5PEY{number:04}", "workflow": "check", "outcome": "ok",
         "start": "2026-11-22T21:58:18.185Z", "seconds": 1.5, "summary": "nothing differs"}
        for number in range(100)
    ]  # fmt: skip

    def answer(route: Route) -> None:
        is_second = "after=more" in route.request.url
        part = [{**one, "id": one["id"].replace("A6BM5PEY", "A6BM5PEZ")} for one in items] if is_second else items
        data = {"items": part, "missing": [], "next": None if is_second else "more"}
        route.fulfill(content_type="application/json", body=json.dumps(data))

    tab.page.route(f"{tab.url}/api/v1/jobs?**", answer)
    page = tab.open("/jobs")
    table = page.get_by_role("table", name="Jobs")
    expect(table).to_have_attribute("aria-rowcount", "101")
    page.get_by_role("button", name="Show earlier ones").click()
    expect(table).to_have_attribute("aria-rowcount", "201")
