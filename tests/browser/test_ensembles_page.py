"""Page 1: the ensembles, as empty, usual, huge, broken and forbidden ones show."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ADMIN, VIEWER, Opens
from tests.support.browsing import NARROW, WIDE, ZOOMED


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW, ZOOMED], ids=["wide", "narrow", "zoomed"])
def test_it_shows_what_is_deployed(opens: Opens, scheme: str, size: tuple[int, int]) -> None:
    tab = opens(ADMIN, size=size, scheme=scheme)
    page = tab.open("/")
    row = page.get_by_role("row").filter(has_text="shop")
    expect(row).to_contain_text("ok")
    tab.wait_until_live()
    tab.screenshot(f"ensembles-{size[0]}-{scheme}")
    assert tab.findings() == []
    assert tab.widest() <= 0


def test_whoever_may_only_read_sees_the_same(opens: Opens) -> None:
    page = opens(VIEWER).open("/")
    expect(page.get_by_role("row").filter(has_text="shop")).to_be_visible()
