"""Policies: their targets, and what their triggers do (§3.6.21, §3.6.22, §3.8.6)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain

from ordito.base.diagnostics import Diagnostics
from ordito.model.activities import DELEGATED, DRIVEN, Holder, Subject, of_capability, of_node
from ordito.model.block_types import LIFECYCLE_STEP
from ordito.model.group_types import PolicyShape
from ordito.model.groups import Groups, warn_of_repeats
from ordito.model.imperative import EventFilter, Policy, Trigger
from ordito.model.places import Place
from ordito.model.references import References
from ordito.model.schema import Schema
from ordito.model.service import NodeTemplate
from ordito.model.settings import plain_metadata
from ordito.model.step_configs import without_inline
from ordito.model.templates import Templates
from ordito.model.types import Types
from ordito.model.units import Definition, Unit, find_type
from ordito.model.workflows import Workflows
from ordito.source.nodes import Scalar
from ordito.syntax import policies as written
from ordito.syntax.expressions import Value

METHODS = ("average", "minimum", "maximum", "sum", "count", "last")
TIME_INTERVAL = "tosca.datatypes.TimeInterval"
BLOCK_NAME = re.compile("@v|#[A-Z]")
"""A part that the names of blocks have, and the names of other types never have."""


class PolicyReader:
    """Reads the policies of a topology."""

    def __init__(
        self,
        types: Types,
        templates: Templates,
        groups: Groups,
        workflows: Workflows,
        references: References,
        unit: Unit,
        diagnostics: Diagnostics,
    ) -> None:
        self._types = types
        self._templates = templates
        self._groups = groups
        self._unit = unit
        self._workflows = workflows
        self._references = references
        self._diagnostics = diagnostics
        self.found: dict[str, Policy] = {}
        self.steps: list[tuple[written.Policy, Definition | None]] = []
        """Those that are lifecycle steps, as they are written, and the definitions of their types; None where the type
        has the name of a block and is not there."""

    @property
    def components(self) -> Mapping[str, NodeTemplate]:
        """The node templates of the topology."""
        return self._templates.nodes

    def read(self, found: list[written.Policy]) -> None:
        """Read all policies."""
        for item in found:
            if BLOCK_NAME.search(item.type.text) and self._is_missing(item.type):
                self.steps.append((item, None))
                continue
            definition = self._types.find("policy", item.type, self._unit)
            shape = self._types.policies.get(definition.name) if definition is not None else None
            if definition is not None and shape is not None:
                self.found[item.name] = self._policy(item, shape)
                if _is_step(shape):
                    self.steps.append((item, definition))

    def _is_missing(self, name: Scalar) -> bool:
        """Whether a policy type is not there, and all files could be read in which it might be."""
        names = self._types.units.names
        return names.find("policy", name.text, self._unit) is None and not names.is_lost(
            "policy", name.text, self._unit
        )

    def _policy(self, item: written.Policy, shape: PolicyShape) -> Policy:
        warn_of_repeats(item.targets or (), f'policy "{item.name}"', "target", self._diagnostics)
        named = {t.text: t for t in item.targets or ()}
        targets = [name for name, t in named.items() if self._target(t, shape)]
        names = self._nodes(targets) if item.targets is not None else dict.fromkeys(self._templates.nodes)
        holders = tuple(of_node(self._templates.nodes[n]) for n in names)
        subject = Subject(f'policy "{item.name}"', holders, certain=bool(holders), every=item.targets is not None)
        values = self._types.values
        assigned = without_inline(item.properties) if _is_step(shape) else item.properties
        with values.collecting_calls() as found:
            properties = values.fields(assigned, shape.properties, f'policy "{item.name}"', "property", item)
        about = [self._templates.nodes[n] for n in names] if _is_step(shape) and item.targets is not None else []
        for place in [Place(node) for node in about] or [Place()]:
            self._references.check_all(found, place)
        inherited = {n: self._trigger(t, u, subject) for n, (t, u) in shape.triggers.items()}
        triggers = item.triggers if item.triggers is not None and not _is_step(shape) else {}
        own = {n: self._trigger(t, self._unit, subject) for n, t in triggers.items()}
        return Policy(
            name=item.name,
            kinds=shape.kinds,
            properties=properties,
            definitions=shape.properties,
            targets=tuple(targets),
            nodes=tuple(names),
            triggers={**inherited, **own},
            metadata=plain_metadata(item.at, item.metadata, "policies", self._diagnostics),
            description=item.description.text if item.description else "",
            span=item.span,
        )

    def _nodes(self, targets: list[str]) -> dict[str, None]:
        """The node templates that targets mean, members of groups included."""
        found: dict[str, None] = {}
        for name in targets:
            group = self._groups.found.get(name)
            found.update(dict.fromkeys(group.members if group is not None else (name,)))
        return found

    def _target(self, target: Scalar, shape: PolicyShape) -> bool:
        """Whether a target is there, and of a type that the policy's type permits (R-3.7.12-2)."""
        name = target.text
        node, group = self._templates.nodes.get(name), self._groups.found.get(name)
        if node is None and group is None:
            if not self._templates.is_written(name) and not self._groups.is_written(name):
                known = chain(self._templates.written, self._groups.written)
                self._diagnostics.unknown("unknown-target", "node template or group", name, target.span, known)
            return False
        kind, kinds = ("node", node.kinds) if node is not None else ("group", group.kinds if group else ())
        if not shape.targets or any(k == kind and t in kinds for k, t in shape.targets):
            return True
        self._diagnostics.error(
            "wrong-target",
            f'"{name}" is a {kinds[0]}; policies of type {shape.kinds[0]} are about '
            + " or ".join(t for _, t in shape.targets),
            target.span,
            hint="remove it, or use another policy type",
        )
        return False

    def _trigger(self, item: written.Trigger, unit: Unit, subject: Subject) -> Trigger:
        event = item.event or item.event_type
        if event is None:
            self._diagnostics.error(
                "missing-keyname",
                f'trigger "{item.name}" lacks "event"',
                item.span,
                hint="name the notification that it hears",
            )
        about, found = self._filter(item.target_filter, unit, subject)
        condition = item.condition
        return Trigger(
            name=item.name,
            event=event.text if event is not None else "",
            actions=self._workflows.actions(item.action, subject, delegated=(*DELEGATED, *DRIVEN)),
            schedule=self._schedule(item),
            filter=found,
            condition=self._workflows.conditions.read(condition.constraint, about) if condition is not None else None,
            period=self._period(condition),
            evaluations=condition.evaluations if condition is not None else None,
            method=self._method(condition),
            description=item.description.text if item.description else "",
            span=item.span,
        )

    def _schedule(self, item: written.Trigger) -> Mapping[str, Value]:
        if item.schedule is None:
            return {}
        read = self._types.values.read(item.schedule, Schema(TIME_INTERVAL), f'the schedule of "{item.name}"')
        return read if isinstance(read, dict) else {}

    def _period(self, condition: written.TriggerCondition | None) -> str:
        if condition is None or condition.period is None:
            return ""
        read = self._types.values.read(condition.period, Schema("scalar-unit.time"), '"period"')
        return read if isinstance(read, str) else ""

    def _method(self, condition: written.TriggerCondition | None) -> str:
        if condition is None or condition.method is None:
            return "average" if condition is not None and condition.period is not None else "last"
        if condition.method.text not in METHODS:
            method = condition.method
            self._diagnostics.unknown("bad-value", "method", method.text, method.span, METHODS)
        return condition.method.text

    def _filter(
        self, item: written.EventFilter | None, unit: Unit, subject: Subject
    ) -> tuple[Subject, EventFilter | None]:
        """What a trigger's condition is about, and the filter that says so: a node template, else all of a type."""
        if item is None:
            return subject, None
        node = self._templates.nodes.get(item.node.text)
        found = find_type("node", item.node, unit, self._types.units) if node is None else None
        if node is None and found is None:
            if not self._templates.is_written(item.node.text):
                what, known = "node template or node type", self._templates.written
                self._diagnostics.unknown("unknown-target", what, item.node.text, item.node.span, known)
            return Subject("", (), certain=False), None
        chosen = [node] if node is not None else [n for n in self._templates.nodes.values() if _is(n, found)]
        read = EventFilter(
            node.name if node is not None else found.name if found is not None else "",
            node is None,
            item.requirement.text if item.requirement else "",
            item.capability.text if item.capability else "",
            item.span,
        )
        return Subject(f'"{item.node.text}"', self._filtered(chosen, item), certain=bool(chosen)), read

    def _filtered(self, chosen: list[NodeTemplate], item: written.EventFilter) -> tuple[Holder, ...]:
        """What the requirement and the capability of a filter lead to."""
        if item.requirement is not None:
            chosen = self._required(chosen, item.requirement)
        if item.capability is None:
            return tuple(of_node(n) for n in chosen)
        name = item.capability.text
        having = [(n, n.capabilities[name]) for n in chosen if name in n.capabilities]
        if chosen and not having:
            what, known = f'capability of "{chosen[0].name}"', chosen[0].capabilities
            self._diagnostics.unknown("unknown-capability", what, name, item.capability.span, known)
        return tuple(of_capability(n, c) for n, c in having)

    def _required(self, chosen: list[NodeTemplate], requirement: Scalar) -> list[NodeTemplate]:
        """The nodes at the other end of a requirement."""
        name = requirement.text
        shapes = [self._types.nodes[n.type].requirements for n in chosen]
        if shapes and not any(name in s for s in shapes):
            what = f'requirement of "{chosen[0].name}"'
            self._diagnostics.unknown("unknown-requirement", what, name, requirement.span, shapes[0])
        targets = dict.fromkeys(r.target for n in chosen for r in n.requirements if r.requirement == name)
        return [self._templates.nodes[t] for t in targets if t in self._templates.nodes]


def _is_step(shape: PolicyShape) -> bool:
    return LIFECYCLE_STEP in shape.kinds


def _is(node: NodeTemplate, definition: Definition | None) -> bool:
    return definition is not None and definition.name in node.kinds
