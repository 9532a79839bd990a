"""Pictures: what is folded when there is too much, where boxes stand, and what is said of instances."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.authoring.graph import Graph, GraphConnection, GraphNode
from ordito.results.picture.drawing import MOST_DOTS, columns_for, picture
from ordito.results.picture.folding import MANY, MOST, folded
from ordito.results.picture.letters import STATES, STATUSES, letters


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 60))
    hosts = [draw(st.integers(-1, number - 1)) for number in range(size)]
    types = [f"type{draw(st.integers(0, 4))}" for _ in hosts]
    nodes = tuple(GraphNode(f"n{i}", types[i], f"n{h}" if h >= 0 else "") for i, h in enumerate(hosts))
    ends = draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=40))
    return Graph("g", nodes, tuple(GraphConnection(f"n{a}", f"n{b}", "needs", "t") for a, b in ends), {})


def clusters(machines: int) -> Graph:
    """Machines that host a web server and a database each; every web server needs a database."""
    nodes = [GraphNode(f"m{i}", "Compute") for i in range(machines)]
    for i in range(machines):
        nodes += [GraphNode(f"web{i}", "Web", f"m{i}"), GraphNode(f"db{i}", "Db", f"m{i}")]
    made = [GraphConnection(f"web{i}", f"db{(i + 1) % machines}", "database", "ConnectsTo") for i in range(machines)]
    return Graph("clusters", tuple(nodes), tuple(made), {})


@settings(deadline=None)
@given(graphs(), st.integers(1, 60), st.lists(st.sampled_from([f"n{i}" for i in range(60)]), max_size=4))
def test_every_node_is_in_one_box_and_nothing_is_lost(graph: Graph, boxes: int, opened: list[str]) -> None:
    found = folded(graph, boxes, opened)
    assert found.box_of.keys() == {node.name for node in graph.nodes}
    assert len(found.boxes) <= (MOST if opened else boxes)
    roots = [box for box in found.boxes.values() if not box.parent]
    assert sum(box.nodes for box in roots) == len(graph.nodes)
    places = list(found.boxes)
    for box in found.boxes.values():
        assert not box.parent or places.index(box.parent) < places.index(box.id)
        inside = [one for one in found.boxes.values() if one.parent == box.id]
        assert box.is_open == bool(inside)
        if inside:
            assert sum(one.nodes for one in inside) + (0 if box.is_group else 1) == box.nodes
    apart = [made for made in graph.connections if found.box_of[made.source] != found.box_of[made.target]]
    assert sum(found.counts) == len(apart)
    assert len(graph.nodes) > boxes or len(found.boxes) == len(graph.nodes)
    assert folded(graph, boxes, opened) == found


@settings(deadline=None)
@given(graphs(), st.integers(1, 60), st.integers(0, 40))
def test_boxes_stand_in_their_parents_with_room_for_their_dots(graph: Graph, boxes: int, dots: int) -> None:
    found = picture(graph, {node.name: {"ok": dots} for node in graph.nodes}, boxes)
    by_id = {box.id: box for box in found.boxes}
    for box in found.boxes:
        outer = by_id.get(box.parent)
        wide, high = (outer.w, outer.h) if outer else found.size
        assert box.x >= 0
        assert box.y >= 0
        assert box.x + box.w <= wide + 1
        assert box.y + box.h <= high + 1
        rows = -(-sum(box.counts.values()) // box.columns) if box.columns else 0
        assert box.columns * 12 <= box.w
        assert 40 + rows * 12 <= box.h
        inside = [one for one in found.boxes if one.parent == box.id]
        assert all(one.y >= 40 + rows * 12 for one in inside), "dots stay visible above what is hosted"
    assert sum(sum(box.counts.values()) for box in found.boxes) == dots * len(graph.nodes)
    assert picture(graph, {node.name: {"ok": dots} for node in graph.nodes}, boxes) == found


def test_nodes_that_are_alike_are_folded_alike() -> None:
    found = picture(clusters(100), {}, 150)
    assert {box.kind for box in found.boxes} == {"node"}
    assert len(found.boxes) == 100, "three hundred do not fit, so no machine is opened"
    assert all(box.folded and box.nodes == 3 for box in found.boxes)
    assert {(edge.requirement, edge.type, edge.count) for edge in found.edges} == {("database", "ConnectsTo", 1)}


def test_many_neighbours_of_one_type_become_one_box() -> None:
    found = picture(clusters(1_000), {f"m{i}": {"ok": 2, "error": 1} for i in range(1_000)})
    [box] = found.boxes
    assert (box.kind, box.title, box.nodes, box.folded) == ("group", "Compute ×1,000", 3_000, True)  # noqa: RUF001
    assert box.counts == {"ok": 2_000, "error": 1_000}
    assert box.columns > 50
    assert not found.edges


def test_what_is_opened_is_shown_with_all_in_which_it_stands() -> None:
    found = picture(clusters(1_000), {}, opened=["m7"])
    assert [box.id for box in found.boxes if not box.parent] == ["Compute@", "m7"]
    assert [box.id for box in found.boxes if box.parent == "m7"] == ["web7", "db7"]
    assert {(edge.source, edge.target) for edge in found.edges} == {("web7", "Compute@"), ("Compute@", "db7")}


def test_what_is_folded_by_somebody_stays_so() -> None:
    assert {box.parent for box in picture(clusters(3), {}).boxes} == {"", "m0", "m1", "m2"}
    found = picture(clusters(3), {}, closed=["m1"])
    assert {box.parent for box in found.boxes} == {"", "m0", "m2"}
    [box] = [box for box in found.boxes if box.id == "m1"]
    assert box.folded
    again = picture(clusters(3), {}, opened=["m1"], closed=["m1"])
    assert again == found, "what is opened and folded is folded"


def test_an_opened_group_shows_its_first_members_and_the_others_together() -> None:
    found = picture(clusters(1_000), {}, opened=["Compute@"])
    assert len(found.boxes) == MOST
    [rest] = [box for box in found.boxes if box.parent and box.kind == "group"]
    assert rest.nodes == 3 * (1_000 - (MOST - 2))
    further = picture(clusters(1_000), {}, opened=["Compute@", rest.id])
    assert len(further.boxes) == MOST, "there is never more than a browser can move"


def test_too_many_types_are_shown_together() -> None:
    nodes = tuple(GraphNode(f"n{i}", f"type{i % 20}") for i in range(100))
    found = picture(Graph("g", nodes, (), {}), {}, 10)
    assert len(found.boxes) == 10
    assert sum(box.nodes for box in found.boxes) == 100
    assert [box.type for box in found.boxes].count(MANY) == 1


def test_different_relationships_between_two_boxes_have_no_common_name() -> None:
    nodes = (GraphNode("a", "t"), GraphNode("b", "t"))
    made = (GraphConnection("a", "b", "one", "R"), GraphConnection("a", "b", "two", "R"))
    [edge] = picture(Graph("g", nodes, made, {}), {}).edges
    assert (edge.requirement, edge.type, edge.count) == ("", "R", 2)


def test_no_group_is_called_as_a_node() -> None:
    nodes = (*(GraphNode(f"n{i}", "t") for i in range(10)), GraphNode("t@", "other"))
    found = picture(Graph("g", nodes, (), {}), {}, 2)
    assert len({box.id for box in found.boxes}) == 2


@pytest.mark.parametrize("dots", [0, 1, 9, 10, 11, 500, MOST_DOTS, MOST_DOTS + 1])
def test_dots_stand_in_rows_as_long_as_they_can_be_seen(dots: int) -> None:
    columns = columns_for(dots)
    assert (columns == 0) == (dots in (0, MOST_DOTS + 1))
    assert columns <= max(10, dots)


def test_each_state_has_a_letter_of_its_own() -> None:
    for known in (STATES, STATUSES):
        assert len(set(known.values())) == len(known)
        assert all(len(letter) == 1 for letter in known.values())
    assert letters(["started", "creating", "new"], STATES) == "sC?"
