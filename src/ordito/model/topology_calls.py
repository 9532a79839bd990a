"""Checking the function calls of a whole topology, each where it is written (chapter 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ordito.model.mappings import AttributeMappings
from ordito.model.places import Place
from ordito.model.references import References
from ordito.model.service import NodeTemplate, Output, Relationship
from ordito.model.templates import Templates, held_calls
from ordito.syntax.expressions import Call, calls


def check_calls(
    templates: Templates,
    unbound: Iterable[Relationship],
    between: Mapping[str, Iterable[Call]],
    outputs: Mapping[str, Output],
    references: References,
    mappings: AttributeMappings,
) -> None:
    """Check what all calls refer to. Calls of a type are checked once where the answer is the same for all its
    templates, the others for each template that has not put a value of its own in their place. ``between`` are the
    calls of relationships, by their keys, those that are ``unbound`` included."""
    varying: dict[str, list[Call]] = {}
    for name, node in templates.nodes.items():
        copied = templates.copied(name)
        if copied is None:
            _check_node(node, templates, varying, between, references, mappings)
            continue
        with references.diagnostics.about(copied):
            _check_node(node, templates, varying, between, references, mappings)
    for relationship in unbound:
        with references.diagnostics.about(templates.copied(relationship.source)):
            _check_relationship(relationship, between, references, mappings)
    for output in outputs.values():
        references.check_all(calls(output.value), Place())


def _check_node(
    node: NodeTemplate,
    templates: Templates,
    varying: dict[str, list[Call]],
    between: Mapping[str, Iterable[Call]],
    references: References,
    mappings: AttributeMappings,
) -> None:
    """Check the calls of one template and of its relationships."""
    place = Place(node=node)
    own, shared = templates.calls[node.name], templates.shared_calls(node.type)
    if own:
        references.check_all(own, place)
    if node.existing:
        return  # it has values instead of the calls of its type, and nothing is run on it
    if node.type not in varying:
        varying[node.type] = [c for c in shared if not references.direct(c, node)]
        references.check_all((c for c in shared if references.direct(c, node)), place)
    if shared or node.name in templates.calling:
        references.cycles.check(node)
    if varying[node.type]:
        held = {id(c) for c in held_calls(node)}
        references.check_all((c for c in varying[node.type] if id(c) in held), place)
    mappings.check(node.interfaces, place)
    for relationship in node.requirements:
        _check_relationship(relationship, between, references, mappings)


def _check_relationship(
    relationship: Relationship,
    between: Mapping[str, Iterable[Call]],
    references: References,
    mappings: AttributeMappings,
) -> None:
    place = Place(relationship=relationship)
    if linking := between[relationship.key]:
        references.check_all(linking, place)
        references.cycles.check(relationship)
    mappings.check(relationship.interfaces, place)
