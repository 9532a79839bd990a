"""Page 2: the topology of an ensemble, as empty, usual, huge, broken and forbidden ones show, and while a job runs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from ordito.app.status import InstanceStatus
from ordito.authoring.graph import Graph, GraphConnection, GraphNode
from ordito.instances.records import Instance
from ordito.results.picture.topology import TopologyAsked, TopologyData, topology_data
from tests.browser.conftest import ADMIN, VIEWER, Opens, command, deployed_apart, ordito
from tests.support.browsing import WIDE, Tab, cookie_of, open_tab
from tests.support.serving import Client, Served

SHOP = "/e/default/shop"

NESTED = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Machine:
    derived_from: tosca.nodes.Root
    capabilities: { host: { type: tosca.capabilities.Container } }
    interfaces: { Standard: { operations: { create: say.sh } } }
  Program:
    derived_from: tosca.nodes.Root
    requirements:
      - host: { capability: tosca.capabilities.Container, node: Machine, relationship: tosca.relationships.HostedOn }
    properties: { port: { type: integer, default: 8080 } }
    interfaces: { Standard: { operations: { create: say.sh, start: say.sh } } }
topology_template:
  node_templates:
    front: { type: Machine }
    web: { type: Program, requirements: [ host: front, dependency: store ] }
    a-program-with-a-name-that-goes-on-and-on: { type: Program, requirements: [ host: front ] }
    back: { type: Machine }
    store: { type: Program, requirements: [ host: back ] }
"""


@pytest.fixture(scope="module")
def nested(served: Served, admin: Client, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of an ensemble with boxes in boxes, in which one operation has failed."""
    place = tmp_path_factory.mktemp("nested")
    ensemble = deployed_apart(place, "nested", NESTED)
    (place / "failing").touch()
    assert ordito(ensemble, "restart", "web").returncode == 1
    admin.do("POST", "projects/default/ensembles", {"name": "nested", "path": str(ensemble)})
    return "/e/default/nested"


def test_it_shows_what_exists(opens: Opens, nested: str) -> None:
    tab = opens(ADMIN)
    page = tab.page
    for size, scheme in tab.looks(nested):
        tab.wait_until_live()
        if size == WIDE:
            expect(page.get_by_role("button", name="web, Program, 1 unknown")).to_be_visible()
            expect(page.locator('[data-box="web"] canvas')).to_be_visible()
        else:
            expect(page.get_by_role("row").filter(has_text="web_1")).to_contain_text("unknown")
        expect(page.get_by_role("group", name="Instances by status")).to_contain_text("1 unknown")
        tab.screenshot(f"topology-{size[0]}-{scheme}")
        assert tab.findings() == []
        assert tab.widest() <= 0


def test_an_instance_tells_why_it_failed_and_what_can_be_done(opens: Opens, nested: str) -> None:
    tab = opens(ADMIN)
    page = tab.open(nested)
    page.get_by_role("button", name="web, Program, 1 unknown").click()
    panel = page.get_by_role("region", name="What is chosen")
    expect(panel.get_by_role("heading", level=2)).to_have_text("web")
    panel.get_by_role("button", name="web_1").click()
    expect(page).to_have_url(re.compile(r"\?instance=web_1$"))
    expect(panel).to_contain_text("Standard.start failed")
    expect(panel.get_by_role("link", name="Log", exact=True)).to_have_attribute(
        "href", re.compile(r"/jobs/\w+/log\?step=web_1\.Standard\.start$")
    )
    heal = panel.get_by_role("link", name="Heal web_1")
    expect(heal).to_have_attribute("href", f"{nested}/ask/heal?instances=web_1")
    expect(panel).to_contain_text("8080")
    tab.screenshot("instance")
    panel.get_by_role("tab", name="History").click()
    expect(panel.get_by_role("listitem").first).to_contain_text("exit 1")
    panel.get_by_role("tab", name="Links").click()
    panel.get_by_role("button", name="store_1").click()
    expect(panel.get_by_role("heading", level=2)).to_have_text("store_1")
    assert tab.findings() == []


def test_it_is_used_by_keys_alone(opens: Opens, nested: str) -> None:
    tab = opens(ADMIN, moves=False)
    page = tab.open(nested)
    expect(page.get_by_role("button", name="web, Program, 1 unknown")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("node:web")
    page.keyboard.press("Enter")
    panel = page.get_by_role("region", name="What is chosen")
    expect(panel.get_by_role("heading", level=2)).to_have_text("web_1")
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    table = page.get_by_role("table", name="Instances")
    expect(table.get_by_role("row", name=re.compile("web_1"))).to_have_class("chosen")
    expect(table.get_by_role("row")).to_have_count(2)
    expect(panel.get_by_role("link", name="Heal web_1")).to_be_visible()
    page.keyboard.press(".")
    expect(page.get_by_role("menuitem", name="Restart")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    expect(page.locator('[data-box="web"]')).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel.get_by_role("heading", level=2)).to_contain_text("Not well")


def test_boxes_are_folded_and_opened(opens: Opens, nested: str) -> None:
    page = opens(ADMIN).open(nested)
    page.get_by_role("button", name="Content of front").click()
    expect(page.locator('[data-box="web"]')).to_have_count(0)
    expect(page).to_have_url(re.compile("fold=front"))
    page.get_by_role("button", name="Content of front").click()
    expect(page.locator('[data-box="web"]')).to_be_visible()
    page.get_by_role("button", name="Fold", exact=True).click()
    page.get_by_role("menuitem", name="Everything in one box").click()
    expect(page.locator("[data-box]")).to_have_count(1)


def test_whoever_may_only_read_sees_it_and_is_told_what_is_missing(opens: Opens, nested: str) -> None:
    page = opens(VIEWER).open(f"{nested}?instance=web_1")
    heal = page.get_by_role("button", name="Heal web_1")
    expect(heal).to_have_attribute("aria-disabled", "true")
    expect(heal).to_have_accessible_description(re.compile('needs the permission "plan"'))


def test_what_cannot_be_read_is_said_in_its_place(opens: Opens, nested: str) -> None:
    tab = opens(ADMIN)
    tab.refuses("/projects/default/ensembles/nested/topology", 422, "ensemble", "the records are torn", "restore them")
    page = tab.open(nested)
    expect(page.get_by_role("alert")).to_contain_text("the records are torn")
    expect(page.locator(".ensemble-facts")).to_contain_text("revision 1")


def test_an_instance_that_is_gone_is_said_to_be(opens: Opens, nested: str) -> None:
    tab = opens(ADMIN)
    tab.expected.append("error: Failed to load resource")
    page = tab.open(f"{nested}?instance=web_9")
    expect(page.get_by_role("region", name="What is chosen").get_by_role("alert")).to_contain_text("web_9")
    expect(page.locator('[data-box="web"]')).to_be_visible()


# ------------------------------------------------------------------------------------------------------ very much


def large(machines: int, each: int) -> TopologyData:
    """A picture of machines with two servers on each, with so many instances of each node, some of them not well."""
    nodes, made = [], []
    instances: list[Any] = []
    for number in range(machines):
        nodes.append(GraphNode(f"m{number}", "tosca.nodes.Compute"))
        nodes += [GraphNode(f"{kind}{number}", f"tosca.nodes.{kind.title()}", f"m{number}") for kind in ("web", "db")]
        made.append(GraphConnection(f"web{number}", f"db{number}", "store", "tosca.relationships.ConnectsTo"))
    for node in nodes:
        for index in range(each):
            status = {5: "error", 6: "degraded"}.get(len(instances) % 97, "ok")
            host = f"{node.host}_{index + 1}" if node.host else ""
            one = Instance(f"{node.name}_{index + 1}", node.name, index, host, "started", status)
            instances.append(InstanceStatus(one, status, node.type, {}, orphaned=False))
    return topology_data(Graph("large", tuple(nodes), tuple(made), {}), TopologyAsked(), instances)


@pytest.mark.parametrize(
    ("machines", "each"), [(13, 1), (1, 3_334), (1_112, 3), (3, 11_112)], ids=["40", "10k", "many", "100k"]
)
def test_very_much_is_shown_and_found(opens: Opens, machines: int, each: int) -> None:
    """Forty boxes, ten thousand dots, thousands of nodes, a hundred thousand instances, of which some are not well."""
    data = large(machines, each)
    assert data.instances
    tab = opens(ADMIN)
    tab.answers("/projects/default/ensembles/shop/topology", data)
    tab.expected.append("error: Failed to load resource")  # what is chosen does not really exist
    page = tab.open(SHOP)
    wrong = data.instances.status.count("e")
    chip = page.get_by_role("button", name=f"{wrong:,} error", exact=True)
    expect(chip).to_be_visible()
    expect(page.locator("[data-box]")).to_have_count(len(data.boxes))
    tab.screenshot(f"topology-{machines * 3 * each}")
    chip.click()
    page.get_by_role("searchbox").press("Enter")
    first = data.instances.id[data.instances.status.index("e")]
    panel = page.get_by_role("region", name="What is chosen")
    expect(panel.get_by_role("heading", level=2)).to_have_text(first)
    page.get_by_role("button", name="Table").click()
    table = page.get_by_role("table", name="Instances")
    expect(table).to_have_attribute("aria-rowcount", str(wrong + 1))
    expect(table.get_by_role("row").filter(has=page.get_by_role("link", name=first, exact=True))).to_have_class(
        "chosen"
    )
    tab.screenshot(f"topology-table-{machines * 3 * each}")
    assert tab.findings() == []


def test_nothing_that_exists_is_said_to_be_so(opens: Opens) -> None:
    tab = opens(ADMIN)
    empty = topology_data(Graph("", (), (), {}), TopologyAsked())
    tab.answers("/projects/default/ensembles/shop/topology", empty)
    page = tab.open(SHOP)
    expect(page.get_by_role("heading", name="Nothing is deployed yet")).to_be_visible()
    expect(page.get_by_role("link", name="Plan a deployment")).to_have_attribute("href", f"{SHOP}/ask/deploy")
    assert tab.findings() == []


# ------------------------------------------------------------------------------------------------------------ live

BEGINS = 60_000
"""Milliseconds until a command has begun its job for sure."""

SLOW = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Slow:
    derived_from: tosca.nodes.Root
    interfaces: { Standard: { operations: { create: say.sh, start: wait.sh, stop: say.sh } } }
topology_template:
  node_templates: { one: { type: Slow }, two: { type: Slow, requirements: [ dependency: one ] } }
"""


class Slow:
    """An ensemble with operations that wait until they are let go on, on a server of its own."""

    def __init__(self, place: Path) -> None:
        self.place = place
        (place / "wait.sh").write_text(f'while [ ! -e {place}/"$ORDITO_STEP" ]; do sleep 0.02; done\n')
        for name in ("one", "two"):
            self.let(f"{name}_1.Standard.start")
        self.ensemble = deployed_apart(place, "slow", SLOW)
        for name in ("one", "two"):
            (place / f"{name}_1.Standard.start").unlink()
        self.job: subprocess.Popen[bytes] | None = None

    def let(self, step: str) -> None:
        """Let a step go on."""
        (self.place / step).touch()

    def restart(self) -> None:
        """Begin to stop and start all of it, as a command in a terminal does."""
        self.job = subprocess.Popen(command(self.ensemble, "restart", "--all"))

    def end(self) -> None:
        """Let everything end."""
        for name in ("one", "two"):
            self.let(f"{name}_1.Standard.start")
        if self.job is not None:
            assert self.job.wait(60) == 0


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Slow]:
    found = Slow(tmp_path)
    yield found
    found.end()


@pytest.fixture
def server(slow: Slow, tmp_path: Path) -> Iterator[Served]:
    """A server of that ensemble."""
    with Served(tmp_path / "home", slow.ensemble) as found:
        yield found


@pytest.fixture
def tab(browser: Browser, server: Served) -> Iterator[Tab]:
    """A tab that shows that ensemble."""
    admin = server.admin()
    admin.do("POST", "users", {"name": ADMIN, "admin": True})
    found = open_tab(browser, server.url, cookie_of(server, admin, ADMIN))
    found.open("/e/default/slow")
    found.wait_until_live()
    yield found
    found.close()


def test_states_move_while_a_job_runs(tab: Tab, slow: Slow) -> None:
    page = tab.page
    expect(page.get_by_role("button", name="one, Slow, 1 ok")).to_be_visible()
    slow.restart()
    expect(page.locator('[data-box="one"]')).to_contain_text("start", timeout=BEGINS)
    expect(page.get_by_role("button", name="one, Slow, 1 pending")).to_be_visible()
    expect(page.get_by_role("region", name="What is chosen")).to_contain_text("Running")
    expect(page.locator(".ensemble-running")).to_contain_text("restart")
    tab.screenshot("topology-running")
    assert tab.findings() == []
    slow.let("one_1.Standard.start")
    expect(page.locator('[data-box="two"]')).to_contain_text("start")
    expect(page.get_by_role("button", name="one, Slow, 1 ok")).to_be_visible()
    slow.let("two_1.Standard.start")
    expect(page.get_by_role("button", name="two, Slow, 1 ok")).to_be_visible()
    expect(page.locator(".ensemble-running")).to_have_count(0)


def test_a_page_without_its_server_stays_says_so_and_comes_back(tab: Tab, slow: Slow, server: Served) -> None:
    page = tab.page
    expect(page.get_by_role("button", name="one, Slow, 1 ok")).to_be_visible()
    tab.expected.append("error: Failed to load resource")
    server.stop()
    page.locator('.live[data-state="offline"]').wait_for()
    expect(page.get_by_role("button", name="one, Slow, 1 ok")).to_be_visible()
    expect(page.get_by_role("button", name="Scale")).to_have_accessible_description("the server cannot be reached now")
    tab.screenshot("topology-offline")
    slow.restart()
    with Served(server.home, listen=server.url.removeprefix("http://")):
        page.get_by_role("button", name=re.compile("offline")).click()
        expect(page.locator('[data-box="one"]')).to_contain_text("start", timeout=BEGINS)
        slow.end()
        expect(page.get_by_role("button", name="two, Slow, 1 ok")).to_be_visible()
