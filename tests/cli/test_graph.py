"""`ordito graph`: the same graph as text, Mermaid, DOT and SVG, whatever the names."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.authoring.graph import Graph, GraphConnection, GraphNode
from ordito.cli.graph.dot import dot
from ordito.cli.graph.mermaid import mermaid
from ordito.cli.graph.svg import svg
from ordito.cli.graph.text import write_tree
from ordito.results.picture.curves import curves
from ordito.results.picture.layout import PAD, TITLE, Box, Forest, layout
from tests.cli.channels import channel, written
from tests.cli.program import DATA, Run

SHOP = DATA.parent.parent / "examples" / "shop"
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    '<script>alert("x")</script>',
    'a"]; evil -> b [label="',
    "back\\slash\\",
    "`code` **bold**",
    "end",
    "subgraph x",
    "new\nline\r\ttab",
    "\x1b[31m",
    "#quot; &amp; <br/>",
    "]]> --> <!--",
    "名前",
    " ",
    "x" * 500,
]


def simple(*names: str) -> Graph:
    """Each node hosts the next, the last one is connected with all others."""
    nodes = tuple(GraphNode(name, name, names[i - 1] if i else "", (names[0],)) for i, name in enumerate(names))
    connections = tuple(GraphConnection(names[-1], name, name, name) for name in names[:-1])
    return Graph(names[0], nodes, connections, {names[0]: names[-1]}, 3)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 14))
    hosts = [draw(st.integers(-1, number - 1)) for number in range(size)]
    types = ["t" * draw(st.integers(1, 30)) for _ in hosts]
    nodes = tuple(GraphNode(f"n{i}", types[i], f"n{h}" if h >= 0 else "") for i, h in enumerate(hosts))
    ends = draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=20))
    return Graph("g", nodes, tuple(GraphConnection(f"n{a}", f"n{b}", "needs", "t") for a, b in ends), {})


def overlap(a: Box, b: Box) -> bool:
    return a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height


@settings(deadline=None)
@given(graphs())
def test_boxes_stand_in_their_hosts_and_beside_each_other(graph: Graph) -> None:
    found = layout(graph)
    forest = Forest(graph)
    for box in found.boxes.values():
        assert box.x >= 0
        assert box.y >= 0
        assert box.x + box.width <= found.width
        assert box.y + box.height <= found.height
        if box.node.host:
            host = found.boxes[box.node.host]
            assert box.x > host.x
            assert box.y >= host.y + TITLE, "the title of the host stays readable"
            assert box.x + box.width < host.x + host.width
            assert box.y + box.height < host.y + host.height
    for siblings in forest.below.values():
        boxes = [found.boxes[node.name] for node in siblings]
        assert not any(overlap(a, b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert len(curves([(c.source, c.target) for c in graph.connections], found.boxes)) == len(graph.connections)


@settings(deadline=None)
@given(graphs())
def test_what_needs_another_node_stands_left_of_it(graph: Graph) -> None:
    ends = {(c.source, c.target) for c in graph.connections}
    roots = {node.name for node in graph.nodes if not node.host}
    found = layout(graph)
    if len(ends) == 1 and all(end in roots for end in next(iter(ends))):
        ((source, target),) = ends
        if source != target:
            assert found.boxes[source].x + found.boxes[source].width < found.boxes[target].x


def test_a_picture_is_xml_whatever_the_names() -> None:
    root = ElementTree.fromstring("\n".join(svg(simple(*HOSTILE))))
    texts = [text.text or "" for text in root.iter(f"{SVG}text")]
    assert '<script>alert("x")</script>' in texts
    assert "名前" in texts
    assert any(text.endswith("…") for text in texts)
    assert "and 3 more nodes" in texts
    assert len(list(root.iter(f"{SVG}path"))) == len(HOSTILE) - 1 + 1, "the connections, and the head of their arrows"
    assert not list(root.iter(f"{SVG}script"))


def test_mermaid_has_no_special_characters_in_names() -> None:
    lines = list(mermaid(simple(*HOSTILE)))
    assert all("\n" not in line and "\r" not in line for line in lines)
    assert sum(line.strip() == "end" for line in lines) == len(HOSTILE) - 1
    for line in lines:
        for text in re.findall(r'"([^"]*)"', line):
            assert re.fullmatch(r"([\w .-]|#\d+;|<br/>)*", text), text
        assert line.count('"') in {0, 2}


def test_dot_strings_are_closed() -> None:
    lines = list(dot(simple(*HOSTILE)))
    for line in lines:
        rest = re.sub(r'"(?:[^"\\]|\\.)*"', "S", line)
        assert '"' not in rest
        assert "evil" not in rest
        assert "\x1b" not in line
    assert lines[0].endswith("{")
    assert sum(line.strip().endswith("{") for line in lines) == sum(line.strip() == "}" for line in lines)


def test_text_cannot_steer_the_terminal() -> None:
    to = channel()
    write_tree(simple(*HOSTILE), to)
    assert "\x1b" not in written(to)
    assert "... and 3 more nodes" in written(to)


@pytest.mark.parametrize("form", ["mermaid", "dot", "svg"])
def test_the_shop_as_a_picture(run: Run, form: str) -> None:
    first, second = run("graph", SHOP, "-o", form), run("graph", SHOP, "-o", form)
    assert first.code == 0
    assert first.out == second.out
    assert all(name in first.out for name in ("database", "api", "web", "balancer"))
    assert run("graph", SHOP, "-o", form, "--out", "picture").out == ""
    assert Path("picture").read_text(encoding="utf-8") == first.out


def test_the_shop_as_text_and_data(run: Run) -> None:
    shown = run("graph", SHOP).out.splitlines()
    assert "data_machine  Compute" in shown
    assert "  api  shop.nodes.Api" in shown
    assert "      → database (database)" in shown
    data = json.loads(run("graph", SHOP, "-o", "json").out)
    assert {node["name"]: node["host"] for node in data["nodes"]}["api"] == "data_machine"
    assert data["connections"][0].keys() == {"source", "target", "requirement", "type"}
    assert run("graph", SHOP, "--out", "x").code == 64


def test_large_services_are_cut(run: Run) -> None:
    head = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n"
    hosted = "".join(f"    a{i}: {{ type: SoftwareComponent, requirements: [ host: m{i} ] }}\n" for i in range(400))
    machines = "".join(f"    m{i}: {{ type: Compute }}\n" for i in range(400))
    Path("service.yaml").write_text(head + hosted + machines)
    drawn = run("graph", "-o", "svg")
    assert "and 300 more nodes" in drawn.out
    assert "300 nodes are left out" in drawn.err
    assert drawn.out.count('class="name"') == 500
    assert run("graph").out.count("Compute") == 400
    assert run("graph", "--limit", "3").out.splitlines()[-1] == "... and 797 more nodes"


def test_deep_hosting_needs_no_recursion() -> None:
    graph = simple(*(f"n{i}" for i in range(3_000)))
    for lines in (mermaid(graph), dot(graph), svg(graph)):
        assert sum(1 for _ in lines) > 3_000


def test_bold_names_fit_into_their_boxes() -> None:
    """What common fonts need for bold letters of 13 pixels: nine each, and fourteen for the broad ones."""
    for name in ("control_management", "mmmm_wwww_mmmm", "a_name_of_narrow_letters"):
        box = layout(simple(name)).boxes[name]
        needed = sum(13.6 if letter in "mw" else 9.0 for letter in name)
        assert box.width - 2 * PAD >= needed
