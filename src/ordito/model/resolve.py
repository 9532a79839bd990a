"""From files to the resolved service: the phases, in order.

Each phase reports all it finds and goes on with what is sound, so that one run shows every mistake, and nothing that
only follows from another one.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as MappingType

from ordito.base.diagnostics import Diagnostics
from ordito.model.circumstances import Circumstances
from ordito.model.facts import Facts
from ordito.model.filters import Filters
from ordito.model.groups import Groups
from ordito.model.indexes import by_target, by_template
from ordito.model.inputs import known_inputs
from ordito.model.instance_counts import check_counts
from ordito.model.mappings import AttributeMappings
from ordito.model.output_types import OutputTypes
from ordito.model.places import Place
from ordito.model.policies import Policies
from ordito.model.references import References
from ordito.model.relationships import Relationships
from ordito.model.repositories import check_credentials
from ordito.model.requirements import Requirements
from ordito.model.rules.check import check_rules
from ordito.model.rules.topology import Topology as Resolved
from ordito.model.schema import PropertyDefinition
from ordito.model.selecting import Selecting
from ordito.model.selection import Candidates
from ordito.model.service import Output, Service
from ordito.model.substituting import Substitutes
from ordito.model.substitution_mappings import Inside, Mappings, mapped_requirements
from ordito.model.templates import Templates, held_calls
from ordito.model.types import Types
from ordito.model.units import Unit, Units
from ordito.model.unused_capabilities import warn_of_unused
from ordito.model.unused_types import UnusedTypes
from ordito.model.workflows import Workflows
from ordito.source.package import Package
from ordito.syntax import entities
from ordito.syntax.expressions import Call, Value, calls
from ordito.syntax.functions import read_untyped
from ordito.syntax.topology import TopologyTemplate

AS_WRITTEN = Circumstances()


def resolve_service(
    package: Package, diagnostics: Diagnostics, circumstances: Circumstances = AS_WRITTEN
) -> Service | None:
    """Resolve a service; None where its files hold errors, which are in ``diagnostics`` then."""
    units = Units(package, diagnostics)
    units.gather()
    types = Types(units, diagnostics)
    types.flatten()
    check_credentials(units, types.values)
    if units.entry is None:
        return None
    filters = Filters(types, units, diagnostics)
    filters.check_types()

    def resolve(unit: Unit, inside: Circumstances) -> Service:
        return _resolve_topology(package, unit, types, substitutes, inside)

    substitutes = Substitutes(types, filters, resolve, diagnostics)
    substitutes.gather(units.all)
    service = resolve(units.entry, circumstances)
    if package.is_archive and not diagnostics.has_errors:
        _warn_of_unnamed(units.entry, diagnostics)
    return None if diagnostics.has_errors else service


def _resolve_topology(
    package: Package, entry: Unit, types: Types, substitutes: Substitutes, circumstances: Circumstances
) -> Service:
    units, filters, diagnostics = types.units, substitutes.filters, substitutes.diagnostics
    alone = entry is units.entry
    topology = entry.content.topology_template
    if topology is None:
        topology = TopologyTemplate(at=entry.content.at)
    inputs = _inputs(topology.inputs or {}, entry, types, diagnostics)
    templates = Templates(types, entry, filters, diagnostics)
    templates.read(topology.node_templates or {})
    relationships = Relationships(types, entry, units, topology.relationship_templates or {}, diagnostics)
    facts = Facts(templates.nodes, known_inputs(inputs, types.data, circumstances.inputs), inputs)
    check_counts(templates, facts, diagnostics)
    candidates = Candidates(types, templates.nodes, filters, facts)
    requirements = Requirements(types, templates, entry, units, relationships, candidates, diagnostics)
    if not alone or not circumstances.final:
        requirements.outside = mapped_requirements(topology.substitution_mappings)
    requirements.decided = circumstances.final
    requirements.fulfil()
    selecting = Selecting(templates, requirements, entry, facts, circumstances, substitutes)
    choices = selecting.settle()
    relationships.warn_of_unused(templates.written.values())
    types.values.found_calls = []
    outputs = _outputs(topology, entry, types, diagnostics)
    incoming, uses = by_target(templates.nodes), by_template(templates.nodes)
    references = References(topology, types, units, templates.nodes, uses, inputs, diagnostics)
    mappings = AttributeMappings(templates.nodes, types.data, diagnostics)
    _check_calls(templates, relationships.calls, outputs, references, mappings)
    if alone:
        made = (r for node in templates.nodes.values() for r in node.requirements)
        UnusedTypes(types, templates, references, mappings).check(made)
    OutputTypes(references.silent, inputs, types.data).complete(outputs)
    groups = Groups(types.groups, templates, types.values, units, entry, diagnostics)
    types.values.found_calls = []
    groups.read(topology.groups or {})
    references.check_all(types.values.found_calls, Place())
    workflows = Workflows(types, templates, groups, uses, references, entry, diagnostics)
    workflows.read(topology.workflows or {}, lambda written: _inputs(written, entry, types, diagnostics))
    policies = Policies(types, templates, groups, workflows, references, entry, diagnostics)
    policies.read(topology.policies or [])
    check_rules(Resolved(templates.nodes, incoming, diagnostics, policies.found, types.values.written))
    inside = Inside(templates, inputs, outputs, frozenset(topology.workflows or ()), topology.outputs)
    stands_for = Mappings(types, filters, inside, entry, diagnostics, alone=alone)
    if topology.substitution_mappings is None and not diagnostics.has_errors:
        warn_of_unused(templates.nodes, types.nodes, diagnostics)
    metadata = entry.content.facts
    service = Service(
        name=metadata.get("template_name") or package.name,
        main=package.main,
        files=units.files,
        inputs=inputs,
        outputs=outputs,
        nodes=templates.nodes,
        sanitised=templates.sanitised,
        incoming=incoming,
        data_types=types.data,
        relationship_templates=uses,
        metadata=metadata,
        description=entry.content.description.text if entry.content.description else "",
        groups=groups.found,
        policies=policies.found,
        workflows=workflows.found,
        substitution=stands_for.read(topology.substitution_mappings),
        choices=choices,
    )
    return substitutes.fill(service, entry, facts, circumstances, requirements.unfilled)


def _warn_of_unnamed(entry: Unit, diagnostics: Diagnostics) -> None:
    """What is handed on as an archive should say what it is and in which version (§3.10.3.2)."""
    missing = [name for name in ("template_name", "template_version") if name not in entry.content.facts]
    if missing:
        diagnostics.warning(
            "unnamed-template",
            f"the metadata of {entry.file} lacks {' and '.join(missing)}",
            entry.content.tosca_definitions_version.span,
            hint="add them below metadata:, so that others can tell what the archive holds",
        )


def _inputs(
    written: MappingType[str, entities.ParameterDefinition], entry: Unit, types: Types, diagnostics: Diagnostics
) -> dict[str, PropertyDefinition]:
    found: dict[str, PropertyDefinition] = {}
    for name, item in written.items():
        found[name] = types.definitions.parameter(name, item, entry)
        types.definitions.remember_default(found, name, item)
    types.values.literal = True
    types.definitions.settle_defaults(found)
    types.values.literal = False
    for definition in found.values():
        for call in calls(definition.default):
            diagnostics.error(
                "bad-value",
                f'the default of input "{definition.name}" is a value, not a function',
                call.span,
                hint="inputs are known before anything else",
            )
    return found


def _outputs(topology: TopologyTemplate, entry: Unit, types: Types, diagnostics: Diagnostics) -> dict[str, Output]:
    found: dict[str, Output] = {}
    for name, item in (topology.outputs or {}).items():
        schema = types.definitions.schema(item, entry) if item.type is not None else None
        if item.type is None and types.definitions.is_misspelt(item):
            continue
        node = item.value if item.value is not None else item.default
        if node is None:
            diagnostics.error("missing-keyname", f'output "{name}" lacks "value"', item.span, hint="say what it shows")
            continue
        value: Value = (
            read_untyped(node, diagnostics)
            if schema is None
            else types.values.read(node, schema, f'output "{name}"', item.type.span if item.type else None)
        )
        found[name] = Output(
            name,
            value,
            schema,
            item.description.text if item.description else "",
            {k: v.text for k, v in (item.metadata or {}).items()},
            item.span,
        )
    return found


def _check_calls(
    templates: Templates,
    between: MappingType[str, Iterable[Call]],
    outputs: MappingType[str, Output],
    references: References,
    mappings: AttributeMappings,
) -> None:
    """Check what all calls refer to. Calls of a type are checked once where the answer is the same for all its
    templates, the others for each template that has not put a value of its own in their place. ``between`` are the
    calls of relationships, by their keys."""
    varying: dict[str, list[Call]] = {}
    for name, node in templates.nodes.items():
        place = Place(node=node)
        own, shared = templates.calls[name], templates.shared_calls(node.type)
        if own:
            references.check_all(own, place)
        if node.existing:
            continue  # it has values instead of the calls of its type, and nothing is run on it
        if node.type not in varying:
            varying[node.type] = [c for c in shared if not references.direct(c, node)]
            references.check_all((c for c in shared if references.direct(c, node)), place)
        if own or shared:
            references.cycles.check(node)
        if varying[node.type]:
            held = {id(c) for c in held_calls(node)}
            references.check_all((c for c in varying[node.type] if id(c) in held), place)
        mappings.check(node.interfaces, place)
        for relationship in node.requirements:
            place = Place(relationship=relationship)
            if linking := between[relationship.key]:
                references.check_all(linking, place)
                references.cycles.check(relationship)
            mappings.check(relationship.interfaces, place)
    for output in outputs.values():
        references.check_all(calls(output.value), Place())
