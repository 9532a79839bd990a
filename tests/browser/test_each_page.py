"""What every page does alike: what is refused says so in its place, and very many rows are drawn as they show."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ADMIN, Opens
from tests.support.serving import Client

E, P = "/projects/default/ensembles/shop", "/projects/default"
SHOP, SETTINGS = "/e/default/shop", "/e/default/shop/settings?tab="
READS = {
    "/": "/ensembles",
    "/jobs": "/jobs",
    SHOP: f"{E}/topology",
    f"{SHOP}/jobs": f"{E}/jobs",
    f"{SHOP}/plans": f"{E}/plans",
    f"{SHOP}/policies": f"{E}/policies",
    f"{SHOP}/revisions": f"{E}/revisions",
    f"{SHOP}/jobs/latest": f"{E}/jobs/latest",
    f"{SETTINGS}spec": f"{E}/spec",
    f"{SETTINGS}inventory": f"{E}/inventory",
    f"{SETTINGS}secrets": f"{E}/secrets",
    f"{SETTINGS}rules": f"{E}/rules",
    f"{SETTINGS}schedules": f"{E}/schedules",
    f"{SETTINGS}webhooks": f"{P}/webhooks",
    f"{SETTINGS}members": f"{P}/bindings",
    "/p/default/packages": f"{P}/packages",
    "/p/default/settings?tab=accounts": f"{P}/accounts",
    "/admin?tab=users": "/users",
    "/admin?tab=groups": "/groups",
    "/admin?tab=projects": "/projects",
    "/admin?tab=audit": "/audit",
    "/me": "/me/tokens",
}
"""By the address of a page what it cannot do without."""

REFUSED = [
    (500, "internal", "the disk does not answer", "ask who runs the server"),
    (403, "forbidden", 'this needs the permission "read"', "ask the owners of default for a role that has it"),
]
MANY = 10_000


@pytest.mark.parametrize("address", READS)
def test_a_part_that_is_refused_says_so_in_its_place(opens: Opens, address: str) -> None:
    for status, code, detail, hint in REFUSED:
        tab = opens(ADMIN)
        tab.refuses(READS[address], status, code, detail, hint)
        page = tab.open(address)
        alert = page.get_by_role("alert").filter(has_text=detail)
        expect(alert.first).to_contain_text(hint)
        expect(page.get_by_role("navigation", name="Main")).to_be_visible()
        expect(page.get_by_role("heading", level=1).first).to_be_visible()
        assert tab.findings() == []
        assert tab.widest() <= 0


def rows_of(data: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """The rows of an answer, and what they are called."""
    return next((name, rows) for name, rows in data.items() if isinstance(rows, list) and rows)


@pytest.mark.parametrize(
    ("address", "path", "key"),
    [(f"{SHOP}/jobs", f"{E}/jobs", "id"), (f"{SHOP}/revisions", f"{E}/revisions", "revision"),
     (f"{SETTINGS}secrets", f"{E}/secrets", ""), (f"{SETTINGS}members", f"{P}/bindings", "who")],
)  # fmt: skip
def test_ten_thousand_rows_are_drawn_as_they_show(
    opens: Opens, admin: Client, address: str, path: str, key: str
) -> None:
    data = {"secrets": ["none"]} if not key else admin.get(path[1:])
    name, rows = rows_of(data)
    many: list[object] = [f"secret-{number}" for number in range(MANY)]
    if key:
        many = [{**copy.deepcopy(rows[0]), key: number if key == "revision" else f"{rows[0][key]}{number}"}
                for number in range(MANY, 0, -1)]  # fmt: skip
    tab = opens(ADMIN)
    tab.answers(path, {**data, name: many})
    # Whatever else the page reads of them is not there.
    tab.answers(f"{path}/**", {"before": 1, "after": 2, "inputs": [], "nodes": [], "files": [], "unchanged": 0})
    page = tab.open(address)
    table = page.get_by_role("table").first
    expect(table).to_have_attribute("aria-rowcount", str(MANY + 1))
    assert page.get_by_role("row").count() < 200
    tab.screenshot(f"huge-{name}")
    assert tab.widest() <= 0
