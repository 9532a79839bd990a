"""Choosing existing nodes: for templates with the directive ``select`` and for requirements that no template of the
topology fulfils (§2.9, R-3.8.2-10). What exists is an inventory: a service like others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Related
from ordito.model.choices import Choices, SelectedNode
from ordito.model.circumstances import Circumstances
from ordito.model.constraints import violation
from ordito.model.facts import Facts, Unknown
from ordito.model.filters import LOWERED, OPERATING_SYSTEM, Finding, lowered, shown_value, together
from ordito.model.inputs import known_inputs
from ordito.model.operation import Interface
from ordito.model.requirements import Open, Requirements
from ordito.model.schema import Constraint, PropertyDefinition
from ordito.model.selection import MOST_LISTED, Found
from ordito.model.service import Capability, NodeTemplate, Service
from ordito.model.settings import PREFIX
from ordito.model.substituting import Substitutes
from ordito.model.templates import SELECT, SUBSTITUTE, Templates
from ordito.model.unit import Unit
from ordito.syntax.expressions import Value

INVENTORY = "name the existing nodes with --inventory FILE"
PLACE = "inventory/"
"""The prefix for the names of existing nodes without a template."""

replace = msgspec.structs.replace


class Selecting:
    """Chooses nodes, and reports if none can be chosen: as an error if everything has to be chosen now, else as a
    note."""

    def __init__(
        self,
        templates: Templates,
        requirements: Requirements,
        unit: Unit,
        facts: Facts,
        circumstances: Circumstances,
        substitutes: Substitutes,
    ) -> None:
        self._types = substitutes.types
        self._templates = templates
        self._requirements = requirements
        self._filters = requirements.filters
        self._unit = unit
        self._facts = facts
        self._circumstances = circumstances
        self._implements = substitutes.implements
        self._diagnostics = substitutes.diagnostics
        given = circumstances.inventory
        self._inventory = Inventory(given) if given is not None else None
        self._takes_first = False
        self._earlier = circumstances.choices
        self._selected: dict[str, SelectedNode] = {}
        self._fulfilled: dict[str, str] = {}
        self._found: dict[tuple[object, ...], tuple[list[NodeTemplate], list[str]]] = {}

    def settle(self) -> Choices:
        """Choose nodes for all templates with the directive ``select`` and for all open requirements."""
        self._look_for_hosts()
        for node in self._targets_first():
            self._select(node)
        for waiting, found in self._requirements.open:
            self._fulfil(waiting, found)
        return Choices(selected=self._selected, requirements=self._fulfilled)

    def _look_for_hosts(self) -> None:
        """Use the known hosts as an inventory if there is none and anything is to be selected."""
        hosts = self._circumstances.hosts
        if self._inventory is not None or hosts is None:
            return
        if self._requirements.open or any(SELECT in n.directives for n in self._templates.nodes.values()):
            self._inventory, self._takes_first = Inventory(hosts()), True

    # -------------------------------------------------------------------------------------------------- templates

    def _targets_first(self) -> Iterator[NodeTemplate]:
        """The templates to select, each after those that it requires."""
        nodes = {n.name: n for n in self._templates.nodes.values() if SELECT in n.directives}
        done: set[str] = set()
        for start in nodes:
            path: dict[str, None] = {start: None}
            while path:
                name = next(reversed(path))
                ahead = [r.target for r in nodes[name].requirements if r.target in nodes]
                further = next((t for t in ahead if t not in done and t not in path), None)
                if further is not None:
                    path[further] = None
                    continue
                del path[name]
                if name not in done:
                    done.add(name)
                    yield nodes[name]

    def _select(self, node: NodeTemplate) -> None:
        written = self._templates.written[node.name].node_filter
        if written is not None and self._filters.is_faulty(written):
            return
        earlier = self._earlier.selected.get(node.name)
        if self._inventory is None:
            if earlier is not None:
                self._take(node, earlier)
            else:
                self._unselected(node, [], [])
            return
        judged = [(c, self._judge(node, c)) for c in self._inventory.of_type(node.type)]
        if any(u.at_fault for _, finding in judged for u in finding.open):
            return
        fitting = [c for c, finding in judged if finding.fits]
        near = [f"{c.name}: {', '.join(f.against)}" for c, f in judged if f.against]
        unknown = [f"{c.name}: {f.open[0].reason}" for c, f in judged if f.open and not f.against]
        if earlier is not None and any(c.name == earlier.node for c in fitting):
            fitting = [c for c in fitting if c.name == earlier.node]
        if self._takes_first:
            fitting = fitting[:1]
        if len(fitting) == 1 and (not unknown or self._circumstances.final):
            self._take(node, self._inventory.described(fitting[0]))
        elif len(fitting) > 1:
            self._diagnostics.error(
                "ambiguous-selection",
                f'several nodes of the inventory fit "{node.name}": {_listed(c.name for c in fitting)}',
                node.span,
                hint="say more of the node below node_filter",
            )
        else:
            self._unselected(node, near, unknown)

    def _unselected(self, node: NodeTemplate, near: list[str], unknown: list[str]) -> None:
        hint = "; ".join([*near, *unknown][:MOST_LISTED])
        if self._inventory is None:
            hint = INVENTORY
        message = f'no existing node is selected for "{node.name}" ({node.type})'
        if self._circumstances.final or (self._inventory is not None and not unknown):
            hint = hint or f"the inventory has no {node.type}"
            self._diagnostics.error("no-selection", message, node.span, hint=hint)
        else:
            self._diagnostics.note("chosen-later", f"{message} yet", node.span, hint=hint)

    def _judge(self, node: NodeTemplate, candidate: NodeTemplate) -> Finding:
        """Whether an existing node is the one that a template describes."""
        assert self._inventory is not None
        item = self._templates.written[node.name]
        found: list[Finding] = [_labelled(node, candidate)]
        if item.node_filter is not None:
            facts = self._inventory.facts
            found.append(self._filters.match(item.node_filter, self._unit, candidate, facts, node.type))
        for name in item.properties.values if item.properties is not None else ():
            if name in node.properties:
                definition = node.definitions[name]
                given = candidate.properties.get(name)
                found.append(self._equal(name, definition, node.properties[name], given, (node, candidate)))
        for capability, assignment in (item.capabilities or {}).items():
            offered = candidate.capabilities.get(capability)
            wanted = node.capabilities.get(capability)
            if offered is None or wanted is None or assignment.properties is None:
                continue
            for name in assignment.properties.values:
                if name in wanted.properties:
                    given = offered.properties.get(name)
                    any_case = OPERATING_SYSTEM in offered.kinds and name in LOWERED
                    shown = f"{name} of {capability}"
                    found.append(
                        self._equal(
                            shown,
                            wanted.definitions[name],
                            lowered(wanted.properties[name]) if any_case else wanted.properties[name],
                            lowered(given) if any_case else given,
                            (node, candidate),
                        )
                    )
        found += [self._has_requirement(node, candidate, r.requirement, r.target) for r in node.requirements]
        return together(found)

    def _equal(
        self,
        shown: str,
        definition: PropertyDefinition,
        wanted: Value,
        given: Value,
        places: tuple[NodeTemplate, NodeTemplate],
    ) -> Finding:
        """Whether a value of an existing node is the one that the template gives."""
        assert self._inventory is not None
        if given is None:
            return Finding((f"{shown} has no value",))
        operand, value = self._facts.of(wanted, places[0]), self._inventory.facts.of(given, places[1])
        unknown = next((v for v in (operand, value) if isinstance(v, Unknown)), None)
        if unknown is not None:
            return Finding(open=(unknown,))
        assert not isinstance(operand, Unknown)
        assert not isinstance(value, Unknown)
        wrong = violation(value, Constraint("equal", operand), self._types.values.base(definition.schema))
        return Finding((f"{shown} is {shown_value(value)} and {wrong}",) if wrong else ())

    def _has_requirement(self, node: NodeTemplate, candidate: NodeTemplate, requirement: str, target: str) -> Finding:
        """Whether an existing node has the same relationship as the template, with the node selected for its
        target."""
        chosen = self._selected.get(target)
        if chosen is None:
            return Finding((f'its requirement "{requirement}" leads to "{target}", which is not selected',))
        if any(r.requirement == requirement and r.target == chosen.node for r in candidate.requirements):
            return Finding()
        return Finding((f'its requirement "{requirement}" does not lead to "{chosen.node}"',))

    def _take(self, node: NodeTemplate, existing: SelectedNode) -> None:
        self._selected[node.name] = existing
        self._templates.nodes[node.name] = _filled(self._templates.nodes[node.name], existing)

    # ----------------------------------------------------------------------------------------------- requirements

    def _fulfil(self, waiting: Open, found: Found) -> None:
        """Fulfil a requirement by an existing node, or by as many as it asks for."""
        wanted = max(1, waiting.least)
        earlier = self._chosen_earlier(waiting, wanted)
        if self._inventory is None:
            if not earlier or not self._bind_all(waiting, earlier):
                self._substitute_or_report(waiting, found, ())
            return
        fitting, near = self._existing(waiting)
        if 0 < len(fitting) < wanted:
            near = [f"{wanted} nodes are asked for, and only {_listed(c.name for c in fitting)} fit", *near]
        again = {e.node for e in earlier}
        if again and again <= {c.name for c in fitting}:
            fitting = [c for c in fitting if c.name in again]
        if self._takes_first:
            fitting = fitting[:wanted]
        if len(fitting) > wanted:
            self._diagnostics.error(
                "ambiguous-requirement",
                f"several nodes of the inventory fit {waiting.shown}: {_listed(c.name for c in fitting)}",
                waiting.place.span,
                hint="add a node_filter that only one of them satisfies",
            )
        elif len(fitting) < wanted or not self._bind_all(waiting, [self._inventory.described(c) for c in fitting]):
            self._substitute_or_report(waiting, found, near)

    def _chosen_earlier(self, waiting: Open, wanted: int) -> list[SelectedNode]:
        """The existing nodes that were chosen for a requirement when the service was planned before; none where some
        of them are not known."""
        if wanted > len(self._earlier.requirements):
            return []
        names = (self._earlier.requirements.get(_key(waiting, i), "") for i in range(wanted))
        found = [self._earlier.selected.get(name) for name in names]
        return [node for node in found if node is not None] if None not in found else []

    def _bind_all(self, waiting: Open, existing: Iterable[SelectedNode]) -> bool:
        """Bind a requirement to existing nodes; whether that can be done."""
        return all(
            self._bind(replace(waiting, number=waiting.number + i), node, _key(waiting, i))
            for i, node in enumerate(existing)
        )

    def _existing(self, waiting: Open) -> tuple[list[NodeTemplate], list[str]]:
        """The existing nodes that fit a requirement, and why some of the others do not; looked for once for all
        requirements that ask for the same."""
        assert self._inventory is not None
        known = self._found.get(waiting.demand.asked)
        if known is not None:
            return known
        fitting: list[NodeTemplate] = []
        near: list[str] = []
        for candidate in self._inventory.of_type(waiting.demand.node_type):
            finding = self._suits(waiting, candidate)
            if finding is not None and finding.fits:
                fitting.append(candidate)
            elif finding is not None and len(near) < MOST_LISTED:
                reasons = [*finding.against, *(u.reason for u in finding.open)]
                near.append(f"{candidate.name}: {', '.join(reasons)}")
        self._found[waiting.demand.asked] = fitting, near
        return fitting, near

    def _suits(self, waiting: Open, candidate: NodeTemplate) -> Finding | None:
        """Whether an existing node fits a requirement; None where it does not offer what is asked for at all."""
        assert self._inventory is not None
        demand = waiting.demand
        if self._offered(waiting, candidate) is None:
            return None
        facts = self._inventory.facts
        matches = (self._filters.match(f.filter, f.unit, candidate, facts, demand.node_type) for f in demand.filters)
        return together(matches)

    def _offered(self, waiting: Open, node: NodeTemplate) -> Capability | None:
        demand = waiting.demand
        return next(
            (c for c in node.capabilities.values() if demand.capability in c.kinds and demand.named in {"", c.name}),
            None,
        )

    def _bind(self, waiting: Open, existing: SelectedNode, key: str) -> bool:
        """Bind a requirement to an existing node, which becomes part of the topology."""
        name = f"{PLACE}{existing.node}"
        if name not in self._templates.nodes:
            kind = existing.type if existing.type in self._types.nodes else waiting.demand.node_type
            if kind not in self._types.nodes:
                return False
            node = self._templates.add(name, self._types.nodes[kind], waiting.place.span)
            self._take(node, existing)
        node = self._templates.nodes[name]
        capability = self._offered(waiting, node)
        if capability is None:
            return False
        self._fulfilled[key] = name
        self._requirements.bind(waiting, node, capability)
        return True

    def _substitute_or_report(self, waiting: Open, found: Found, near: Iterable[str]) -> None:
        """Fulfil a requirement of one node by a substituted one, if its type needs no values."""
        demand = waiting.demand
        shape = self._types.nodes.get(demand.node_type)
        needed = any(d.required and not d.has_default for d in shape.properties.values()) if shape is not None else True
        several = waiting.least > 1
        if shape is None or needed or several or found.open or not self._implements(demand.node_type, self._unit):
            self._report(waiting, found, near)
            return
        name = f"{demand.source.name}/{demand.shape.name}"
        plain, number = name, max(waiting.number, 2)
        while name in self._templates.nodes:
            name, number = f"{plain}.{number}", number + 1
        node = self._templates.add(name, shape, waiting.place.span)
        node = self._templates.nodes[name] = replace(node, directives=(SUBSTITUTE,))
        capability = self._offered(waiting, node)
        findings = (self._filters.match(f.filter, f.unit, node, self._facts) for f in demand.filters)
        if capability is None or not together(findings).fits:
            del self._templates.nodes[name]
            self._report(waiting, found, near)
            return
        self._requirements.bind(waiting, node, capability)

    def _report(self, waiting: Open, found: Found, near: Iterable[str]) -> None:
        if any(u.at_fault for u in found.open):
            return
        shape = waiting.demand.shape
        related = (Related("defined here", shape.span),) if shape.span else ()
        reasons = [*found.near, *(u.reason for u in found.open), *near]
        listed = "; ".join(reasons[:MOST_LISTED])
        if waiting.item is None and not found.open:
            self._diagnostics.error(
                "missing-requirement",
                f"the required {waiting.shown} is not assigned",
                waiting.place.span,
                hint=f"add below requirements: - {shape.name}: <node template>; "
                + (listed or f"no other node offers {shape.capability}"),
                related=related,
            )
        elif self._circumstances.final or (self._inventory is not None and not found.open):
            self._diagnostics.error(
                "no-candidate",
                f"nothing fulfils {waiting.shown}: there is no {waiting.demand.shown}",
                waiting.place.span,
                hint=f"{listed}; {INVENTORY}" if listed else f"add a node template that fits, or {INVENTORY}",
                related=related,
            )
        else:
            self._diagnostics.note(
                "chosen-later",
                f"{waiting.shown} is fulfilled when the service is planned: here is no {waiting.demand.shown}",
                waiting.place.span,
                hint=listed,
            )


def _key(waiting: Open, more: int) -> str:
    """The name of a relationship of a requirement, in what was chosen."""
    return f"{waiting.demand.source.name}.{waiting.demand.shape.name}.{waiting.number + more}"


def _filled(node: NodeTemplate, existing: SelectedNode) -> NodeTemplate:
    """A template with the values of the existing node that it is. Nothing is done to that node: its operations do
    nothing."""
    return replace(
        node,
        existing=existing.node,
        properties={n: v for n, v in existing.properties.items() if n in node.definitions},
        attributes={
            n: v for n, v in existing.attributes.items() if n in node.attribute_definitions or n.startswith(PREFIX)
        },
        capabilities={n: _capability(c, existing) for n, c in node.capabilities.items()},
        interfaces={n: _idle(i) for n, i in node.interfaces.items()},
        requirements=tuple(
            replace(r, interfaces={n: _idle(i) for n, i in r.interfaces.items()}) for r in node.requirements
        ),
    )


def _capability(item: Capability, existing: SelectedNode) -> Capability:
    properties = existing.capabilities.get(item.name, {})
    attributes = existing.capability_attributes.get(item.name, {})
    return replace(
        item,
        properties={n: v for n, v in properties.items() if n in item.definitions},
        attributes={n: v for n, v in attributes.items() if n in item.attribute_definitions},
    )


def _labelled(node: NodeTemplate, candidate: NodeTemplate) -> Finding:
    """Whether a host has the labels that a template asks for in its metadata."""
    has = candidate.settings.labels
    wrong = [f"{name}={value}" for name, value in node.settings.labels.items() if has.get(name) != value]
    return Finding((f"it does not have the label {', '.join(wrong)}",) if wrong else ())


def _idle(interface: Interface) -> Interface:
    operations = {
        n: replace(o, implementation=None, dependencies=()) if o.implementation is not None else o
        for n, o in interface.operations.items()
    }
    return replace(interface, operations=operations)


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    return ", ".join(found[:MOST_LISTED]) + (", ..." if len(found) > MOST_LISTED else "")


# An inventory: a service whose nodes exist already, and can be selected (§2.9).


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
