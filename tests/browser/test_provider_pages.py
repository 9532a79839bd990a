"""Signing in by a provider, in a browser: the button, the way back, and what people read when it does not work."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browsing import Tab, open_tab
from tests.support.provider import Provider
from tests.support.serving import MANY_REQUESTS, Served


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider() as made:
        yield made


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[Served]:
    settings = MANY_REQUESTS + provider.settings(label="the house", passwords=False)
    with Served(tmp_path_factory.mktemp("home"), settings=settings) as server:
        yield server


@pytest.fixture
def tab(browser: Browser, place: Served) -> Iterator[Tab]:
    """A tab in which nobody is signed in."""
    made = open_tab(browser, place.url)
    yield made
    made.close()


def test_one_button_leads_there_and_back(tab: Tab) -> None:
    tab.expected.append("error: Failed to load resource: the server responded with a status of 401")
    page = tab.open("/device")
    expect(page).to_have_url(tab.url + "/sign-in?return=%2Fdevice")
    expect(page.get_by_label("Password")).to_have_count(0)
    assert tab.findings() == []
    page.get_by_role("link", name="Sign in by the house").click()
    expect(page.get_by_role("heading", name="Confirm a code")).to_be_visible()
    page.get_by_role("button", name="ann, menu").click()
    expect(page.get_by_role("menuitem", name="Sign out")).to_be_visible()


def test_who_is_not_taken_reads_why(tab: Tab, provider: Provider) -> None:
    provider.say(claims={"exp": 1})
    page = tab.open("/sign-in")
    page.get_by_role("link", name="Sign in by the house").click()
    provider.say()
    expect(page.get_by_role("alert")).to_contain_text("its word does not hold")
    assert tab.findings() == []
    # Others can write addresses of this page, and nothing that these say is shown.
    page = tab.open("/sign-in?problem=call+0900+1234")
    expect(page.get_by_role("link", name="Sign in by the house")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
