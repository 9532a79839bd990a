"""Renames everything in a topology inside of another to ``outer/inner``, also the names to which its values refer."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as MappingType
from typing import Any, TypeVar

import msgspec

from ordito.model.imperative import Activity, Group, Policy, Precondition, Step, Trigger, Workflow
from ordito.model.lifecycle_steps import LifecycleStep
from ordito.model.operation import Interface, Operation
from ordito.model.service import Capability, NodeTemplate, Relationship, Service, by_target, by_template
from ordito.model.templates import sanitised
from ordito.syntax.expressions import Call, Value

ENTITIES = frozenset({"get_property", "get_attribute", "get_operation_output", "get_artifact"})
"""Functions whose first argument names a node or relationship template."""

T = TypeVar("T")
replace = msgspec.structs.replace


class Renaming:
    """Renames everything in one service. Shared parts stay shared: each is renamed once."""

    def __init__(self, service: Service, prefix: str) -> None:
        self._prefix = f"{prefix}/"
        self._names = {*service.nodes, *service.substituted, *service.relationship_templates, *service.groups}
        self._known: dict[int, tuple[object, Any]] = {}

    def name(self, name: str) -> str:
        """The new name of something."""
        return f"{self._prefix}{name}"

    def input(self, name: str) -> str:
        """The new name of an input of the topology."""
        return self.name(name)

    def value(self, value: Value) -> Value:
        """A value that refers to the new names; the same one where it refers to none."""
        if isinstance(value, Call):
            return self._once(value, self._call)
        if isinstance(value, list):
            items = [self.value(v) for v in value]
            return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        if isinstance(value, dict):
            entries = {k: self.value(v) for k, v in value.items()}
            return entries if any(entries[k] is not v for k, v in value.items()) else value
        return value

    def _call(self, call: Call) -> Call:
        arguments = [self.value(a) for a in call.arguments]
        first = arguments[0] if arguments else None
        if isinstance(first, str) and call.function == "get_input":
            arguments[0] = self.input(first)
        elif isinstance(first, str) and call.function in ENTITIES and first in self._names:
            arguments[0] = self.name(first)
        elif all(new is old for new, old in zip(arguments, call.arguments, strict=True)):
            return call
        return Call(call.function, tuple(arguments), call.span)

    def _once(self, part: T, rename: Callable[[T], T]) -> T:
        """A part renamed, once however many things share it."""
        known = self._known.get(id(part))
        if known is None:
            known = self._known[id(part)] = part, rename(part)
        found: T = known[1]
        return found

    def values(self, values: MappingType[str, Value]) -> MappingType[str, Value]:
        """A map of values, as ``value``."""
        return self._once(values, self._values) if values else values

    def _values(self, values: MappingType[str, Value]) -> MappingType[str, Value]:
        found = {k: self.value(v) for k, v in values.items()}
        return found if any(found[k] is not v for k, v in values.items()) else values

    def node(self, node: NodeTemplate) -> NodeTemplate:
        """A node template."""
        return replace(
            node,
            name=self.name(node.name),
            properties=self.values(node.properties),
            attributes=self.values(node.attributes),
            capabilities=self._once(node.capabilities, self._capabilities),
            requirements=tuple(self.relationship(r) for r in node.requirements),
            interfaces=self._once(node.interfaces, self._interfaces),
            instance_count=self.value(node.instance_count),
        )

    def _capabilities(self, capabilities: MappingType[str, Capability]) -> MappingType[str, Capability]:
        return {n: self._once(c, self._capability) for n, c in capabilities.items()}

    def _capability(self, item: Capability) -> Capability:
        properties, attributes = self.values(item.properties), self.values(item.attributes)
        if properties is item.properties and attributes is item.attributes:
            return item
        return replace(item, properties=properties, attributes=attributes)

    def relationship(self, item: Relationship) -> Relationship:
        """A relationship inside of the topology."""
        return self._once(item, self._relationship)

    def _relationship(self, item: Relationship) -> Relationship:
        return replace(
            item,
            key=self.name(item.key),
            source=self.name(item.source),
            target=self.name(item.target),
            template=self.name(item.template) if item.template else "",
            properties=self.values(item.properties),
            attributes=self.values(item.attributes),
            interfaces=self._once(item.interfaces, self._interfaces),
            via=self.name(item.via) if item.via else "",
        )

    def _interfaces(self, interfaces: MappingType[str, Interface]) -> MappingType[str, Interface]:
        found = {n: self._once(i, self._interface) for n, i in interfaces.items()}
        return found if any(found[n] is not i for n, i in interfaces.items()) else interfaces

    def _interface(self, interface: Interface) -> Interface:
        operations = {n: self._once(o, self._operation) for n, o in interface.operations.items()}
        if all(operations[n] is o for n, o in interface.operations.items()):
            return interface
        return replace(interface, operations=operations)

    def _operation(self, operation: Operation) -> Operation:
        inputs = {n: replace(i, value=self.value(i.value)) for n, i in operation.inputs.items()}
        outputs = {n: self.path(p) for n, p in operation.outputs.items()}
        same = all(inputs[n].value is i.value for n, i in operation.inputs.items()) and outputs == operation.outputs
        return operation if same else replace(operation, inputs=inputs, outputs=outputs)

    def path(self, path: tuple[str | int, ...]) -> tuple[str | int, ...]:
        """A path that begins with an entity."""
        return (self.name(str(path[0])), *path[1:]) if path and path[0] in self._names else path

    # ------------------------------------------------------------------------------------ groups, policies, workflows

    def group(self, group: Group) -> Group:
        """A group."""
        return replace(
            group,
            name=self.name(group.name),
            members=tuple(self.name(m) for m in group.members),
            properties=self.values(group.properties),
            attributes=self.values(group.attributes),
        )

    def policy(self, policy: Policy) -> Policy:
        """A policy: it applies to nodes of the topology, never to others."""
        return replace(
            policy,
            name=self.name(policy.name),
            targets=tuple(self.name(t) for t in policy.targets),
            nodes=tuple(self.name(n) for n in policy.nodes),
            properties=self.values(policy.properties),
            triggers={n: self._trigger(t) for n, t in policy.triggers.items()},
        )

    def hook(self, step: LifecycleStep) -> LifecycleStep:
        """A lifecycle step."""
        return replace(
            step,
            id=self.name(step.id),
            component=self.name(step.component) if step.component else "",
            config=self.values(step.config),
        )

    def _trigger(self, trigger: Trigger) -> Trigger:
        events = trigger.filter
        if events is not None and not events.of_type:
            events = replace(events, node=self.name(events.node))
        return replace(trigger, filter=events, actions=tuple(self._activity(a) for a in trigger.actions))

    def _activity(self, activity: Activity) -> Activity:
        name = self.name(activity.name) if activity.kind == "inline" else activity.name
        return replace(activity, name=name, inputs=self.values(activity.inputs))

    def workflow(self, workflow: Workflow) -> Workflow:
        """An imperative workflow. Its own inputs keep their names: they belong to it, not to the topology. Calls that
        read inputs are renamed nevertheless, since they may mean those of the topology."""
        return replace(
            workflow,
            name=self.name(workflow.name),
            prefix=self.name(workflow.prefix),
            preconditions=tuple(self._precondition(p) for p in workflow.preconditions),
            steps={n: self._step(s) for n, s in workflow.steps.items()},
            outputs={n: self.path(p) for n, p in workflow.outputs.items()},
        )

    def _precondition(self, item: Precondition) -> Precondition:
        return replace(item, target=self.name(item.target))

    def _step(self, step: Step) -> Step:
        target = self.name(step.target) if step.target else ""
        return replace(step, target=target, activities=tuple(self._activity(a) for a in step.activities))


# A service in which one node template is called otherwise, and everything that speaks of it with it.


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
    """The service with its node ``old`` renamed to ``new``, a name that no other node has."""
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
    """The keys of the relationships whose source is a node, with their new keys after it is renamed."""
    return {r.key: f"{new}{r.key[len(old) :]}" for r in service.nodes[old].requirements}
