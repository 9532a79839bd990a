"""A blueprint, as it is written: one file, with its imports."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from typing import Annotated, ClassVar

import msgspec

from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.syntax.cloudify.entities import (
    CloudifyDataType,
    CloudifyNodeTemplate,
    CloudifyNodeType,
    CloudifyRelationshipType,
    InputSchema,
    OutputSchema,
    Plugin,
)
from ordito.syntax.cloudify.policies import (
    CloudifyGroup,
    CloudifyPolicy,
    CloudifyPolicyType,
    CloudifyWorkflow,
    PolicyTrigger,
)
from ordito.syntax.cloudify.shapes import AnyMap, Optional
from ordito.syntax.grammar import Entity, Key, Reading
from ordito.syntax.shapes import EntryList, Many, Named, One, Raw, Text


class Import(msgspec.Struct, frozen=True):
    """What a blueprint imports, and the properties that it gives to a plugin."""

    file: Scalar
    properties: Mapping | None = None


class Imports(msgspec.Struct, frozen=True):
    """The imports of a file: texts, and since 1.5 maps of one text to the properties of a plugin."""

    maps: bool = True

    def read(self, node: Node, what: str, reading: Reading) -> list[Import] | None:
        """The imports that can be read, in their order."""
        if is_null(node):
            return None
        if not isinstance(node, Sequence):
            hint = f"write [{node.text}]" if isinstance(node, Scalar) else "write a dash before each entry"
            reading.wrong_kind(node, what, "a list", hint)
            return EntryList.unreadable()
        found = EntryList()
        given: dict[str, Scalar] = {}
        for item in node.items:
            read = self._one(item, reading)
            if read is None:
                found.lose(("",))
            elif read.file.text in given:
                reading.diagnostics.error(
                    "duplicate-name", f'"{read.file.text}" is imported twice', read.file.span, hint="remove one of them"
                )
            else:
                given[read.file.text] = read.file
                found.append(read)
        return found

    def _one(self, item: Node, reading: Reading) -> Import | None:
        if isinstance(item, Scalar) and not is_null(item):
            return Import(item)
        if isinstance(item, Mapping) and len(item.keys) == 1:
            (name,) = item.keys
            below = item.values[name.text]
            if not self.maps:
                reading.diagnostics.error(
                    "unknown-keyname",
                    f"an import has no properties in {reading.dialect.name}",
                    name.span,
                    hint="it has some since cloudify_dsl_1_5: remove them, or raise tosca_definitions_version",
                )
                return None
            return Import(name, AnyMap().read(below, f'"{name.text}"', reading))
        reading.wrong_kind(item, "an import", "the path of a file, or what names a plugin or a blueprint")
        return None


class Label(Entity, frozen=True, eq=False, kw_only=True):
    """The values of a label."""

    WHAT: ClassVar[str] = "label"
    MEANT: ClassVar[str] = "values"

    values: Annotated[list[Node], Key(Many(Raw()), required=True)]


class DeploymentSettings(Entity, frozen=True, eq=False, kw_only=True):
    """Settings of what is deployed."""

    WHAT: ClassVar[str] = "deployment settings"

    id_template: Annotated[Node | None, Key(Raw())] = None
    display_name: Annotated[Node | None, Key(Raw())] = None
    default_schedules: Annotated[Mapping | None, Key(AnyMap())] = None
    default_groups: Annotated[list[Node] | None, Key(Many(Raw()))] = None


class Blueprint(Entity, frozen=True, eq=False, kw_only=True):
    """A blueprint, or a file that it imports."""

    WHAT: ClassVar[str] = "blueprint"
    SECTIONS: ClassVar[bool] = True
    ELSEWHERE: ClassVar[MappingType[str, str]] = {
        "topology_template": 'a blueprint has its "node_templates:" at the top',
        "relationship_types": 'write "relationships"',
    }

    tosca_definitions_version: Annotated[Scalar | None, Key(Text())] = None
    description: Annotated[Scalar | None, Key(Optional(Text()))] = None
    metadata: Annotated[Mapping | None, Key(AnyMap())] = None
    imports: Annotated[list[Import] | None, Key(Imports())] = None
    dsl_definitions: Annotated[Node | None, Key(Raw())] = None
    inputs: Annotated[dict[str, InputSchema] | None, Key(Named(InputSchema, empty=True))] = None
    plugins: Annotated[dict[str, Plugin] | None, Key(Named(Plugin))] = None
    data_types: Annotated[dict[str, CloudifyDataType] | None, Key(Named(CloudifyDataType, empty=True))] = None
    node_types: Annotated[dict[str, CloudifyNodeType] | None, Key(Named(CloudifyNodeType, empty=True))] = None
    relationships: Annotated[
        dict[str, CloudifyRelationshipType] | None, Key(Named(CloudifyRelationshipType, empty=True))
    ] = None
    node_templates: Annotated[dict[str, CloudifyNodeTemplate] | None, Key(Named(CloudifyNodeTemplate))] = None
    policy_types: Annotated[dict[str, CloudifyPolicyType] | None, Key(Named(CloudifyPolicyType))] = None
    policy_triggers: Annotated[dict[str, PolicyTrigger] | None, Key(Named(PolicyTrigger))] = None
    groups: Annotated[dict[str, CloudifyGroup] | None, Key(Named(CloudifyGroup))] = None
    policies: Annotated[dict[str, CloudifyPolicy] | None, Key(Named(CloudifyPolicy))] = None
    workflows: Annotated[dict[str, CloudifyWorkflow] | None, Key(Named(CloudifyWorkflow))] = None
    outputs: Annotated[dict[str, OutputSchema] | None, Key(Named(OutputSchema))] = None
    capabilities: Annotated[dict[str, OutputSchema] | None, Key(Named(OutputSchema))] = None
    labels: Annotated[dict[str, Label] | None, Key(Named(Label))] = None
    blueprint_labels: Annotated[dict[str, Label] | None, Key(Named(Label))] = None
    deployment_settings: Annotated[DeploymentSettings | None, Key(Optional(One(DeploymentSettings)))] = None
    resource_tags: Annotated[Mapping | None, Key(AnyMap())] = None
