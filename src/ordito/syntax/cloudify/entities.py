"""What types, templates and parameters of a blueprint consist of, as they are written, one frozen class each."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from typing import Annotated, ClassVar

from ordito.source.nodes import Mapping, Node, Scalar
from ordito.syntax.cloudify.shapes import Listed, Number, Optional, Quoted, Table, Tables, YesNo
from ordito.syntax.grammar import Entity, Key
from ordito.syntax.shapes import Assignments, Many, Named, One, Raw, Text

OF_TOSCA = {
    "requirements": 'write "relationships"',
    "attributes": "runtime properties are not declared: operations set them",
    "artifacts": 'name the file where an operation says "implementation"',
}


class PropertySchema(Entity, frozen=True, eq=False, kw_only=True):
    """The schema of a property, and of an input of an operation in a type."""

    WHAT: ClassVar[str] = "schema of a property"
    MEANT: ClassVar[str] = "default"
    NOTE: ClassVar[str] = "only inputs of the blueprint and parameters of workflows have more"

    type: Annotated[Scalar | None, Key(Optional(Text()))] = None
    description: Annotated[Scalar | None, Key(Optional(Text()))] = None
    default: Annotated[Node | None, Key(Raw())] = None
    required: Annotated[bool | None, Key(YesNo())] = None


class Display(Entity, frozen=True, eq=False, kw_only=True):
    """How the field for an input is shown."""

    WHAT: ClassVar[str] = "display"

    rows: Annotated[float | None, Key(Number(1, whole=True))] = None


class InputSchema(PropertySchema, frozen=True, eq=False, kw_only=True):
    """An input of the blueprint, or a parameter of a workflow."""

    WHAT: ClassVar[str] = "input"
    NOTE: ClassVar[str] = ""

    constraints: Annotated[list[Node] | None, Key(Many(Raw()))] = None
    item_type: Annotated[Scalar | None, Key(Text())] = None
    display_label: Annotated[Scalar | None, Key(Text())] = None
    hidden: Annotated[bool | None, Key(YesNo())] = None
    display: Annotated[Display | None, Key(One(Display))] = None


class OutputSchema(Entity, frozen=True, eq=False, kw_only=True):
    """An output of the blueprint, or a capability of it."""

    WHAT: ClassVar[str] = "output"
    MEANT: ClassVar[str] = "value"

    description: Annotated[Scalar | None, Key(Optional(Text()))] = None
    value: Annotated[Node, Key(Raw(), required=True)]


class CloudifyOperation(Entity, frozen=True, eq=False, kw_only=True):
    """An operation in a template: its inputs are values. One with nothing below it does nothing."""

    SHORT: ClassVar[str] = "implementation"
    WHAT: ClassVar[str] = "operation"

    implementation: Annotated[Scalar | None, Key(Optional(Text()))] = None
    inputs: Annotated[Mapping | None, Key(Assignments())] = None
    executor: Annotated[Scalar | None, Key(Text())] = None
    max_retries: Annotated[float | None, Key(Number(-1, whole=True))] = None
    retry_interval: Annotated[float | None, Key(Number(0))] = None
    timeout: Annotated[float | None, Key(Number(0))] = None
    timeout_recoverable: Annotated[bool | None, Key(YesNo())] = None


class TypeOperation(CloudifyOperation, frozen=True, eq=False, kw_only=True):
    """An operation in a type: its inputs are schemas."""

    WHAT: ClassVar[str] = "operation of a type"

    inputs: Annotated[dict[str, PropertySchema] | None, Key(Named(PropertySchema, empty=True))] = None  # type: ignore[assignment]


Interfaces = dict[str, Table]


class CloudifyDataType(Entity, frozen=True, eq=False, kw_only=True):
    """A data type."""

    WHAT: ClassVar[str] = "data type"

    derived_from: Annotated[Scalar | None, Key(Text())] = None
    description: Annotated[Scalar | None, Key(Optional(Text()))] = None
    version: Annotated[Scalar | None, Key(Quoted())] = None
    properties: Annotated[dict[str, PropertySchema] | None, Key(Named(PropertySchema, empty=True))] = None


class CloudifyNodeType(Entity, frozen=True, eq=False, kw_only=True):
    """A node type."""

    WHAT: ClassVar[str] = "node type"
    ELSEWHERE: ClassVar[MappingType[str, str]] = OF_TOSCA

    derived_from: Annotated[Scalar | None, Key(Text())] = None
    properties: Annotated[dict[str, PropertySchema] | None, Key(Named(PropertySchema, empty=True))] = None
    interfaces: Annotated[Interfaces | None, Key(Tables(TypeOperation))] = None
    runtime_properties: Annotated[Node | None, Key(Raw())] = None


class CloudifyRelationshipType(Entity, frozen=True, eq=False, kw_only=True):
    """A relationship type."""

    WHAT: ClassVar[str] = "relationship type"
    ELSEWHERE: ClassVar[MappingType[str, str]] = {
        "interfaces": 'write "source_interfaces" or "target_interfaces"',
        "connection_type": 'declare it below "properties:"',
    }

    derived_from: Annotated[Scalar | None, Key(Text())] = None
    properties: Annotated[dict[str, PropertySchema] | None, Key(Named(PropertySchema, empty=True))] = None
    source_interfaces: Annotated[Interfaces | None, Key(Tables(TypeOperation))] = None
    target_interfaces: Annotated[Interfaces | None, Key(Tables(TypeOperation))] = None


class Plugin(Entity, frozen=True, eq=False, kw_only=True):
    """A plugin: functions to which operations are mapped."""

    WHAT: ClassVar[str] = "plugin"

    executor: Annotated[Scalar, Key(Text(), required=True)]
    source: Annotated[Scalar | None, Key(Optional(Text()))] = None
    install: Annotated[bool | None, Key(YesNo())] = None
    install_arguments: Annotated[Scalar | None, Key(Optional(Text()))] = None
    package_name: Annotated[Scalar | None, Key(Optional(Quoted()))] = None
    package_version: Annotated[Scalar | None, Key(Optional(Quoted()))] = None
    supported_platform: Annotated[Node | None, Key(Raw())] = None
    distribution: Annotated[Scalar | None, Key(Optional(Quoted()))] = None
    distribution_version: Annotated[Scalar | None, Key(Optional(Quoted()))] = None
    distribution_release: Annotated[Scalar | None, Key(Optional(Quoted()))] = None
    properties: Annotated[dict[str, PropertySchema] | None, Key(Named(PropertySchema, empty=True))] = None
    properties_description: Annotated[Scalar | None, Key(Optional(Text()))] = None


class RelationshipEntry(Entity, frozen=True, eq=False, kw_only=True):
    """A relationship of a node template to another one."""

    WHAT: ClassVar[str] = "relationship"
    ELSEWHERE: ClassVar[MappingType[str, str]] = {
        "interfaces": 'write "source_interfaces" or "target_interfaces"',
        "connection_type": 'put it below "properties:"',
        "node": 'write "target"',
    }

    type: Annotated[Scalar, Key(Text(), required=True)]
    target: Annotated[Scalar, Key(Text(), required=True)]
    properties: Annotated[Mapping | None, Key(Assignments())] = None
    source_interfaces: Annotated[Interfaces | None, Key(Tables(CloudifyOperation))] = None
    target_interfaces: Annotated[Interfaces | None, Key(Tables(CloudifyOperation))] = None


class ScalableProperties(Entity, frozen=True, eq=False, kw_only=True):
    """How many instances a node has."""

    WHAT: ClassVar[str] = "scalable"

    default_instances: Annotated[Node | None, Key(Raw())] = None
    min_instances: Annotated[Node | None, Key(Raw())] = None
    max_instances: Annotated[Node | None, Key(Raw())] = None


class Scalable(Entity, frozen=True, eq=False, kw_only=True):
    """The capability ``scalable``."""

    WHAT: ClassVar[str] = "capability scalable"

    properties: Annotated[ScalableProperties | None, Key(One(ScalableProperties))] = None


class Capabilities(Entity, frozen=True, eq=False, kw_only=True):
    """The capabilities of a node template, of which there is one."""

    WHAT: ClassVar[str] = "capabilities of a node template"

    scalable: Annotated[Scalable | None, Key(One(Scalable))] = None


class Instances(Entity, frozen=True, eq=False, kw_only=True):
    """How many instances a node has, in the older form."""

    WHAT: ClassVar[str] = "instances"

    deploy: Annotated[float, Key(Number(0, whole=True), required=True)]


class CloudifyNodeTemplate(Entity, frozen=True, eq=False, kw_only=True):
    """A node template."""

    WHAT: ClassVar[str] = "node template"
    NOTE: ClassVar[str] = 'values of properties stand below "properties:"'
    ELSEWHERE: ClassVar[MappingType[str, str]] = OF_TOSCA

    type: Annotated[Scalar | None, Key(Text())] = None
    """Left out only where the importing file adds relationships to a template of an imported one."""
    properties: Annotated[Mapping | None, Key(Assignments())] = None
    interfaces: Annotated[Interfaces | None, Key(Tables(CloudifyOperation))] = None
    relationships: Annotated[list[RelationshipEntry] | None, Key(Listed(RelationshipEntry))] = None
    capabilities: Annotated[Capabilities | None, Key(One(Capabilities))] = None
    instances: Annotated[Instances | None, Key(One(Instances))] = None
