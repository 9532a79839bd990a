"""The instances that nodes will have, as far as the documents and the inputs say how many: for values that differ
between instances only by the index (``INDEX``, §2.20)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from ordito.base.sensitive import revealed
from ordito.instances.context import Context, EvaluationError
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Delta, Instance, Snapshot
from ordito.model.hosting import chain
from ordito.model.service import NodeTemplate, Service
from ordito.syntax.expressions import Value

SCALABLE = "tosca.capabilities.Scalable"
MOST_SLOTS = 100
"""For how many instances of a node values are evaluated beforehand: for the first ones and for the last."""


class InstanceSlots:
    """Evaluates values without an instance (``without``), or for each instance that a node will have (``of``)."""

    def __init__(self, service: Service, inputs: Mapping[str, object]) -> None:
        self._service = service
        self._inputs = inputs
        self.without = Evaluator(service, Snapshot(), inputs, partial=True)
        self._last: tuple[str, Evaluator] | None = None

    def of(self, context: Context) -> Iterator[tuple[Evaluator, Context]]:
        """An evaluator and a context for each instance that the node, or the source of the relationship, will have."""
        relationship = context.relationship
        name = relationship.source if relationship is not None else context.node
        node = self._service.nodes.get(name)
        if node is None:
            return
        if self._last is None or self._last[0] != name:
            self._last = name, self._evaluator(node)
        evaluator = self._last[1]
        end = "source" if relationship is not None else "instance"
        for instance in evaluator.snapshot.ids_of(name):
            yield evaluator, msgspec.structs.replace(context, **{end: instance})

    def _evaluator(self, node: NodeTemplate) -> Evaluator:
        count = self._count(node)
        numbers = [*range(min(count, MOST_SLOTS)), *range(max(count - 1, MOST_SLOTS), count)]
        snapshot = Snapshot()
        snapshot.apply(Delta(instances=tuple(Instance(f"{node.name}_{n + 1}", node.name, n) for n in numbers)))
        return Evaluator(self._service, snapshot, self._inputs, partial=True)

    def _count(self, node: NodeTemplate) -> int:
        """How many instances a node will have at least: what it says itself, else as many as what hosts it."""
        said = (self._own(current) for current in chain(self._service.nodes, node.name))
        return next((own for own in said if own is not None), 1)

    def _own(self, node: NodeTemplate) -> int | None:
        """What a node itself says of its number; None where it says nothing."""
        value: Value
        scalable = next((c for c in node.capabilities.values() if SCALABLE in c.kinds), None)
        if node.instance_count is not None:
            value = node.instance_count
        elif scalable is not None and "default_instances" in scalable.assigned:
            value = scalable.properties.get("default_instances")
        else:
            return max(1, node.occurrences[0]) if node.occurrences and node.occurrences[0] else None
        try:
            found = revealed(self.without.evaluate(value, Context(node=node.name)))
        except EvaluationError:
            return 0  # it has no value yet, or is reported where it is checked itself
        return found if isinstance(found, int) else 0
