"""Packages: the list, sending one, what is in one, and what can be done with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ADMIN, VIEWER, Opens
from tests.browser.team import NEWER, archive, make_team
from tests.support.browsing import NARROW, WIDE
from tests.support.serving import Client

PROJECT = "packed"
TABS = ["files", "inputs", "nodes", "graph", "types", "workflows"]


@pytest.fixture(scope="session", autouse=True)
def team(admin: Client) -> None:
    make_team(admin, PROJECT)


def digest_of(admin: Client, label: str) -> str:
    return str(admin.get(f"projects/{PROJECT}/packages/{label}")["digest"])


def test_the_list_shows(opens: Opens) -> None:
    tab = opens(ADMIN)
    page = tab.page
    for size, scheme in tab.looks(f"/p/{PROJECT}/packages"):
        expect(page.get_by_role("row").filter(has_text="shop:2.0")).to_contain_text("shop 2.0")
        tab.screenshot(f"packages-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0


@pytest.mark.parametrize("part", TABS)
def test_a_package_shows(opens: Opens, admin: Client, part: str) -> None:
    tab = opens(ADMIN)
    page = tab.page
    address = f"/p/{PROJECT}/packages/{digest_of(admin, 'shop:1.0')}?tab={part}"
    for size, scheme in tab.looks(address, [(WIDE, "light"), (NARROW, "dark")]):
        expect(page.get_by_role("heading", name="shop 1.0")).to_be_visible()
        expect(page.get_by_role("link", name="prod", exact=True)).to_be_visible()
        expect(page.get_by_role("tabpanel").locator(".table, .code, svg, .empty").first).to_be_attached()
        tab.screenshot(f"package-{part}-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0


def test_the_project_is_chosen_where_there_are_several(opens: Opens, admin: Client) -> None:
    # In `default` other tests may have left some.
    admin.do("POST", "projects", {"name": "bare"})
    bindings = {"bindings": [{"kind": "user", "who": ADMIN, "role": "owner"}]}
    admin.do("PUT", "projects/bare/bindings", bindings, {"If-Match": "*"})
    page = opens(ADMIN).open("/packages")
    page.get_by_role("combobox", name="Project").select_option("bare")
    expect(page.get_by_role("heading", name="There are no packages yet")).to_be_visible()
    page.get_by_role("combobox", name="Project").select_option(PROJECT)
    expect(page.get_by_role("row").filter(has_text="shop:2.0")).to_be_visible()
    expect(page).to_have_url(re.compile(f"project={PROJECT}"))


def test_an_archive_is_sent_labelled_and_removed(opens: Opens, tmp_path: Path) -> None:
    file = tmp_path / "shop.csar"
    file.write_bytes(archive(NEWER + "echo and more\n", "3.0"))
    tab = opens(ADMIN)
    page = tab.open(f"/p/{PROJECT}/packages")
    page.get_by_label("Label").fill("shop:3.0-dev")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_role("heading", name="shop 3.0")).to_be_visible()
    expect(page.get_by_text("shop:3.0-dev")).to_be_visible()
    page.get_by_role("button", name="Label", exact=True).click()
    page.get_by_label("Label", exact=True).fill("shop:3.0")
    page.get_by_role("button", name="Set the label").click()
    expect(page.get_by_text("shop:3.0", exact=True)).to_be_visible()
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    page.wait_for_url(f"**/p/{PROJECT}/packages")
    expect(page.get_by_role("row").filter(has_text="shop:2.0")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="shop:3.0")).to_have_count(0)


def test_what_is_no_archive_is_refused(opens: Opens, tmp_path: Path) -> None:
    file = tmp_path / "shop.csar"
    file.write_bytes(b"no archive at all")
    tab = opens(ADMIN)
    tab.expected.append("error: Failed to load resource")
    page = tab.open(f"/p/{PROJECT}/packages")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_role("alert")).to_contain_text("The package was not taken")
    assert tab.findings() == []


def test_a_package_that_is_needed_stays(opens: Opens, admin: Client) -> None:
    tab = opens(ADMIN)
    tab.expected.append("error: Failed to load resource")
    page = tab.open(f"/p/{PROJECT}/packages/{digest_of(admin, 'shop:1.0')}")
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("is needed by")


def test_it_is_validated_with_inputs(opens: Opens, admin: Client) -> None:
    tab = opens(ADMIN)
    page = tab.open(f"/p/{PROJECT}/packages/{digest_of(admin, 'shop:1.0')}")
    page.get_by_role("button", name="Validate").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Validate").click()
    expect(dialog.get_by_text("it can be deployed")).to_be_visible()
    dialog.get_by_label("Inputs").fill('{"prt": 80}')
    dialog.get_by_role("button", name="Validate").click()
    expect(dialog.get_by_text("it cannot be deployed")).to_be_visible()
    expect(dialog.get_by_text("prt").first).to_be_visible()
    assert tab.findings() == []


def test_it_leads_to_a_new_ensemble(opens: Opens, admin: Client) -> None:
    digest = digest_of(admin, "shop:2.0")
    page = opens(ADMIN).open(f"/p/{PROJECT}/packages/{digest}")
    link = page.get_by_role("link", name="Deploy as a new ensemble")
    expect(link).to_have_attribute("href", f"/p/{PROJECT}/new?package={digest}")


def test_who_may_only_read_is_told_why_not(opens: Opens, admin: Client) -> None:
    page = opens(VIEWER).open(f"/p/{PROJECT}/packages/{digest_of(admin, 'shop:2.0')}")
    remove = page.get_by_role("button", name="Remove")
    expect(remove).to_have_attribute("aria-disabled", "true")
    expect(remove).to_have_attribute("title", re.compile('needs the permission "deploy"'))
    expect(page.get_by_role("link", name="Download")).to_be_visible()


def test_files_have_lines_with_addresses(opens: Opens, admin: Client) -> None:
    tab = opens(ADMIN)
    page = tab.open(f"/p/{PROJECT}/packages/{digest_of(admin, 'shop:2.0')}")
    chosen = page.get_by_role("navigation", name="Files").locator("[aria-current]")
    expect(chosen).to_have_text(re.compile("^service.yaml"))
    page.get_by_role("link", name="scripts/say.sh").click()
    page.get_by_role("link", name="line 3").click()
    expect(page).to_have_url(re.compile(r"line=3"))
    page.reload()
    expect(page.locator("[data-line='3']")).to_have_attribute("data-chosen", "true")
    expect(page.locator("[data-line='3']")).to_contain_text("echo selling")
    page.keyboard.press("/")
    page.keyboard.type("MORE")
    expect(page.get_by_text("1 line", exact=True)).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("[data-line='4'] mark")).to_have_text("more")
    expect(page).to_have_url(re.compile(r"line=4"))
    assert tab.findings() == []


def test_types_are_explained_where_they_are_named(opens: Opens, admin: Client) -> None:
    tab = opens(ADMIN)
    page = tab.open(f"/p/{PROJECT}/packages/{digest_of(admin, 'shop:2.0')}")
    page.get_by_role("button", name="Shop").focus()
    about = page.get_by_role("complementary", name="The type Shop")
    expect(about).to_contain_text("Sells things.")
    expect(about).to_contain_text("tosca.nodes.SoftwareComponent")
    tab.screenshot("package-type-1440-light")
    assert tab.findings() == []


def test_a_hundred_thousand_lines_scroll(opens: Opens, admin: Client) -> None:
    tab = opens(ADMIN)
    text = "\n".join(f"line{n}: {n}" for n in range(1, 100_001))
    file = {"format": "ordito.packages-file/1", "file": "service.yaml", "size": len(text), "text": text}
    tab.answers(f"/projects/{PROJECT}/packages/**/files/service.yaml", {**file, "executable": False})
    page = tab.open(f"/p/{PROJECT}/packages/{digest_of(admin, 'shop:2.0')}?line=90000")
    expect(page.locator("[data-line='90000']")).to_be_in_viewport()
    assert page.locator(".code-row").count() < 300
    tab.screenshot("package-huge-1440-light")


def test_ten_thousand_packages_are_listed(opens: Opens) -> None:
    line = {"labels": ["shop:1"], "name": "shop", "version": "1", "size": 1, "nodes": 1, "by": "ann"}
    items = [{**line, "digest": f"{n:064x}", "created": "2026-11-27T21:00:00.000Z"} for n in range(10_000)]
    tab = opens(ADMIN)
    tab.answers(f"/projects/{PROJECT}/packages", {"items": items, "next": None})
    page = tab.open(f"/p/{PROJECT}/packages")
    expect(page.get_by_role("table", name="Packages")).to_have_attribute("aria-rowcount", "10001")


def test_an_unknown_project_is_said(opens: Opens) -> None:
    tab = opens(ADMIN)
    tab.expected.append("error: Failed to load resource")
    page = tab.open("/p/nothing/packages")
    expect(page.get_by_role("alert")).to_contain_text("nothing")
