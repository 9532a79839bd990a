"""Random topologies: nodes with several instances, chains of hosts, and relationships with any operations, in the
words of TOSCA and of Cloudify."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.support.topology import STANDARD

NEAR = ("pre_configure_source", "pre_configure_target", "post_configure_source", "post_configure_target")
PAIR = ("add_target", "add_source", "remove_target", "remove_source")
WATCH = ("monitor_start", "monitor_stop")
LIFECYCLE = tuple(f"lifecycle.{operation}" for operation in STANDARD)
WATCHED = ("monitoring.start", "monitoring.stop")
AGENT = ("monitoring_agent.install", "monitoring_agent.start", "monitoring_agent.stop", "monitoring_agent.uninstall")
RELATIONSHIP_LIFECYCLE = ("preconfigure", "postconfigure", "establish", "unlink")
LINKED = tuple(
    f"{s}.{o}" for s in ("source", "target") for o in ("preconfigure", "postconfigure", "establish", "unlink")
)

Nodes = dict[str, dict[str, Any]]


@st.composite
def topologies(draw: st.DrawFn, *, most: int = 5, largest: int = 3, scalable: bool = False) -> Nodes:
    """Nodes that require earlier ones, in the words of ``tests/support/topology.py``; if they are to be ``scalable``
    there may be any number of each, and there is one at least."""
    counts = st.one_of(st.none(), st.integers(1 if scalable else 0, largest))
    nodes: Nodes = {}
    for number in range(draw(st.integers(2, most))):
        node = _compute(draw) if not number or draw(st.integers(0, 3)) == 0 else _other(draw, list(nodes), counts)
        _require(draw, node, list(nodes))
        if draw(st.integers(0, 3)) == 0:
            node["maintain"] = draw(st.sampled_from(("monitor_start", " ".join(WATCH))))
        if draw(st.integers(0, 2)) == 0:
            words = [*_some(draw, LIFECYCLE), *draw(st.sampled_from(((), WATCHED[:1], WATCHED)))]
            node["cloudify"] = " ".join([*words, *(AGENT if node.get("compute") else ())])
        if scalable:
            node["template"] = {"occurrences": [1, "UNBOUNDED"]}
        nodes[f"n{number}"] = node
    for host in {host for node in nodes.values() for host in node.get("hosted_on", {})}:
        # What is hosted needs a host.
        if nodes[host].get("count") == 0:
            nodes[host]["count"] = 1
    return nodes


def _compute(draw: st.DrawFn) -> dict[str, Any]:
    # Without any operation a provider would make it, in one step; that is another test.
    runs = " ".join(_some(draw, STANDARD)) or "start"
    return {"runs": runs, "compute": True, "count": draw(st.integers(1, 2))}


def _other(draw: st.DrawFn, earlier: list[str], counts: st.SearchStrategy[int | None]) -> dict[str, Any]:
    node: dict[str, Any] = {"runs": " ".join(_some(draw, STANDARD))}
    if draw(st.integers(0, 2)):
        node["hosted_on"] = {draw(st.sampled_from(earlier)): _operations(draw)}
    if (count := draw(counts)) is not None:
        node["count"] = count
    return node


def _require(draw: st.DrawFn, node: dict[str, Any], earlier: list[str]) -> None:
    for kind in ("needs", "connects") if earlier else ():
        targets = draw(st.lists(st.sampled_from(earlier), max_size=2, unique=True))
        if targets:
            node[kind] = {target: _operations(draw) for target in targets}


def _operations(draw: st.DrawFn) -> str:
    words = _some(draw, (*NEAR, *PAIR))
    if draw(st.integers(0, 2)) == 0:
        words += _some(draw, LINKED)
    return " ".join(words)


def _some(draw: st.DrawFn, words: tuple[str, ...]) -> list[str]:
    mask = draw(st.integers(0, 2 ** len(words) - 1))
    return [word for place, word in enumerate(words) if mask >> place & 1]
