"""Page 7: forms made of declarations; findings at their fields as one types; each ends in a plan."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opens
from tests.support.browsing import NARROW, WIDE
from tests.support.workshop import E, Workshop, package

Shop = tuple[Workshop, Opens]
PLAN = re.compile(r"/plans/pl_")


def test_inputs_are_asked_as_they_are_declared(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    tab = opens("ann")
    page = tab.page
    for size, scheme in tab.looks(f"/e/default/{name}/deploy"):
        port = page.get_by_label("port", exact=True)
        expect(port).to_have_attribute("placeholder", "8080")
        expect(page.get_by_text("integer, in range 1024 to 65535")).to_be_visible()
        expect(page.get_by_label("size", exact=True).get_by_role("option")).to_have_text(["small", "small", "large"])
        port.fill("80")
        expect(page.locator(".field", has=port).locator(".field-findings")).to_contain_text("1024")
        expect(port).to_have_attribute("aria-invalid", "true")
        tab.screenshot(f"deploy-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0
        port.fill("8081")
        expect(page.locator(".field", has=port).locator(".field-findings")).to_have_count(0)


def test_a_form_by_keys_alone_ends_in_its_plan(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    page = opens("ann").open(f"/e/default/{name}/deploy?input.port=9090&comment=by%20keys")
    expect(page.get_by_label("port", exact=True)).to_have_value("9090")
    expect(page.get_by_label("Comment")).to_have_value("by keys")
    page.get_by_label("port", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_url(PLAN)
    expect(page.get_by_text("4 made")).to_be_visible()
    expect(page.get_by_text("“by keys”")).to_be_visible()
    page.get_by_role("tab", name="Inputs").click()
    expect(page.get_by_role("row").filter(has_text="port")).to_contain_text("9090")


def test_lists_and_maps_are_given_by_rows(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    page = opens("ann").open(f"/e/default/{name}/deploy")
    page.get_by_label("hosts", exact=True).fill("one")
    page.get_by_role("button", name="Add a row to hosts").click()
    page.get_by_label("hosts, row 2").fill("8")
    page.get_by_label("limits", exact=True).fill("web")
    page.get_by_label("limits, value 1").fill("many")
    field = page.locator(".field", has=page.get_by_label("limits", exact=True))
    expect(field.locator(".field-findings")).to_contain_text("integer")
    page.get_by_label("limits, value 1").fill("4")
    expect(field.locator(".field-findings")).to_have_count(0)
    page.get_by_role("button", name="Make the plan").click()
    page.wait_for_url(PLAN)
    page.get_by_role("tab", name="Inputs").click()
    expect(page.get_by_role("row").filter(has_text="hosts")).to_contain_text('["one","8"]')
    expect(page.get_by_role("row").filter(has_text="limits")).to_contain_text('{"web":4}')


def test_a_sensitive_input_is_a_secret_by_name_and_never_shown(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    workshop.admin.do("PUT", f"{E}/{name}/secrets/db-password", {"value": "the-secret-of-the-shop"})
    tab = opens("ann")
    page = tab.open(f"/e/default/{name}/deploy")
    page.get_by_label("password", exact=True).select_option("db-password")
    page.get_by_role("button", name="Make the plan").click()
    page.wait_for_url(PLAN)
    page.get_by_role("tab", name="Inputs").click()
    expect(page.get_by_role("row").filter(has_text="password")).to_contain_text("sensitive")
    assert "the-secret-of-the-shop" not in page.content()


def test_a_workflow_is_asked_with_what_the_address_says(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.deployed()
    tab = opens("ann")
    page = tab.open(f"/e/default/{name}/ask/heal?instances=web_1&reinstall=true")
    expect(page.get_by_label("Names (needed)")).to_have_value("web_1")
    expect(page.get_by_label("Reinstall")).to_be_checked()
    tab.screenshot("ask-heal")
    assert tab.findings() == []
    page.get_by_role("button", name="Make the plan").click()
    page.wait_for_url(PLAN)
    expect(page.get_by_role("row").filter(has_text="web_1")).to_contain_text("replace")


@pytest.mark.parametrize("workflow", ["scale", "run", "workflow", "notify", "rollback", "retry", "skip", "undeploy"])
def test_each_workflow_has_a_form(shop: Shop, workflow: str) -> None:
    workshop, opens = shop
    name = workshop.deployed()
    tab = opens("ann", size=NARROW if workflow == "run" else WIDE)
    page = tab.open(f"/e/default/{name}/ask/{workflow}")
    expect(page.get_by_role("heading", level=2, name=workflow.title())).to_be_visible()
    expect(page.locator("form.ask button[type=submit]")).to_be_visible()
    tab.screenshot(f"ask-{workflow}")
    assert tab.findings() == []
    assert tab.widest() <= 0


def test_scaling_is_asked_by_numbers(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.deployed()
    page = opens("ann").open(f"/e/default/{name}/ask/scale?counts=front=3")
    expect(page.get_by_label("Counts, number 1")).to_have_value("3")
    page.get_by_role("button", name="Make the plan").click()
    page.wait_for_url(PLAN)
    expect(page.get_by_text("4 made")).to_be_visible()


def test_a_workflow_of_the_template_asks_for_its_inputs(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.deployed()
    page = opens("ann").open(f"/e/default/{name}/ask/workflow")
    page.get_by_label("Workflow (needed)").select_option("greet")
    expect(page.get_by_text("Say hello to somebody")).to_be_visible()
    page.get_by_label("whom (needed)").fill("the world")
    page.get_by_role("button", name="Make the plan").click()
    page.wait_for_url(PLAN)
    expect(page.get_by_role("heading", level=2, name="Workflow")).to_be_visible()


def test_what_the_server_refuses_is_told_above_the_form(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.deployed()
    tab = opens("ann")
    tab.expected.append("error: Failed to load resource")
    page = tab.open(f"/e/default/{name}/ask/start")
    page.get_by_role("button", name="Make the plan").click()
    expect(page.get_by_role("alert")).to_contain_text("say what to start")
    expect(page.get_by_role("button", name="Make the plan")).to_be_enabled()


def test_a_package_is_sent_and_an_ensemble_made_of_it(shop: Shop, tmp_path: Path) -> None:
    _, opens = shop
    archive = tmp_path / "shop.csar"
    archive.write_bytes(package("3.0"))
    tab = opens("ann")
    page = tab.open("/p/default/new?name=from-a-file")
    # Before it is known who is signed in nothing can be sent.
    expect(page.get_by_label("Or send a .csar file")).to_be_enabled()
    page.get_by_label("Or send a .csar file").set_input_files(archive)
    expect(page.get_by_label("Package")).not_to_have_value("")
    tab.screenshot("new-ensemble")
    assert tab.findings() == []
    page.get_by_role("button", name="Make the ensemble").click()
    page.wait_for_url(re.compile("/ask/deploy"))
    expect(page.get_by_label("port", exact=True)).to_be_visible()


def test_a_package_says_what_differs_from_what_is_deployed(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.deployed()
    back = "back: { type: tosca.nodes.Compute }"
    other = package("4.0", **{back: f"{back}\n    queue: {{ type: tosca.nodes.Compute }}"})
    workshop.send(other, "shop:4.0")
    tab = opens("ann")
    page = tab.open(f"/e/default/{name}/ask/upgrade")
    expect(page.get_by_role("option", name=re.compile("shop:4.0"))).to_be_attached()
    page.get_by_label("Package").select_option(
        label=page.get_by_role("option", name=re.compile("shop:4.0")).inner_text()
    )
    page.get_by_text("What differs from what is deployed").click()
    expect(page.locator(".ask-differs")).to_contain_text(re.compile("nodes? differs?: .*queue"))
    tab.screenshot("upgrade-differs")
    assert tab.findings() == []


def test_whoever_may_only_read_is_told_who_gives_the_permission(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    tab = opens("vera")
    tab.expected.append("error: Failed to load resource")
    page = tab.open(f"/e/default/{name}/deploy")
    expect(page.get_by_role("alert").filter(has_text="You may not make plans here")).to_contain_text("owners")
    expect(page.get_by_role("button", name="Make the plan")).to_be_disabled()
