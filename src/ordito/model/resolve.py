"""From files to the resolved service: the phases, in order.

Each phase reports all faults that it finds and continues with the rest, so that one run shows every mistake, and none
that only follows from another.
"""

from __future__ import annotations

from ordito.base.allowable import SETTING
from ordito.base.diagnostics import Diagnostics
from ordito.model.block_types import KnownBlocks
from ordito.model.circumstances import Circumstances
from ordito.model.deploying import with_deployment
from ordito.model.facts import Facts, Unknown
from ordito.model.filters import Filters
from ordito.model.groups import Groups
from ordito.model.inputs import known_inputs
from ordito.model.joining import Beside
from ordito.model.lifecycle_steps import LifecycleStep
from ordito.model.mappings import AttributeMappings
from ordito.model.parameters import OutputTypes, read_inputs, read_outputs
from ordito.model.places import Place
from ordito.model.policies import PolicyReader
from ordito.model.references import References, check_calls
from ordito.model.relationships import Relationships
from ordito.model.requirements import Requirements
from ordito.model.rules.check import check_rules
from ordito.model.rules.topology import Topology as Resolved
from ordito.model.schema import Schema
from ordito.model.selecting import Selecting
from ordito.model.selection import Candidates
from ordito.model.service import Service, by_target, by_template
from ordito.model.settings import read_allowed, refuse_settings
from ordito.model.step_policies import file_steps, policy_steps
from ordito.model.substituting import Substitutes
from ordito.model.substitution_mappings import Inside, MappingsReader, mapped_requirements
from ordito.model.templates import Templates
from ordito.model.types import Types
from ordito.model.units import Unit, Units
from ordito.model.unused import UnusedTypes, warn_of_unused
from ordito.model.values import Values
from ordito.model.workflows import Workflows
from ordito.source.nodes import Mapping, Node, Scalar
from ordito.source.package import Package
from ordito.syntax.dialects import LANGUAGE
from ordito.syntax.expressions import calls
from ordito.syntax.service_template import ServiceFile
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
    content = units.entry.content
    diagnostics.allowed = circumstances.allowed | read_allowed(content.metadata, diagnostics)
    refuse_settings(content.at, content.metadata, "a whole service", diagnostics, save=(SETTING, LANGUAGE))
    filters = Filters(types, units, diagnostics)
    filters.check_types()
    if content.lowered is not None and content.lowered.dialect.is_lenient:
        diagnostics.softened = PASSED_OVER if circumstances.final else PASSED_OVER | DECIDED_LATER

    def resolve(unit: Unit, inside: Circumstances) -> Service:
        return _resolve_topology(package, unit, types, substitutes, inside)

    substitutes = Substitutes(types, filters, resolve, diagnostics)
    substitutes.gather(units.all)
    service = resolve(units.entry, circumstances)
    if package.is_archive and content.lowered is None and not diagnostics.has_errors:
        _warn_of_unnamed(units.entry, diagnostics)
    return None if diagnostics.has_errors else with_deployment(service)


PASSED_OVER = frozenset({"unknown-capability"})
"""Errors about what is only left out, which is a warning in some languages."""
DECIDED_LATER = frozenset({"missing-value", "missing-requirement"})
"""Errors about what a topology still lacks, which some languages find only when it is to be deployed."""


def _resolve_topology(
    package: Package, entry: Unit, types: Types, substitutes: Substitutes, circumstances: Circumstances
) -> Service:
    units, filters, diagnostics = types.units, substitutes.filters, substitutes.diagnostics
    alone = entry is units.entry
    topology = entry.content.topology_template
    if topology is None:
        topology = TopologyTemplate(at=entry.content.at)
    # What is written: values by their types, functions as calls.
    inputs = read_inputs(topology.inputs or {}, entry, types, diagnostics)
    templates = Templates(types, entry, filters, diagnostics)
    templates.read(topology.node_templates or {})
    relationships = Relationships(types, entry, units, topology.relationship_templates or {}, diagnostics)
    # What fulfils what: requirements are bound, nodes selected from the topology and the inventory.
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
    unbound = requirements.unbound()
    relationships.check_unread(templates.written.values())
    # What calls refer to, and what they give.
    outputs = read_outputs(topology, entry, types, diagnostics)
    incoming, uses = by_target(templates.nodes), by_template(templates.nodes)
    templates.check_settings(incoming)
    references = References(topology, types, units, templates.nodes, uses, inputs, diagnostics)
    mappings = AttributeMappings(templates.nodes, types.data, diagnostics)
    check_calls(templates, unbound, relationships.calls, outputs, references, mappings)
    for definition in inputs.values():
        references.check_all(calls(definition.default), Place())
    diagnostics.settle()
    if alone:
        made = (r for node in templates.nodes.values() for r in node.requirements)
        UnusedTypes(types, templates, references, mappings).check(made)
    OutputTypes(references.silent, inputs, types.data).complete(outputs)
    # What is said about all of that: groups, workflows, policies, the rules of normative types.
    groups = Groups(types.groups, templates, types.values, types.interfaces, units, entry, diagnostics)
    with types.values.collecting_calls() as found:
        groups.read(topology.groups or {})
    references.check_all(found, Place())
    workflows = Workflows(types, templates, groups, uses, references, entry, diagnostics)
    workflows.read(topology.workflows or {}, lambda written: read_inputs(written, entry, types, diagnostics))
    policies = PolicyReader(types, templates, groups, workflows, references, entry, diagnostics)
    policies.read(topology.policies or [])
    check_rules(Resolved(templates.nodes, incoming, diagnostics, policies.found, types.values.written))
    # What the topology stands for, and what stands for its nodes.
    inside = Inside(templates, inputs, outputs, frozenset(topology.workflows or ()), topology.outputs)
    stands_for = MappingsReader(types, filters, inside, entry, diagnostics, alone=alone)
    if topology.substitution_mappings is None and not diagnostics.has_errors:
        warn_of_unused(templates.nodes, types.nodes, diagnostics)
    metadata = entry.content.facts
    further = circumstances.steps if alone else None
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
        hooks=_steps(policies, KnownBlocks(types, circumstances.blocks), references, further),
        language=_language(entry.content),
    )
    beside = Beside(requirements.unfilled, tuple(references.of_substituted))
    return substitutes.fill(service, entry, facts, circumstances, beside)


def _language(content: ServiceFile) -> str:
    """The version of another language that a file is written in, "" for TOSCA."""
    version = content.tosca_definitions_version.text
    return "" if content.lowered is None or version.startswith("tosca_") else version


def _steps(
    policies: PolicyReader, blocks: KnownBlocks, references: References, file: Node | None
) -> dict[str, LifecycleStep]:
    """The lifecycle steps of a topology; ``file`` declares further ones."""
    steps = policy_steps(policies, blocks, references)
    return steps if file is None else file_steps(file, blocks, references, policies.components, steps)


def _warn_of_unnamed(entry: Unit, diagnostics: Diagnostics) -> None:
    """Warn of an archive whose metadata lack its name or version (§3.10.3.2)."""
    missing = [name for name in ("template_name", "template_version") if name not in entry.content.facts]
    if missing:
        diagnostics.warning(
            "unnamed-template",
            f"the metadata of {entry.file} lacks {' and '.join(missing)}",
            entry.content.tosca_definitions_version.span,
            hint="add them below metadata:, so that others can tell what the archive holds",
        )


# Repositories: whether their credentials are what the data type asks for (§3.6.6, §5.3.2).

CREDENTIAL = Schema("tosca.datatypes.Credential")


def check_credentials(units: Units, values: Values) -> None:
    """Check the credentials of all repositories, now that data types are known."""
    for unit in units.written:
        for name, repository in (unit.content.repositories or {}).items():
            written = repository.credential
            if written is not None and not _is_bare_token(written):
                values.read(written, CREDENTIAL, f'the credential of repository "{name}"')


def _is_bare_token(node: Node) -> bool:
    """Whether a credential is a token and nothing else: that looks like a call of the function ``token``, which has no
    meaning before the service is known."""
    return isinstance(node, Mapping) and [*node.values] == ["token"] and isinstance(node.values["token"], Scalar)


# How many instances node templates have, as far as that is known before anything is planned (§2.20).


def check_counts(templates: Templates, facts: Facts, diagnostics: Diagnostics) -> None:
    """Check each ``instance_count`` against the ``occurrences`` of its template."""
    for node in templates.nodes.values():
        written = templates.written[node.name].instance_count if node.name in templates.written else None
        if written is None or node.instance_count is None:
            continue
        count = facts.of(node.instance_count, node)
        if isinstance(count, Unknown | bool) or not isinstance(count, int):
            continue  # what is of another type has been reported
        low, high = node.occurrences or (0, None)
        if count < 0:
            diagnostics.error(
                "bad-count",
                f'node template "{node.name}" cannot have {count} instances',
                written.span,
                hint="give a whole number from 0 on",
            )
        elif count < low or (high is not None and count > high):
            bounds = f"[{low}, {'UNBOUNDED' if high is None else high}]"
            diagnostics.error(
                "count-out-of-bounds",
                f'node template "{node.name}" has {count} instances, and its occurrences are {bounds}',
                written.span,
                hint="change one of the two",
            )
