"""Capabilities that must serve somebody: a lower bound that an author wrote and that is not met is warned of, while the
one that holds by default is not (§3.7.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.model.service import NodeTemplate
from ordito.model.types import NodeShape


def warn_of_unused(
    nodes: Mapping[str, NodeTemplate], shapes: Mapping[str, NodeShape], diagnostics: Diagnostics
) -> None:
    """Warn of each capability with fewer relationships than its definition asks for."""
    needed: dict[str, list[tuple[str, int]]] = {}
    for kind in {node.type for node in nodes.values()}:
        bounds = [(n, c.occurrences[0]) for n, c in shapes[kind].capabilities.items() if c.bounded and c.occurrences[0]]
        if bounds:
            needed[kind] = bounds
    if not needed:
        return
    users = Counter((r.target, r.capability) for node in nodes.values() for r in node.requirements)
    for name, node in nodes.items():
        for capability, least in needed.get(node.type, ()):
            if users[name, capability] < least:
                diagnostics.warning(
                    "too-few-sources",
                    f'capability "{capability}" of "{name}" must serve at least {"one node" if least == 1 else least}, '
                    f"but serves {users[name, capability] or 'none'}",
                    node.span,
                    hint=f"assign a requirement to it, or allow less with occurrences of {capability}",
                )
