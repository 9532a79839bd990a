"""Substitution: for each node template with the directive ``substitute``, a topology that implements its type is chosen
and replaces it (§2.10, §2.11, §2.12).

The chosen topology is resolved first, with all substitutions in it, so that it is flat. Depth and number are bounded:
topologies that hold each other, or double with each level, are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.model.choices import Choices
from ordito.model.circumstances import Circumstances
from ordito.model.constraints import violation
from ordito.model.facts import Facts, Unknown
from ordito.model.filters import Filters, Finding, shown_value, together
from ordito.model.joining import Beside, Joining, Part
from ordito.model.schema import Constraint
from ordito.model.service import NodeTemplate, Service
from ordito.model.templates import SUBSTITUTE
from ordito.model.types import Types
from ordito.model.unit import Unit
from ordito.model.values import Values
from ordito.syntax.expressions import Value
from ordito.syntax.mappings import SubstitutionMappings

MOST_LEVELS = 30
"""How deep topologies may substitute nodes of each other."""
MOST_NODES = 100_000
"""How many node templates substitution may add, over all levels."""

Resolve = Callable[[Unit, Circumstances], "Service | None"]
"""Resolves the topology of a file."""


class Candidate(msgspec.Struct, frozen=True):
    """A topology that can substitute nodes of a type: its file and its mappings."""

    unit: Unit
    mappings: SubstitutionMappings
    kinds: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its name for users: its template_name, or else the name of its file without the extension."""
        given = self.unit.content.facts.get("template_name")
        return given or self.unit.file.rpartition("/")[2].rpartition(".")[0]

    def is_called(self, name: str) -> bool:
        """Whether the user may mean it by a name."""
        return name in {self.name, self.unit.file, self.unit.file.rpartition("/")[2]}


class Substitutes:
    """The topologies of a service's files that can substitute nodes, and the resolved form of each."""

    def __init__(self, types: Types, filters: Filters, resolve: Resolve, diagnostics: Diagnostics) -> None:
        self.types = types
        self.diagnostics = diagnostics
        self.filters = filters
        self._resolve = resolve
        self._candidates: list[Candidate] = []
        self._open: list[Unit] = []
        self._made = 0
        self._resolved: dict[tuple[object, ...], Service | None] = {}

    def gather(self, units: Sequence[Unit]) -> None:
        """Look for topologies with substitution mappings in files."""
        for unit in units:
            topology = unit.content.topology_template
            mappings = topology.substitution_mappings if topology is not None else None
            if mappings is None:
                continue
            definition = self.types.units.names.find("node", mappings.node_type.text, unit)
            shape = self.types.nodes.get(definition.name) if definition is not None else None
            if shape is not None:
                self._candidates.append(Candidate(unit, mappings, shape.kinds))

    def implements(self, node_type: str, unit: Unit) -> bool:
        """Whether a topology other than that of ``unit`` can substitute nodes of a type."""
        return any(node_type in c.kinds and c.unit not in {unit, *self._open} for c in self._candidates)

    def fill(self, service: Service, unit: Unit, facts: Facts, circumstances: Circumstances, beside: Beside) -> Service:
        """The service with a topology instead of each node template with the directive ``substitute``; ``beside`` holds
        further knowledge about such nodes."""
        abstract = [n for n in service.nodes.values() if SUBSTITUTE in n.directives]
        if not abstract:
            return service
        self._open.append(unit)
        parts: dict[str, Part] = {}
        chosen: dict[str, str] = {}
        for node in abstract:
            candidate = self._choose(node, facts, circumstances)
            part = self._part(node, candidate, facts, circumstances) if candidate is not None else None
            if candidate is not None and part is not None:
                parts[node.name] = part
                chosen[node.name] = candidate.unit.file
        self._open.pop()
        if not self._is_bearable(parts):
            return service
        joined = Joining(service, parts, self.types, beside, self.diagnostics).joined()
        inner = {f"{n}/{k}": f for n, p in parts.items() for k, f in p.service.choices.substitutes.items()}
        choices = msgspec.structs.replace(joined.choices, substitutes={**chosen, **inner})
        return msgspec.structs.replace(joined, choices=choices)

    # --------------------------------------------------------------------------------------------------- choosing

    def _choose(self, node: NodeTemplate, facts: Facts, circumstances: Circumstances) -> Candidate | None:
        """The topology for a node; None where none can be told, which is reported."""
        of_type = [c for c in self._candidates if node.type in c.kinds]
        wanted = circumstances.choices.substitutes.get(node.name)
        if wanted is not None:
            named = [c for c in of_type if c.is_called(wanted)]
            if len(named) == 1:
                return named[0]
            self.diagnostics.error(
                "unknown-substitute",
                f'no topology called "{wanted}" can substitute "{node.name}"',
                node.span,
                hint=f"there are: {', '.join(_shown(of_type))}" if of_type else f"none implements {node.type}",
            )
            return None
        near: list[str] = []
        unknown: list[str] = []
        fitting: list[Candidate] = []
        for candidate in of_type:
            finding = self._judge(node, candidate, facts)
            if finding.fits:
                fitting.append(candidate)
            elif finding.against:
                near.append(f"{candidate.name}: {', '.join(finding.against)}")
            elif any(u.at_fault for u in finding.open):
                return None
            else:
                unknown.append(f"{candidate.name}: {finding.open[0].reason}")
        if unknown and not circumstances.final:
            fitting = []
        if not fitting:
            self._report_none(node, [*near, *unknown], final=circumstances.final)
            return None
        exact = [c for c in fitting if c.kinds[0] == node.type] or fitting
        if len(exact) == 1:
            return exact[0]
        self.diagnostics.error(
            "ambiguous-substitution",
            f'several topologies can substitute "{node.name}": {", ".join(_shown(exact))}',
            node.span,
            hint=f"choose one with --substitute {node.name}={exact[0].name}",
            related=[Related(c.name, c.mappings.span) for c in exact],
        )
        return None

    def _report_none(self, node: NodeTemplate, near: list[str], *, final: bool) -> None:
        message = f'no topology substitutes "{node.name}" ({node.type})'
        listed = "; ".join(near)
        hint = listed or f"import a file whose substitution_mappings have node_type {node.type}"
        if final:
            self.diagnostics.error("no-substitution", message, node.span, hint=hint)
        else:
            self.diagnostics.note("substituted-later", f"{message} yet", node.span, hint=hint)

    def _judge(self, node: NodeTemplate, candidate: Candidate, facts: Facts) -> Finding:
        """Whether a node is one that a topology stands for (R-2.12-2, R-3.8.8-2)."""
        findings: list[Finding] = []
        wanted = candidate.mappings.substitution_filter
        if wanted is not None:
            findings.append(self.filters.match(wanted, candidate.unit, node, facts))
        quiet = Values(self.types.data, Diagnostics())
        for name, mapping in (candidate.mappings.properties or {}).items():
            definition = node.definitions.get(name)
            if mapping.value is None or definition is None:
                continue
            constant = quiet.read(mapping.value, definition.schema, name)
            findings.append(self._compare(name, constant, node, facts))
        return together(findings)

    def _compare(self, name: str, constant: Value, node: NodeTemplate, facts: Facts) -> Finding:
        if node.properties.get(name) is None:
            return Finding((f"{name} has no value",))
        value = facts.of(node.properties[name], node)
        if isinstance(value, Unknown):
            return Finding(open=(value,))
        base = self.types.values.base(node.definitions[name].schema)
        wrong = violation(value, Constraint("equal", constant), base)
        return Finding((f"{name} is {shown_value(value)} and {wrong}",) if wrong else ())

    # -------------------------------------------------------------------------------------------------- resolving

    def _part(
        self, node: NodeTemplate, candidate: Candidate, facts: Facts, circumstances: Circumstances
    ) -> Part | None:
        """What a topology comes to with the values of the node that it stands for."""
        if candidate.unit in self._open:
            cycle = [*self._open[self._open.index(candidate.unit) :], candidate.unit]
            self.diagnostics.error(
                "substitution-cycle",
                f"topologies hold each other: {' -> '.join(u.file for u in cycle)}",
                node.span,
                hint="substitute the node by a topology that does not lead back to itself",
            )
            return None
        if len(self._open) > MOST_LEVELS:
            self.diagnostics.error(
                "substitution-limit",
                f"topologies stand for nodes of each other more than {MOST_LEVELS} levels deep",
                node.span,
                hint="describe the nodes in fewer levels",
            )
            return None
        inner = self._inner(node, candidate, facts, circumstances)
        if inner is None or inner.substitution is None:
            return None
        if not self._has_inputs(node, inner, candidate):
            return None
        return Part(node, inner, candidate.unit.file)

    def _inner(
        self, node: NodeTemplate, candidate: Candidate, facts: Facts, circumstances: Circumstances
    ) -> Service | None:
        """The topology, resolved with the values of the node; once for all nodes with the same values."""
        given: dict[str, object] = {}
        for name, value in node.properties.items():
            known = facts.of(value, node)
            if not isinstance(known, Unknown) and known is not None:
                given[name] = known
        prefix = f"{node.name}/"
        choices = _below(circumstances.choices, prefix)
        key = (candidate.unit.file, msgspec.json.encode([given, choices], order="deterministic"))
        if key not in self._resolved:
            inputs = {i: given[p] for p, i in self._ways(candidate).items() if p in given}
            inside = msgspec.structs.replace(circumstances, inputs=inputs, choices=choices)
            self._resolved[key] = self._resolve(candidate.unit, inside)
        return self._resolved[key]

    def _ways(self, candidate: Candidate) -> dict[str, str]:
        """The input that takes each property, as far as that is written; others go by their names."""
        topology = candidate.unit.content.topology_template
        found = {name: name for name in (topology.inputs or {})} if topology is not None else {}
        for name, mapping in (candidate.mappings.properties or {}).items():
            found.pop(name, None)
            if mapping.mapping is not None and len(mapping.mapping) == 1:
                found[name] = mapping.mapping[0].text
        return found

    def _has_inputs(self, node: NodeTemplate, inner: Service, candidate: Candidate) -> bool:
        """Whether every input of the topology has a value (R-2.10-4)."""
        assert inner.substitution is not None
        property_of = {i: p for p, i in inner.substitution.inputs.items()}
        mappings = (candidate.mappings.properties or {}).values()
        is_misnamed = any(m.mapping and m.mapping[0].text not in inner.inputs for m in mappings)
        whole = True
        for definition in inner.inputs.values():
            fed = property_of.get(definition.name)
            if not definition.required or definition.has_default or (fed is not None and fed in node.properties):
                continue
            whole = False
            if fed is None and is_misnamed:
                continue  # that has been reported
            why = f'property "{fed}" has none' if fed is not None else "no property gives it one"
            place = node.span if fed is not None else definition.span
            self.diagnostics.error(
                "unfilled-input",
                f'input "{definition.name}" of {candidate.unit.file} has no value where it substitutes "{node.name}": '
                f"{why}",
                place,
                hint="give the input a default, or map a property to it",
                related=[Related("substituted here", node.span)] if node.span is not None else (),
            )
        return whole

    def _is_bearable(self, parts: MappingType[str, Part]) -> bool:
        """Whether what is put in place stays within bounds."""
        before = self._made
        self._made += sum(len(p.service.nodes) + len(p.service.substituted) for p in parts.values())
        if self._made <= MOST_NODES:
            return True
        if before > MOST_NODES:
            return False  # that has been reported
        place = next(iter(parts.values())).node.span
        self.diagnostics.error(
            "substitution-limit",
            f"substitution makes more than {MOST_NODES} node templates",
            place,
            hint="look for topologies that hold each other several times",
        )
        return False


def _shown(candidates: Sequence[Candidate]) -> list[str]:
    return [f"{c.name} ({c.unit.file})" for c in candidates]


def _below(choices: Choices, prefix: str) -> Choices:
    """The choices that are made inside of a node."""

    def cut(values: MappingType[str, Value]) -> dict[str, Value]:
        return {k.removeprefix(prefix): v for k, v in values.items() if k.startswith(prefix)}

    return Choices(cut(choices.substitutes), cut(choices.selected), cut(choices.requirements))  # type: ignore[arg-type]
