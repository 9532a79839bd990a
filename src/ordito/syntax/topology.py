"""The topology template and its groups, as they are written (§3.8.5, §3.9)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from typing import Annotated, Any, ClassVar

from ordito.base.diagnostics import Related
from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.syntax.entities import (
    LIFECYCLE,
    OF_MEMBERS,
    InterfaceDefinition,
    NodeTemplate,
    ParameterDefinition,
    RelationshipTemplate,
)
from ordito.syntax.functions import call_in
from ordito.syntax.grammar import Entity, Key, Reading
from ordito.syntax.mappings import SubstitutionMappings
from ordito.syntax.policies import Policies, Policy
from ordito.syntax.shapes import Assignments, Entries, Many, Metadata, Named, One, Text, Texts
from ordito.syntax.workflows import Workflow

# ``copy`` of node and relationship templates (§3.8.3, §3.8.4): what is written in the template that is named is the
# basis, what is written beside ``copy`` goes over it.
#
# The maps are put together as they are written, before they are read, so that every fault is found where it stands,
# be it in the copied template or in the copy. Maps are merged name by name, down to where functions are called; lists
# are replaced, save that of requirements those of other names are kept.

COPY = "copy"


class NamedTemplates(Named, frozen=True, eq=False):
    """A map of names to templates, which may copy each other."""

    def read(self, node: Node, what: str, reading: Reading) -> dict[str, Any] | None:
        """The templates that can be read, by name, each copy with what it takes from its source."""
        lost: list[str] = []
        if isinstance(node, Mapping) and any(isinstance(v, Mapping) and COPY in v.values for v in node.values.values()):
            node = _with_copies(node, self.entity.WHAT, lost, reading)
        found = super().read(node, what, reading)
        if lost and isinstance(found, Entries):
            found.lose(lost)
        return found


def _with_copies(node: Mapping, what: str, lost: list[str], reading: Reading) -> Mapping:
    """The map with each template that copies another one put together with it. Where that cannot be, the template is
    ``lost``: what it seems to lack may be there."""
    values = dict(node.values)
    for key, template in node.entries():
        source = template.values.get(COPY) if isinstance(template, Mapping) else None
        if not isinstance(source, Scalar):
            continue  # there is none, or it is no name, which is reported where it is read
        assert isinstance(template, Mapping)
        basis = _basis(key.text, source, node, what, reading)
        if basis is not None:
            values[key.text] = _merged(basis, template)
        else:
            lost.append(key.text)
            del values[key.text]
    return _map([k for k in node.keys if k.text in values], values, node)


def _basis(name: str, source: Scalar, templates: Mapping, what: str, reading: Reading) -> Mapping | None:
    """The template that is copied; None where there is none that may be, with a diagnostic."""
    basis = templates.values.get(source.text)
    if basis is None:
        known = [n for n in templates.values if n != name]
        reading.diagnostics.unknown("unknown-template", what, source.text, source.span, known)
        return None
    if source.text == name:
        reading.diagnostics.error(
            "bad-copy", f'{what} "{name}" copies itself', source.span, hint="name another template, or remove copy"
        )
        return None
    if not isinstance(basis, Mapping):
        return None  # it cannot be read, which is reported
    if COPY in basis.values:
        reading.diagnostics.error(
            "bad-copy",
            f'"{source.text}" is a copy itself, and copies cannot be copied',
            source.span,
            hint="copy the template that it copies",
            related=(Related("it copies another template here", basis.key(COPY).span),),
        )
        return None
    return basis


def _merged(basis: Mapping, template: Mapping) -> Mapping:
    """A template put together with the one that it copies. The nesting of documents is bounded by the loader."""
    values: dict[str, Node] = dict(basis.values)
    for name, value in template.values.items():
        below = values.get(name)
        if isinstance(below, Sequence) and isinstance(value, Sequence) and name == "requirements":
            values[name] = _requirements(below, value)
        elif below is not None:
            values[name] = _over(below, value)
        else:
            values[name] = value
    return _map([*basis.keys, *template.keys], values, template)


def _over(below: Node, above: Node) -> Node:
    """What comes of a value that is written over another one."""
    if not isinstance(below, Mapping) or not isinstance(above, Mapping) or call_in(below) or call_in(above):
        return above
    values = dict(below.values)
    for name, value in above.values.items():
        values[name] = _over(values[name], value) if name in values else value
    return _map([*below.keys, *above.keys], values, above)


def _requirements(below: Sequence, above: Sequence) -> Sequence:
    """Requirements, of which those with names that are written again are left out below."""
    anew = {name for item in above.items if isinstance(item, Mapping) for name in item.values}
    kept = [i for i in below.items if not (isinstance(i, Mapping) and anew.intersection(i.values))]
    return Sequence(above.source, above.line, above.column, above.end_line, above.end_column, [*kept, *above.items])


def _map(keys: list[Scalar], values: dict[str, Node], place: Mapping) -> Mapping:
    """A map that stands where another one does; of keys with the same text the last is taken."""
    by_text = {k.text: k for k in keys}
    where = (place.source, place.line, place.column, place.end_line, place.end_column)
    return Mapping(*where, [by_text[n] for n in values], values)


class Group(Entity, frozen=True, eq=False, kw_only=True):
    """Group (§3.8.5)."""

    WHAT: ClassVar[str] = "group"

    type: Annotated[Scalar, Key(Text(), required=True)]
    description: Annotated[Scalar | None, Key(Text())] = None
    metadata: Annotated[Metadata | None, Key(Texts())] = None
    properties: Annotated[Mapping | None, Key(Assignments())] = None
    attributes: Annotated[Mapping | None, Key(Assignments())] = None
    members: Annotated[list[Scalar] | None, Key(Many(Text()))] = None
    interfaces: Annotated[
        dict[str, InterfaceDefinition] | None, Key(Named(InterfaceDefinition), instead=OF_MEMBERS)
    ] = None


class TopologyTemplate(Entity, frozen=True, eq=False, kw_only=True):
    """Topology template (§3.9)."""

    WHAT: ClassVar[str] = "topology template"
    ELSEWHERE: ClassVar[MappingType[str, str]] = LIFECYCLE
    SECTIONS: ClassVar[bool] = True

    description: Annotated[Scalar | None, Key(Text())] = None
    inputs: Annotated[dict[str, ParameterDefinition] | None, Key(Named(ParameterDefinition))] = None
    node_templates: Annotated[dict[str, NodeTemplate] | None, Key(NamedTemplates(NodeTemplate))] = None
    relationship_templates: Annotated[
        dict[str, RelationshipTemplate] | None, Key(NamedTemplates(RelationshipTemplate))
    ] = None
    groups: Annotated[dict[str, Group] | None, Key(Named(Group))] = None
    policies: Annotated[list[Policy] | None, Key(Policies())] = None
    outputs: Annotated[dict[str, ParameterDefinition] | None, Key(Named(ParameterDefinition))] = None
    substitution_mappings: Annotated[SubstitutionMappings | None, Key(One(SubstitutionMappings))] = None
    workflows: Annotated[dict[str, Workflow] | None, Key(Named(Workflow))] = None
