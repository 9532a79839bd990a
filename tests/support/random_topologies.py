"""Random topologies: nodes with several instances, chains of hosts, and relationships with any operations."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.support.topology import STANDARD

NEAR = ("pre_configure_source", "pre_configure_target", "post_configure_source", "post_configure_target")
PAIR = ("add_target", "add_source", "remove_target", "remove_source")
WATCH = ("monitor_start", "monitor_stop")

Nodes = dict[str, dict[str, Any]]


@st.composite
def topologies(draw: st.DrawFn, *, most: int = 5, largest: int = 3, counted: bool = False) -> Nodes:
    """Nodes that require earlier ones, in the words of ``tests/support/topology.py``; with ``counted`` each of them has
    a count of its own."""
    counts = st.integers(1, largest) if counted else st.one_of(st.none(), st.integers(0, largest))
    nodes: Nodes = {}
    for number in range(draw(st.integers(2, most))):
        earlier = list(nodes)
        is_compute = not number or draw(st.integers(0, 3)) == 0
        node: dict[str, Any] = {"runs": " ".join(_some(draw, STANDARD))}
        if is_compute:
            node["compute"] = True
            # Without any a provider would make it, in one step; that is another test.
            node["runs"] = node["runs"] or "start"
            node["count"] = draw(st.integers(1, 2))
        else:
            if draw(st.integers(0, 2)):
                node["hosted_on"] = {draw(st.sampled_from(earlier)): _operations(draw)}
            if (count := draw(counts)) is not None:
                node["count"] = count
        for kind in ("needs", "connects"):
            targets = draw(st.lists(st.sampled_from(earlier), max_size=2, unique=True)) if earlier else []
            if targets:
                node[kind] = {target: _operations(draw) for target in targets}
        if draw(st.integers(0, 3)) == 0:
            node["maintain"] = draw(st.sampled_from(("monitor_start", " ".join(WATCH))))
        nodes[f"n{number}"] = node
    hosts = {host for node in nodes.values() for host in node.get("hosted_on", {})}
    for host in hosts:
        # What is hosted needs a host.
        if nodes[host].get("count") == 0:
            nodes[host]["count"] = 1
    return nodes


def _operations(draw: st.DrawFn) -> str:
    return " ".join(_some(draw, (*NEAR, *PAIR)))


def _some(draw: st.DrawFn, words: tuple[str, ...]) -> list[str]:
    mask = draw(st.integers(0, 2 ** len(words) - 1))
    return [word for place, word in enumerate(words) if mask >> place & 1]
