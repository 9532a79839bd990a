"""Imperative workflows: their steps, checked against the topology (§3.6.26, §3.6.27, §3.8.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from ordito.base.diagnostics import Diagnostics
from ordito.model import imperative
from ordito.model.activities import (
    DELEGATED,
    NOTHING,
    UNREADABLE,
    ActivityReader,
    ConditionReader,
    Holder,
    Subject,
    of_node,
    of_relationship,
)
from ordito.model.groups import Groups
from ordito.model.imperative import Precondition, Step, Workflow
from ordito.model.operation_parameters import NODE_HOSTS, mapping_path
from ordito.model.places import Place
from ordito.model.references import References
from ordito.model.schema import PropertyDefinition
from ordito.model.service import NodeTemplate, Relationship
from ordito.model.settings import plain_metadata
from ordito.model.templates import Templates
from ordito.model.types import Types
from ordito.model.units import Unit, find_type
from ordito.source import nodes
from ordito.source.nodes import Scalar
from ordito.syntax import entities
from ordito.syntax import workflows as written
from ordito.syntax.activities import Activity
from ordito.syntax.shapes import EntryList, is_lost

RELATIONSHIP_HOSTS = ("SOURCE", "TARGET")
KEYWORDS = ("SELF", "SOURCE", "TARGET", "HOST")


class Workflows:
    """Reads the imperative workflows of a topology, whose requirements are bound."""

    def __init__(
        self,
        types: Types,
        templates: Templates,
        groups: Groups,
        relationships: Mapping[str, tuple[Relationship, ...]],
        references: References,
        unit: Unit,
        diagnostics: Diagnostics,
    ) -> None:
        self._types = types
        self._templates = templates
        self._groups = groups
        self._relationships = relationships
        self._references = references
        self._unit = unit
        self._diagnostics = diagnostics
        self.conditions = ConditionReader(types.definitions, diagnostics)
        self.inputs: dict[str, dict[str, PropertyDefinition]] = {}
        self.found: dict[str, Workflow] = {}
        self._activities = ActivityReader(types.values, types.interfaces, unit, {}, self.inputs, diagnostics)

    def read(
        self,
        found: Mapping[str, written.Workflow],
        read_inputs: Callable[[Mapping[str, entities.ParameterDefinition]], dict[str, PropertyDefinition]],
    ) -> None:
        """Read all workflows."""
        for name, item in found.items():
            self.inputs[name] = read_inputs(item.inputs or {})
        types = self._types
        self._activities = ActivityReader(
            types.values, types.interfaces, self._unit, found, self.inputs, self._diagnostics
        )
        for name, item in found.items():
            self.found[name] = self._workflow(item)
        self._refuse_recursion()

    def _workflow(self, item: written.Workflow) -> Workflow:
        if item.steps is not None and item.implementation is not None:
            self._diagnostics.error(
                "mutually-exclusive",
                f'workflow "{item.name}" has steps and an implementation',
                item.implementation.span,
                hint="keep one of them: steps are run here, an implementation by what processes it",
            )
        primary, dependencies = self._types.interfaces.implementations.find(
            (item.implementation, self._unit) if item.implementation is not None else None, {}
        )
        external = item.implementation if isinstance(item.implementation, entities.Implementation) else None
        steps = {name: self._step(step, item) for name, step in (item.steps or {}).items()}
        self._refuse_circles(item.name, steps)
        return Workflow(
            name=item.name,
            inputs=self.inputs[item.name],
            preconditions=tuple(self._precondition(p) for p in item.preconditions or ()),
            steps=steps,
            implementation=primary,
            dependencies=dependencies,
            timeout=external.timeout if external is not None else None,
            operation_host=external.operation_host.text if external and external.operation_host else "",
            outputs=dict(self._outputs(item.outputs)),
            metadata=plain_metadata(item.at, item.metadata, "workflows", self._diagnostics),
            description=item.description.text if item.description else "",
            span=item.span,
        )

    def _precondition(self, item: written.Precondition) -> Precondition:
        subject = self.subject(item.target, item.target_relationship)
        relationship = item.target_relationship.text if item.target_relationship else ""
        condition = self.conditions.read(item.condition, subject)
        return Precondition(item.target.text, relationship, condition, item.span)

    def _step(self, item: written.Step, workflow: written.Workflow) -> Step:
        subject = self._step_subject(item)
        if not item.activities and not (isinstance(item.activities, EntryList) and item.activities.all_lost):
            self._diagnostics.warning(
                "idle-step", f'step "{item.name}" has no activities, so it does nothing', item.span
            )
        steps = workflow.steps or {}
        return Step(
            name=item.name,
            target=item.target.text if item.target else "",
            relationship=item.target_relationship.text if item.target_relationship else "",
            operation_host=self._host(item, subject),
            filter=self.conditions.read(item.filter, subject),
            activities=self.actions(item.activities, self._reached(item, subject), self.inputs[workflow.name]),
            on_success=tuple(self._following(item.on_success, steps)),
            on_failure=tuple(self._following(item.on_failure, steps)),
            span=item.span,
        )

    def _step_subject(self, item: written.Step) -> Subject:
        if item.target is not None:
            return self.subject(item.target, item.target_relationship)
        if any(a.kind != "inline" for a in item.activities or ()):
            self._diagnostics.error(
                "missing-keyname",
                f'step "{item.name}" lacks "target"',
                item.span,
                hint="name the node template or group that its activities are about",
            )
            return UNREADABLE
        return NOTHING

    def actions(
        self,
        activities: Iterable[Activity] | None,
        subject: Subject,
        inputs: Mapping[str, PropertyDefinition] | None = None,
        delegated: Sequence[str] = DELEGATED,
    ) -> tuple[imperative.Activity, ...]:
        """The activities on a subject, what they refer to checked; ``inputs`` are those of the workflow around them,
        which come before the inputs of the topology (§7.3.6). ``delegated`` are the workflows to which they may
        delegate."""
        with self._types.values.collecting_calls() as calls:
            found = self._activities.read(activities, subject, delegated)
        holder = subject.holders[0] if subject.holders else None
        place = (
            Place(holder.node, holder.relationship, inputs or {}) if holder is not None else Place(inputs=inputs or {})
        )
        self._references.check_all(calls, place)
        return found

    def subject(self, target: Scalar, requirement: Scalar | None = None) -> Subject:
        """The subject of a target: a node template or a group, or the relationships of the node's requirement."""
        name = target.text
        node = self._templates.nodes.get(name)
        if node is not None:
            if requirement is None:
                return Subject(f'"{name}"', (of_node(node),))
            return self._relationship(node, requirement)
        group = self._groups.found.get(name)
        if group is not None:
            if requirement is not None:
                self._diagnostics.error(
                    "wrong-target",
                    f'"{name}" is a group, which has no requirements',
                    requirement.span,
                    hint="name a node template as target",
                )
            members = [of_node(self._templates.nodes[m]) for m in group.members]
            own = Holder(f'group "{name}"', group.definitions, group.attribute_definitions)
            return Subject(f'group "{name}"', tuple(members) or (own,))
        if not self._templates.is_written(name) and not self._groups.is_written(name):
            known = chain(self._templates.written, self._groups.written)
            self._diagnostics.unknown("unknown-target", "node template or group", name, target.span, known)
        return UNREADABLE

    def _relationship(self, node: NodeTemplate, requirement: Scalar) -> Subject:
        bound = [r for r in node.requirements if r.requirement == requirement.text]
        if bound:
            return Subject(f'requirement "{requirement.text}"', tuple(of_relationship(r) for r in bound))
        shapes = self._types.nodes[node.type].requirements
        if requirement.text not in shapes:
            what = f'requirement of "{node.name}"'
            self._diagnostics.unknown("unknown-requirement", what, requirement.text, requirement.span, shapes)
        return UNREADABLE

    def _host(self, item: written.Step, subject: Subject) -> str:
        """Where operations of a step run (R-3.6.27-2)."""
        calls = [a for a in item.activities or () if a.kind == "call_operation"]
        group = item.target is not None and item.target.text in self._groups.found
        if item.operation_host is None:
            if item.target_relationship is not None and calls and not group:
                self._diagnostics.error(
                    "missing-keyname",
                    f'step "{item.name}" lacks "operation_host"',
                    item.span,
                    hint="an operation of a relationship runs at SOURCE or TARGET",
                )
            return ""
        name = item.operation_host.text
        if group:
            if not self._templates.is_written(name) and find_type("node", name, self._unit, self._types.units) is None:
                what = "node template or node type"
                self._diagnostics.unknown(
                    "unknown-target", what, name, item.operation_host.span, self._templates.written
                )
            return name
        hosts = RELATIONSHIP_HOSTS if item.target_relationship is not None else NODE_HOSTS
        return self._types.interfaces.implementations.host(item.operation_host, hosts)

    def _reached(self, item: written.Step, subject: Subject) -> Subject:
        """What the operations of a step are called on: of a group only the members that its host names."""
        if item.operation_host is None or item.target is None or item.target.text not in self._groups.found:
            return subject
        name = item.operation_host.text
        found = find_type("node", name, self._unit, self._types.units)
        kind = found.name if found is not None else ""
        reached = [h for h in subject.holders if h.node is not None and (h.node.name == name or kind in h.node.kinds)]
        return Subject(subject.what, tuple(reached), certain=bool(reached))

    def _following(self, names: Iterable[Scalar] | None, steps: Mapping[str, written.Step]) -> Iterable[str]:
        for name in names or ():
            if name.text in steps:
                yield name.text
            elif not is_lost(steps, name.text):
                self._diagnostics.unknown("unknown-step", "step", name.text, name.span, steps)

    def _outputs(self, outputs: nodes.Mapping | None) -> Iterable[tuple[str, tuple[str | int, ...]]]:
        """Output mappings, which begin with a node or relationship template."""
        for key, node in outputs.entries() if outputs is not None else ():
            path = mapping_path(node)
            if path is None or path[0] in KEYWORDS:
                self._diagnostics.error(
                    "bad-mapping",
                    f'output "{key.text}" of a workflow must be mapped by a list of a template and an attribute',
                    node.span,
                    hint="for example [ server, private_address ]",
                )
                continue
            holder = self._holder(str(path[0]))
            if holder is None:
                if not self._templates.is_written(str(path[0])):
                    known = chain(self._templates.written, self._relationships)
                    self._diagnostics.unknown(
                        "unknown-entity", "node or relationship template", str(path[0]), node.span, known
                    )
            elif self._attribute(holder, path):
                yield key.text, path
            else:
                hint = self._diagnostics.suggestion(str(path[1]), holder.values)
                message = f'output "{key.text}" is mapped to {holder.name}, which has no attribute "{path[1]}"'
                self._diagnostics.error("unknown-attribute", message, node.span, hint=hint)

    def _holder(self, name: str) -> Holder | None:
        node = self._templates.nodes.get(name)
        if node is not None:
            return of_node(node)
        used = self._relationships.get(name)
        return of_relationship(used[0]) if used else None

    def _attribute(self, holder: Holder, path: tuple[str | int, ...]) -> bool:
        if holder.value(str(path[1])) is not None:
            return True
        capability = holder.node.capabilities.get(str(path[1])) if holder.node is not None else None
        if capability is None or len(path) < 3:
            return False
        return path[2] in capability.attribute_definitions or path[2] in capability.definitions

    def _refuse_circles(self, workflow: str, steps: Mapping[str, Step]) -> None:
        """Report steps that lead back to themselves (R-7.3.1-6)."""
        circle = find_circle(steps, lambda n: (*steps[n].on_success, *steps[n].on_failure))
        if circle:
            self._diagnostics.error(
                "step-cycle",
                f'steps of workflow "{workflow}" follow each other in a circle: {" -> ".join(circle)}',
                steps[circle[0]].span,
                hint="a step runs once; leave one of these references out",
            )

    def _refuse_recursion(self) -> None:
        """Report workflows that inline themselves, directly or through others (R-3.6.23-i3)."""
        inlined = {name: [a for a in _activities(w) if a.kind == "inline"] for name, w in self.found.items()}
        circle = find_circle(self.found, lambda n: [a.name for a in inlined[n]])
        if circle:
            at = next(a for a in inlined[circle[0]] if a.name == circle[1])
            self._diagnostics.error(
                "workflow-cycle",
                f"workflows inline each other in a circle: {' -> '.join(circle)}",
                at.span,
                hint="leave one of these activities out",
            )


def _activities(workflow: Workflow) -> Iterable[imperative.Activity]:
    return (a for step in workflow.steps.values() for a in step.activities)


def find_circle(names: Iterable[str], following: Callable[[str], Iterable[str]]) -> list[str]:
    """The first cycle among names, each followed by others, with the same name at both ends; empty if there is none.
    Iterative, since users choose the depth."""
    done: set[str] = set()
    for start in names:
        path = [(start, iter(following(start)))] if start not in done else []
        on_path = dict.fromkeys([start])
        while path:
            name, rest = path[-1]
            after = next((n for n in rest if n not in done), None)
            if after is None:
                done.add(name)
                path.pop()
                on_path.pop(name, None)
            elif after in on_path:
                circle = list(on_path)
                return [*circle[circle.index(after) :], after]
            else:
                path.append((after, iter(following(after))))
                on_path[after] = None
    return []
