"""What a job must not show: the secrets that it knows, and values of operations that contain secrets or create new
ones.

Secrets are known from the inputs, the records, and what the service declares sensitive; values that operations are
given, and their sensitive outputs, become known while the job runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import msgspec

from ordito.base.masking import Masking
from ordito.base.sensitive import Sensitive, is_sensitive, living, sensitive_parts, shown
from ordito.model.schema import PropertyDefinition
from ordito.model.sensitivity import Mark, Marks, says_sensitive
from ordito.model.service import Capability, NodeTemplate, Relationship, Service
from ordito.syntax.expressions import Value, is_static
from ordito.work.invocation import Outcome


def masking_for(service: Service, masking: Masking | None = None) -> Masking:
    """The masking of a job, with the secrets that are known when it begins. An existing ``masking`` is extended by the
    secrets of this service."""
    if masking is None:
        masking = Masking()
        masking.know(living())
    masking.know(_written(service))
    return masking


def without_secrets(outcome: Outcome, masking: Masking, sensitive: Collection[str]) -> Outcome:
    """An outcome as it may be recorded: the outputs named in ``sensitive``, and those that contain a known secret, are
    wrapped, and secrets in its message and last lines are masked. The masking learns what is wrapped."""
    outputs = {
        name: Sensitive(value) if name in sensitive else _wrapped(value, masking)
        for name, value in outcome.outputs.items()
    }
    masking.know(sensitive_parts(outputs))
    if not masking.is_active:
        return outcome
    if outcome.attributes:
        wrapped = {
            of: {name: _wrapped(value, masking) for name, value in values.items()}
            for of, values in outcome.attributes.items()
        }
        masking.know(sensitive_parts(wrapped))
        outcome = msgspec.structs.replace(outcome, attributes=wrapped)
    return msgspec.structs.replace(
        outcome,
        outputs=outputs if is_sensitive(outputs) else outcome.outputs,
        message=masking.text(outcome.message),
        tail=masking.lines(outcome.tail),
    )


def as_shown(values: dict[str, object], masking: Masking) -> dict[str, object]:
    """Values as they may be shown, with known secrets masked."""
    return {name: shown(_wrapped(value, masking)) for name, value in values.items()} if masking.is_active else values


def _wrapped(value: object, masking: Masking) -> object:
    """A value in which every text is wrapped that contains a known secret."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return Sensitive(value) if masking.hits(str(value)) else value
    if isinstance(value, dict):
        return {key: _wrapped(item, masking) for key, item in value.items()}
    return [_wrapped(item, masking) for item in value] if isinstance(value, list) else value


# ------------------------------------------------------------------------------------------------ what is written


def _written(service: Service) -> Iterator[Sensitive]:
    """The sensitive values in the documents of the service."""
    written = _Written(Marks(service.data_types))
    for node in (*service.nodes.values(), *(s.template for s in service.substituted.values())):
        whole = says_sensitive(node.metadata)
        holders: list[NodeTemplate | Capability | Relationship] = [node]
        holders += [*node.capabilities.values(), *node.requirements]
        for holder in holders:
            yield from written.of(holder, whole=whole)
        for interface in (node.interfaces, *(r.interfaces for r in node.requirements)):
            yield from written.of_inputs(interface)


class _Written:
    """Collects the sensitive values of a service. Definitions and interfaces that many templates share are searched
    once."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._names: dict[int, tuple[object, dict[str, Mark]]] = {}
        self._seen: dict[int, object] = {}

    def of(self, holder: NodeTemplate | Capability | Relationship, *, whole: bool) -> Iterator[Sensitive]:
        """The sensitive values of a node, a capability or a relationship."""
        pairs = ((holder.properties, holder.definitions), (holder.attributes, holder.attribute_definitions))
        for values, definitions in pairs:
            marked = dict.fromkeys(values, Mark(whole=True)) if whole else self._marked(definitions)
            for name, mark in marked.items():
                yield from self._values(values.get(name), mark)

    def of_inputs(self, interfaces: Mapping[str, object]) -> Iterator[Sensitive]:
        """The sensitive values of inputs of operations."""
        if id(interfaces) in self._seen:
            return
        self._seen[id(interfaces)] = interfaces
        for interface in interfaces.values():
            for operation in interface.operations.values():  # type: ignore[attr-defined]
                for declared in operation.inputs.values():
                    mark = self._marks.by(declared.schema, declared.metadata)
                    if mark is not None:
                        yield from self._values(declared.value, mark)

    def _values(self, value: Value, mark: Mark) -> Iterator[Sensitive]:
        if value is not None and is_static(value):
            yield from sensitive_parts(self._marks.wrap(value, mark))

    def _marked(self, definitions: Mapping[str, PropertyDefinition]) -> dict[str, Mark]:
        known = self._names.get(id(definitions))
        if known is None:
            marks = {name: mark for name, d in definitions.items() if (mark := self._marks.of(d)) is not None}
            known = self._names[id(definitions)] = (definitions, marks)
        return known[1]
