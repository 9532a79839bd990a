"""Random changes of random topologies: what another version of a service may say otherwise, in the words of
``tests/support/topology.py``, with scripts of its own for some operations."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.support.random_topologies import Nodes, topologies
from tests.support.topology import STANDARD

OTHER = "other.sh"
"""A second script for operations; it lies beside the first."""
NODE_LIFECYCLE = "tosca.interfaces.node.lifecycle.Standard"
KINDS = ("hosted_on", "needs", "connects")
PAIR = ("add_target", "add_source", "remove_target", "remove_source", "target_changed")


@st.composite
def versions(draw: st.DrawFn, *, most: int = 4) -> tuple[Nodes, Nodes]:
    """Two versions of a topology that differ in something."""
    before = draw(topologies(most=most, largest=2))
    for name, node in before.items():
        node["size"] = 1
        node["scripts"] = {}
        if draw(st.integers(0, 3)) == 0:
            node["maintain"] = " ".join([node.get("maintain", ""), "update"]).strip()
        if name != "n0" and draw(st.booleans()):
            node["outputs"] = True
    return before, _edited(draw, before)


@st.composite
def three_versions(draw: st.DrawFn) -> tuple[Nodes, Nodes, Nodes]:
    """Three versions of a topology, each of which differs in something from the one before."""
    before, between = draw(versions())
    return before, between, _edited(draw, between)


def _edited(draw: st.DrawFn, before: Nodes) -> Nodes:
    after = copy.deepcopy(before)
    for edit in draw(st.lists(st.sampled_from(EDITS), min_size=1, max_size=3)):
        edit(draw, after)
    return after


def _size(draw: st.DrawFn, nodes: Nodes) -> None:
    """A property with another value."""
    nodes[_one(draw, nodes)]["size"] += 1


def _script(draw: st.DrawFn, nodes: Nodes) -> None:
    """Another script for an operation that there is."""
    node = nodes[_one(draw, nodes)]
    if words := node["runs"].split():
        node["scripts"][draw(st.sampled_from(words))] = OTHER


def _operation(draw: st.DrawFn, nodes: Nodes) -> None:
    """An operation more, or less."""
    node = nodes[_one(draw, nodes)]
    changed = draw(st.sampled_from(STANDARD))
    words = set(node["runs"].split()) ^ {changed}
    # Without any a provider would make a compute, in one step.
    node["runs"] = " ".join(o for o in STANDARD if o in words) or "start"


def _count(draw: st.DrawFn, nodes: Nodes) -> None:
    """Another number of instances."""
    name = _one(draw, nodes)
    is_host = any(name in other.get("hosted_on", {}) for other in nodes.values())
    nodes[name]["count"] = draw(st.integers(1 if is_host or nodes[name].get("compute") else 0, 3))


def _relationship(draw: st.DrawFn, nodes: Nodes) -> None:
    """A relationship more, or less, or with other operations."""
    names = list(nodes)
    if len(names) < 2:
        return
    place = draw(st.integers(1, len(names) - 1))
    node = nodes[names[place]]
    kind = draw(st.sampled_from(KINDS[1:] if node.get("compute") else KINDS))
    target = names[draw(st.integers(0, place - 1))]
    targets = dict(node.get(kind, {}))
    if target in targets and draw(st.booleans()):
        del targets[target]
    elif kind == "hosted_on":
        targets = {target: targets.get(target, "")}
        nodes[target]["count"] = max(1, nodes[target].get("count", 1))
    else:
        targets[target] = " ".join(draw(st.lists(st.sampled_from(PAIR), unique=True)))
    node[kind] = targets
    if not targets:
        del node[kind]


def _less(draw: st.DrawFn, nodes: Nodes) -> None:
    """A node less, and all that requires it does so no more."""
    if len(nodes) < 2:
        return
    name = _one(draw, nodes)
    del nodes[name]
    for node in nodes.values():
        for kind in KINDS:
            if kind in node and name in node[kind]:
                node[kind] = {target: words for target, words in node[kind].items() if target != name}
                if not node[kind]:
                    del node[kind]


def _more(draw: st.DrawFn, nodes: Nodes) -> None:
    """A node more, which may require others."""
    name = f"m{len(nodes)}"
    targets = draw(st.lists(st.sampled_from(list(nodes)), max_size=2, unique=True)) if nodes else []
    node: dict[str, Any] = {"runs": "create start stop delete", "size": 1, "scripts": {}}
    if targets:
        node["needs"] = dict.fromkeys(targets, "add_target remove_target")
    nodes[name] = node


EDITS: tuple[Callable[[st.DrawFn, Nodes], None], ...] = (
    _size,
    _script,
    _operation,
    _count,
    _relationship,
    _less,
    _more,
)


def _one(draw: st.DrawFn, nodes: Nodes) -> str:
    return draw(st.sampled_from(sorted(nodes)))


def spelled(nodes: Nodes) -> Nodes:
    """The topology in the words of ``tests/support/topology.py``, with the property and the scripts that were drawn."""
    found: Nodes = {}
    for name, given in nodes.items():
        node = copy.deepcopy(given)
        size, scripts, outputs = node.pop("size"), node.pop("scripts"), node.pop("outputs", False)
        words = node.pop("runs").split()
        operations: dict[str, Any] = {o: {"implementation": scripts.get(o, "do.sh")} for o in words}
        if "configure" in operations and size % 2:
            operations["configure"]["inputs"] = {"size": {"get_property": ["SELF", "size"]}}
        own: dict[str, Any] = {"properties": {"size": {"type": "integer", "default": size}}}
        if outputs and "create" in operations:
            own["attributes"] = {"address": {"type": "string"}}
            operations["create"]["outputs"] = {"address": ["SELF", "address"]}
        if operations:
            own["interfaces"] = {"Standard": {"type": NODE_LIFECYCLE, "operations": operations}}
        node["type"] = {**node.get("type", {}), **own}
        found[name] = node
    return found
