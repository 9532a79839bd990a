"""Page 3: plans, from being made to their job; decided in the browser alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opens
from tests.support.workshop import E, Workshop

Shop = tuple[Workshop, Opens]


def test_a_plan_says_what_happens_and_why(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    plan = workshop.plan(name, {"workflow": "deploy"}, comment="the first one")
    tab = opens("ann")
    page = tab.page
    for size, scheme in tab.looks(f"/e/default/{name}/plans/{plan['id']}"):
        expect(page.get_by_text("4 made")).to_be_visible()
        expect(page.get_by_text("valid: nothing has changed since")).to_be_visible()
        expect(page.get_by_text("“the first one”")).to_be_visible()
        row = page.get_by_role("row").filter(has_text="web_1")
        expect(row).to_contain_text("create")
        expect(row).to_contain_text("service.yaml")
        tab.wait_until_live()
        tab.screenshot(f"plan-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0


@pytest.mark.parametrize("part", ["order", "graph", "inputs", "file"])
def test_each_part_of_a_plan_shows(shop: Shop, part: str) -> None:
    workshop, opens = shop
    name = workshop.make()
    plan = workshop.plan(name, {"workflow": "deploy", "input_texts": {"port": "9090"}})
    tab = opens("ann")
    page = tab.open(f"/e/default/{name}/plans/{plan['id']}?tab={part}")
    panel = page.get_by_role("tabpanel")
    told = {"order": "say.sh", "graph": "web", "inputs": "9090", "file": plan["digest"]}[part]
    expect(panel.get_by_text(told).last).to_be_visible()
    tab.screenshot(f"plan-{part}")
    assert tab.findings() == []
    expect(page.get_by_text("canary-of-the-workshop")).to_have_count(0)


def test_the_graph_is_moved_and_made_larger_as_the_topology_is(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    plan = workshop.plan(name, {"workflow": "deploy"})
    tab = opens("ann")
    page = tab.open(f"/e/default/{name}/plans/{plan['id']}?tab=graph")
    frame, content = page.get_by_role("group", name="Picture of the plan"), page.locator(".stage-content")
    expect(content).to_have_css("transform", re.compile(r"^matrix\(1, 0, 0, 1, "))
    fitted = str(content.get_attribute("style"))
    page.keyboard.press("+")
    expect(content).to_have_css("transform", re.compile(r"^matrix\(1\.25, "))
    page.keyboard.press("1")
    expect(content).to_have_css("transform", re.compile(r"^matrix\(1, "))
    page.get_by_role("button", name="Smaller").click()
    expect(content).to_have_css("transform", re.compile(r"^matrix\(0\.8, "))
    page.keyboard.press("f")
    expect(content).to_have_attribute("style", fitted)
    frame.focus()
    page.keyboard.press("ArrowRight")
    expect(content).not_to_have_attribute("style", fitted)
    page.get_by_role("button", name="Fit").click()
    frame.hover(position={"x": 90, "y": 90})
    page.mouse.down()
    frame.hover(position={"x": 40, "y": 60})
    page.mouse.up()
    expect(content).not_to_have_attribute("style", fitted)
    moved = str(content.get_attribute("style"))
    frame.hover(position={"x": 40, "y": 40})
    page.mouse.wheel(0, 30)
    expect(content).not_to_have_attribute("style", moved)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    expect(content).to_have_css("transform", re.compile(r"^matrix\(2, "))


def test_a_plan_is_asked_for_again_as_it_was_but_for_secrets(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    workshop.admin.do("PUT", f"{E}/{name}/secrets/db-password", {"value": "the-secret-of-the-shop"})
    inputs = {"limits": {"web": 4}, "password": "typed-and-never-shown"}
    request = {"workflow": "deploy", "force": True, "inputs": inputs, "input_texts": {"port": "9090", "hosts": "[a]"}}
    more = {"options": {"parallel": 3}, "comment": "as before", "bind": "latest"}
    plan = workshop.plan(name, request, "ben", **more)
    workshop.admin.do("POST", f"{E}/{name}/plans/{plan['id']}/discard")
    tab = opens("ann")
    page = tab.open(f"/e/default/{name}/plans/{plan['id']}")
    page.get_by_role("link", name="Plan again").click()
    expect(page.get_by_label("port", exact=True)).to_have_value("9090")
    expect(page.get_by_label("hosts", exact=True)).to_have_value("[a]")
    expect(page.get_by_label("limits, value 1")).to_have_value("4")
    expect(page.get_by_label("Comment")).to_have_value("as before")
    expect(page.get_by_text("not filled in again: password")).to_be_visible()
    tab.screenshot("ask-again")
    assert tab.findings() == []
    page.get_by_text("Further options").click()
    expect(page.get_by_label("Force")).to_be_checked()
    page.get_by_text("How the job runs").click()
    expect(page.get_by_label("Parallel")).to_have_value("3")
    expect(page.get_by_label("Plan anew on its turn")).to_be_checked()
    assert "typed-and-never-shown" not in page.content()
    page.get_by_role("button", name="Make the plan").click()
    page.wait_for_url(re.compile(r"/plans/pl_"))
    page.get_by_role("tab", name="Inputs").click()
    expect(page.get_by_role("row").filter(has_text="port")).to_contain_text("9090")
    expect(page.get_by_role("row").filter(has_text="hosts")).to_contain_text('["a"]')


def test_what_is_at_risk_wants_the_name_typed(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.deployed()
    plan = workshop.plan(name, {"workflow": "undeploy"})
    tab = opens("ann")
    page = tab.open(f"/e/default/{name}/plans/{plan['id']}")
    expect(page.get_by_role("list", name="Risks")).to_contain_text("removes instances")
    page.get_by_role("button", name="Apply…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("4 removed")
    apply = dialog.get_by_role("button", name=f"Apply to default/{name}")
    expect(apply).to_be_disabled()
    tab.screenshot("plan-apply")
    assert tab.findings() == []
    dialog.get_by_role("textbox").fill(f"default/{name}")
    apply.click()
    expect(page.get_by_role("link", name="See the job")).to_be_visible()
    expect(page.locator(".plan-head")).to_contain_text("job ok")


def test_another_one_approves_and_the_page_follows(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    workshop.needs_approval(name, "deploy")
    plan = workshop.plan(name, {"workflow": "deploy"}, "ben")
    author, approver = opens("ben"), opens("cy")
    page = author.open(f"/e/default/{name}/plans/{plan['id']}")
    approve = page.get_by_role("button", name="Approve…")
    expect(approve).to_have_attribute("aria-disabled", "true")
    page.get_by_role("button", name="Apply once approved…").click()
    page.get_by_role("dialog").get_by_role("button", name="Apply once approved").click()
    expect(page.locator(".plan-head")).to_contain_text("waits for approval")
    author.screenshot("plan-waiting")
    other = approver.open(f"/e/default/{name}/plans/{plan['id']}")
    other.get_by_role("button", name="Approve…").click()
    other.get_by_role("dialog").get_by_role("button", name="Approve").click()
    expect(page.get_by_role("list", name="Approvals")).to_contain_text("approved by cy")
    expect(page.get_by_role("link", name="See the job")).to_be_visible()


def test_a_rejected_plan_says_by_whom_and_why(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    workshop.needs_approval(name, "deploy")
    plan = workshop.plan(name, {"workflow": "deploy"}, "ben", apply="auto")
    page = opens("cy").open(f"/e/default/{name}/plans/{plan['id']}")
    page.get_by_role("button", name="Reject…").click()
    page.get_by_role("dialog").get_by_label("Comment").fill("not on a Friday")
    page.get_by_role("dialog").get_by_role("button", name="Reject").click()
    expect(page.get_by_role("list", name="Approvals")).to_contain_text("rejected by cy")
    expect(page.get_by_role("list", name="Approvals")).to_contain_text("not on a Friday")
    expect(page.get_by_role("link", name="Plan again")).to_be_visible()


def test_a_frozen_queue_says_what_holds_it(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    workshop.admin.do("PUT", f"{E}/{name}/freeze", {"reason": "the disks are replaced"})
    plan = workshop.plan(name, {"workflow": "deploy"}, apply="auto")
    tab = opens("ann")
    page = tab.open(f"/e/default/{name}/plans/{plan['id']}")
    expect(page.locator(".plan-where")).to_contain_text("held by a freeze: the disks are replaced")
    tab.screenshot("plan-frozen")
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    expect(page.locator(".plan-head")).to_contain_text("discarded")


def test_a_refused_plan_tells_its_findings(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    plan = workshop.plan(name, {"workflow": "deploy", "input_texts": {"port": "80"}})
    assert plan["state"] == "refused"
    tab = opens("ann")
    page = tab.open(f"/e/default/{name}/plans/{plan['id']}")
    expect(page.get_by_role("alert")).to_contain_text("1024")
    expect(page.get_by_role("link", name="Plan again")).to_be_visible()
    tab.screenshot("plan-refused")
    assert tab.findings() == []


def test_a_plan_moved_on_since_a_job_has_run(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.deployed()
    plan = workshop.plan(name, {"workflow": "restart", "names": ["web"]})
    tab = opens("ann")
    page = tab.open(f"/e/default/{name}/plans/{plan['id']}")
    expect(page.get_by_text("valid: nothing has changed since")).to_be_visible()
    tab.wait_until_live()
    workshop.carry_out(name, {"workflow": "restart", "names": ["store"]})
    expect(page.get_by_text("moved on: a job has run since")).to_be_visible()


def test_ten_thousand_changes_are_read_page_by_page(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    plan = workshop.plan(name, {"workflow": "deploy"})
    part = f"/{E}/{name}/plans/{plan['id']}/plan"
    head = workshop.admin.get(part[1:], part="head")
    one = {"symbol": "+", "class": "", "declared": "service.yaml:4:5", "differences": [], "cause": ""}
    # Each has a reason of its own: nothing can be put together.
    items = [{**one, "instance": f"web_{n}", "reason": f"{n} are wanted"} for n in range(10_000)]
    tab = opens("ann")
    tab.page.route(f"{tab.url}/api/v1{part}?part=head", lambda route: route.fulfill(json=head))
    tab.page.route(
        f"{tab.url}/api/v1{part}?part=changes**", lambda route: route.fulfill(json={"items": items, "next": "more"})
    )
    page = tab.open(f"/e/default/{name}/plans/{plan['id']}")
    expect(page.get_by_text("The first 10,000 changes are read.")).to_be_visible()
    assert page.get_by_role("row").count() < 200
    page.get_by_label("Filter the changes").fill("web_9999")
    expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_label("Filter the changes").fill("")
    tab.screenshot("plan-huge")


def test_a_part_that_cannot_be_read_leaves_the_rest(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    plan = workshop.plan(name, {"workflow": "deploy"})
    tab = opens("ann")
    tab.refuses(f"/{E}/{name}/plans/{plan['id']}/plan", 410, "forgotten", "this is not there", "plan again")
    page = tab.open(f"/e/default/{name}/plans/{plan['id']}")
    expect(page.get_by_role("alert")).to_contain_text("this is not there")
    expect(page.get_by_role("button", name="Apply…")).to_be_visible()
    assert tab.findings() == []


def test_a_plan_that_is_not_there_is_told(shop: Shop) -> None:
    workshop, opens = shop
    tab = opens("ann")
    tab.expected.append("error: Failed to load resource")
    page = tab.open(f"/e/default/{workshop.make()}/plans/pl_{'0' * 26}")
    expect(page.get_by_role("alert")).to_contain_text("there is no plan")


def test_without_the_server_nothing_can_be_decided(shop: Shop) -> None:
    workshop, opens = shop
    name = workshop.make()
    plan = workshop.plan(name, {"workflow": "deploy"})
    tab = opens("ann")
    tab.refuses("/events", 503, "draining", "the server is about to stop")
    page = tab.open(f"/e/default/{name}/plans/{plan['id']}")
    expect(page.get_by_role("button", name="Apply…")).to_have_attribute("aria-disabled", "true")
    expect(page.get_by_role("row").filter(has_text="web_1")).to_be_visible()
