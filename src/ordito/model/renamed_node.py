"""A service in which one node template is called otherwise, and everything that speaks of it with it."""

from __future__ import annotations

import msgspec

from ordito.model.indexes import by_target, by_template
from ordito.model.renaming import Renaming
from ordito.model.service import Relationship, Service
from ordito.model.templates import sanitised

replace = msgspec.structs.replace


class _Renamed(Renaming):
    """Only one name becomes another."""

    def __init__(self, service: Service, old: str, new: str) -> None:
        super().__init__(service, "")
        self._old, self._new = old, new

    def name(self, name: str) -> str:
        return self._new if name == self._old else name

    def input(self, name: str) -> str:
        return name

    def _relationship(self, item: Relationship) -> Relationship:
        found = super()._relationship(item)
        return replace(found, key=f"{found.source}{item.key[len(item.source) :]}")


def with_renamed_node(service: Service, old: str, new: str) -> Service:
    """A service that calls its node ``old`` by the name ``new``, which no other node bears."""
    renaming = _Renamed(service, old, new)
    nodes = {node.name: node for node in map(renaming.node, service.nodes.values())}
    return replace(
        service,
        nodes=nodes,
        sanitised={renaming.name(n): sanitised(new) if n == old else safe for n, safe in service.sanitised.items()},
        incoming=by_target(nodes),
        relationship_templates=by_template(nodes),
        inner_inputs={n: renaming.value(v) for n, v in service.inner_inputs.items()},
    )


def renamed_keys(service: Service, old: str, new: str) -> dict[str, str]:
    """The keys of the relationships whose source is a node, and what they become when that has another name."""
    return {r.key: f"{new}{r.key[len(old) :]}" for r in service.nodes[old].requirements}
