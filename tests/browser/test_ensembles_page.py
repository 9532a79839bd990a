"""Page 1: the ensembles, as empty, usual, huge, broken and forbidden ones show."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from ordito.cli.main import run
from tests.browser.conftest import ADMIN, VIEWER, Opens
from tests.server.conftest import SERVICE
from tests.support.browsing import cookie_of, open_tab
from tests.support.serving import Client, Served

SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])


def made_up(name: str, **more: object) -> dict[str, object]:
    """An ensemble as the API tells of it."""
    summary = {
        "format": "ordito.ensembles-summary/1", "service": "shop", "environment": "prod", "status": "ok",
        "revision": 14, "instances": {"ok": 40}, "drifted": 0,
        "last_job": {"id": "A6BM5PEY0000", "workflow": "deploy", "status": "ok"},
        "job": None, "waiting_notices": 0, "attention": [],
    }  # fmt: skip
    given = more.pop("summary", {})
    assert isinstance(given, dict)
    last = given.get("last_job", summary["last_job"])
    last = last and {**last, "start": "2026-11-22T21:58:18.185Z", "by": "ben"}
    return {
        "project": "shop", "name": name, "created": "2026-11-22T21:58:18.185Z", "exists": True, "holder": None,
        "allowed": ["read"], "labels": {}, "package": None, "package_labels": ["shop:2.3"],
        "summary": {**summary, **given}, "problem": "", "drift": None, "last_job": last,
        "plans": {}, **more,
    }  # fmt: skip


FAILED = {
    "status": "error",
    "instances": {"ok": 38, "error": 2},
    "drifted": 2,
    "last_job": {"id": "A6BM5PEY0001", "workflow": "upgrade", "status": "failed"},
    "attention": ["2 instances are not ok", "the last job (upgrade) failed"],
}
RUNNING = {
    "job": {
        "job": "A6BM5PEY0002", "workflow": "upgrade", "began": 1.0, "done": 183, "steps": 300, "holder": "ben",
        "rolling_back": False, "outcome": "running",
    }
}  # fmt: skip
USUAL = [
    made_up("main"),
    made_up("stage", holder="ben", summary=RUNNING, package_labels=["shop:2.4-dev"]),
    made_up("prod", summary=FAILED),
    made_up("torn", summary={}, problem="its journal cannot be read: disk I/O error"),
    made_up("new", exists=False, summary={"service": "", "status": "absent", "instances": {}, "last_job": None}),
]


def test_those_that_need_somebody_come_first(opens: Opens) -> None:
    tab = opens(ADMIN)
    page = tab.page
    tab.answers("/ensembles", {"items": USUAL, "next": None})
    for size, scheme in tab.looks("/"):
        tab.wait_until_live()
        names = ["shop/prod", "shop/torn", "shop/main", "shop/new", "shop/stage"]
        expect(page.get_by_role("rowheader")).to_have_text(names)
        rows = page.get_by_role("row")
        expect(rows.filter(has_text="shop/prod")).to_contain_text("2 changed")
        expect(rows.filter(has_text="shop/prod")).to_contain_text("38/40")
        expect(rows.filter(has_text="shop/stage")).to_contain_text("61 %")
        expect(rows.filter(has_text="shop/torn")).to_contain_text("its journal cannot be read")
        tab.screenshot(f"ensembles-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0


def test_an_ensemble_is_made_of_a_package(opens: Opens, admin: Client, tmp_path: Path) -> None:
    (tmp_path / "service.yaml").write_text(SERVICE)
    (tmp_path / "say.sh").write_text("echo hello\n")
    archive = tmp_path / "shop.csar"
    assert run(["package", str(tmp_path / "service.yaml"), "--out", str(archive)]) == 0
    tab = opens(ADMIN)
    page = tab.open("/")
    page.keyboard.press(".")
    dialog = page.get_by_role("dialog", name="New ensemble")
    dialog.get_by_label("Name of the ensemble").fill("shop")
    dialog.get_by_label("File of the package").set_input_files(archive)
    tab.screenshot("ensembles-new")
    assert tab.findings() == []
    # The name is taken: what was filled in stays.
    tab.expected.append("error: Failed to load resource: the server responded with a status of 409")
    dialog.get_by_role("button", name="Make it").click()
    expect(dialog.get_by_role("alert")).to_contain_text('there is an ensemble "shop" already')
    dialog.get_by_label("Name of the ensemble").fill("second")
    dialog.get_by_role("button", name="Make it").click()
    expect(page).to_have_url(tab.url + "/e/default/second/deploy")
    assert admin.get("projects/default/ensembles/second")["package"]
    # The page is still open, and looks for what is gone.
    tab.expected.append("error: Failed to load resource")
    admin.do("DELETE", "projects/default/ensembles/second")


def test_whoever_may_make_none_is_told_what_it_needs(opens: Opens) -> None:
    tab = opens(VIEWER)
    page = tab.open("/")
    page.get_by_role("button", name="New").click()
    expect(page.get_by_role("dialog", name="New ensemble")).to_contain_text("needs the permission configure")
    assert tab.findings() == []


@SCHEMES
def test_without_any_it_says_how_to_begin(opens: Opens, scheme: str) -> None:
    tab = opens(ADMIN, scheme=scheme)
    tab.answers("/ensembles", {"items": [], "next": None})
    page = tab.open("/")
    expect(page.get_by_role("heading", name="Deploy your first service")).to_be_visible()
    page.get_by_role("button", name="copy the command").first.click()
    expect(page.get_by_text("command copied")).to_be_attached()
    tab.screenshot(f"ensembles-empty-{scheme}")
    assert tab.findings() == []


def test_five_hundred_are_drawn_as_they_show(opens: Opens) -> None:
    tab = opens(ADMIN)
    many = [made_up(f"e{number:03}") for number in range(500)]
    tab.answers("/ensembles", {"items": many, "next": None})
    page = tab.open("/")
    rows = page.locator(".table-body [role=row]")
    expect(rows.first).to_contain_text("e000")
    assert rows.count() < 100
    expect(page.get_by_role("table")).to_have_attribute("aria-rowcount", "501")
    # With the last chosen it is there, and has the focus.
    page.keyboard.press("k")
    last = page.get_by_role("link", name="shop/e499")
    expect(last).to_be_focused()
    expect(last).to_be_in_viewport()
    page.keyboard.press("k")
    expect(page.get_by_role("link", name="shop/e498")).to_be_focused()
    tab.screenshot("ensembles-many")
    assert tab.findings() == []


def test_a_list_that_cannot_be_read_says_why_and_can_be_asked_again(opens: Opens) -> None:
    tab = opens(ADMIN)
    tab.refuses("/ensembles", 500, "internal", "a fault of Ordito itself; the log has more", "ask who runs the server")
    page = tab.open("/")
    problem = page.get_by_role("alert")
    expect(problem).to_contain_text("The ensembles could not be read")
    expect(problem).to_contain_text("ask who runs the server")
    tab.screenshot("ensembles-broken")
    assert tab.findings() == []
    page.unroute_all()
    problem.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("link", name="default/shop")).to_be_visible()
    expect(problem).not_to_be_attached()


def test_whoever_may_only_read_sees_the_same(opens: Opens) -> None:
    page = opens(VIEWER).open("/")
    expect(page.get_by_role("row").filter(has_text="default/shop")).to_contain_text("ok")


def test_filters_stand_in_the_address(opens: Opens) -> None:
    tab = opens(ADMIN)
    page = tab.open("/?filter=status%3Aerror")
    expect(page.get_by_role("heading", name="No ensemble is as the filter says")).to_be_visible()
    assert tab.findings() == []
    page.get_by_role("button", name="Show all").click()
    expect(page.get_by_role("link", name="default/shop")).to_be_visible()
    expect(page).to_have_url(tab.url + "/")
    page.get_by_role("button", name="Needs attention").click()
    expect(page).to_have_url(tab.url + "/?filter=needs%3Aattention")


def test_with_keys_alone(opens: Opens) -> None:
    tab = opens(ADMIN, moves=False)
    page = tab.open("/")
    row = page.get_by_role("link", name="default/shop")
    expect(row).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("default/shop")
    # What was there shows until the answer is here, and other tests have made ensembles that come before this one.
    expect(page.locator(".table-body [role=row]")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(row).to_be_focused()
    # The row is chosen already, and the focus comes back to it.
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(row).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(tab.url + "/e/default/shop")
    # On another page one begins at its content.
    expect(page.get_by_role("main")).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("e")
    expect(page.get_by_role("heading", name="Ensembles")).to_be_visible()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("next row")
    tab.screenshot("keys")
    assert tab.findings() == []
    page.keyboard.press("Escape")
    expect(keys).not_to_be_attached()


def test_letters_can_be_switched_off(opens: Opens) -> None:
    page = opens(ADMIN).open("/")
    page.keyboard.press("?")
    page.get_by_label("Single letters do something").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).not_to_be_attached()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Search")).to_be_visible()


def test_everything_is_found_and_done_from_the_palette(opens: Opens) -> None:
    tab = opens(ADMIN)
    page = tab.open("/")
    page.keyboard.press("Control+k")
    page.keyboard.type("shop")
    found = page.get_by_role("option").filter(has_text="default/shop")
    expect(found).to_be_visible()
    tab.screenshot("palette")
    assert tab.findings() == []
    page.keyboard.press("Enter")
    expect(page).to_have_url(tab.url + "/e/default/shop")
    page.keyboard.press("Control+k")
    page.keyboard.type("theme: dark")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_what_happens_shows_by_itself(opens: Opens, admin: Client) -> None:
    tab = opens(ADMIN)
    page = tab.open("/")
    tab.wait_until_live()
    expect(page.get_by_text("The server is frozen")).not_to_be_attached()
    admin.do("PUT", "freeze", {"reason": "the disk is exchanged"})
    try:
        page.reload()
        expect(page.get_by_text("the disk is exchanged")).to_be_visible()
        expect(page.get_by_role("row").filter(has_text="default/shop")).to_contain_text("frozen")
        tab.screenshot("ensembles-frozen")
        assert tab.findings() == []
    finally:
        admin.do("DELETE", "freeze")


def test_a_server_that_says_nothing_is_away(browser: Browser, tmp_path: Path) -> None:
    """Its connection stays open, as where a cable was pulled; the clock of the page is put forward."""
    with Served(tmp_path / "home") as served:
        admin = served.admin()
        admin.do("POST", "users", {"name": ADMIN, "admin": True})
        tab = open_tab(browser, served.url, cookie_of(served, admin, ADMIN))
        tab.expected.append("error: Failed to load resource")
        tab.page.clock.install()
        page = tab.open("/")
        tab.wait_until_live()
        served.process.send_signal(signal.SIGSTOP)
        try:
            page.clock.fast_forward(40_000)
            expect(page.locator('.live[data-state="offline"]')).to_be_visible()
        finally:
            served.process.send_signal(signal.SIGCONT)
        page.locator('.live[data-state="offline"]').click()
        tab.wait_until_live()
        tab.close()


def test_a_server_that_is_away_dims_what_shows(opens: Opens) -> None:
    tab = opens(ADMIN)
    # So long that it does not come back before somebody says so.
    tab.refuses("/events", 503, "draining", "the server is about to stop", "ask again later", again_in=600)
    page = tab.open("/")
    expect(page.get_by_role("button", name="offline")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-live", "offline")
    expect(page.get_by_role("link", name="default/shop")).to_be_visible()
    tab.screenshot("ensembles-offline")
    assert tab.findings() == []
    page.unroute_all()
    page.get_by_role("button", name="offline").click()
    tab.wait_until_live()
