"""An inventory: a service whose nodes exist already, and can be selected (§2.9)."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as MappingType

from ordito.model.choices import SelectedNode
from ordito.model.facts import Facts, Unknown
from ordito.model.inputs import known_inputs
from ordito.model.service import NodeTemplate, Service
from ordito.syntax.expressions import Value


class Inventory:
    """The nodes of an inventory, and what is known of them. Its inputs have their defaults."""

    def __init__(self, service: Service) -> None:
        self.facts = Facts(service.nodes, known_inputs(service.inputs, service.data_types, {}), service.inputs)
        self._by_kind: dict[str, list[NodeTemplate]] = {}
        for node in service.nodes.values():
            for kind in node.kinds:
                self._by_kind.setdefault(kind, []).append(node)
        self._nodes = tuple(service.nodes.values())

    def of_type(self, kind: str) -> Iterable[NodeTemplate]:
        """The nodes of a type or one derived from it, "" for all, in their order."""
        return self._by_kind.get(kind, ()) if kind else self._nodes

    def described(self, node: NodeTemplate) -> SelectedNode:
        """A node with its values."""
        return SelectedNode(
            node=node.name,
            type=node.type,
            properties=self._known(node.properties, node),
            attributes=self._known(node.attributes, node),
            capabilities={n: self._known(c.properties, node) for n, c in node.capabilities.items()},
            capability_attributes={n: self._known(c.attributes, node) for n, c in node.capabilities.items()},
        )

    def _known(self, values: MappingType[str, Value], node: NodeTemplate) -> dict[str, object]:
        facts = {name: self.facts.of(value, node) for name, value in values.items()}
        return {name: fact for name, fact in facts.items() if not isinstance(fact, Unknown)}
