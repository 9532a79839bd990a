"""The resolved service: independent of dialect and spelling, ready for planning.

Every name is resolved to its full form, every type is flattened (it holds what it inherits), every assignment is
checked against its definition and completed with defaults. A value that is known only at run time stays a ``Call``.
All mappings keep the order of declaration.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.span import Span
from ordito.model.choices import Choices
from ordito.model.imperative import Group, Policy, Workflow
from ordito.model.lifecycle_steps import LifecycleStep
from ordito.model.operation import Artifact, Interface
from ordito.model.schema import Constraint, DataType, NodeFilter, PropertyDefinition, Schema
from ordito.model.settings import KEPT, NO_SETTINGS, Settings
from ordito.syntax.expressions import Value

UNBOUNDED = None
"""The upper bound of occurrences without limit."""

KEEP_DATA = frozenset(
    {
        "tosca.nodes.Database",
        "tosca.nodes.DBMS",
        "tosca.nodes.Abstract.Storage",
        "tosca.nodes.Storage.BlockStorage",
        "tosca.nodes.Storage.ObjectStorage",
        "cloudify.nodes.Database",
        "cloudify.nodes.DBMS",
        "cloudify.nodes.FileSystem",
        "cloudify.nodes.ObjectStorage",
        "cloudify.nodes.Volume",
        "ordito.nodes.Container.Volume",
    }
)
"""The node types, with all that derive from them, whose instances hold data which are lost when they are removed."""


class Capability(msgspec.Struct, frozen=True):
    """A capability of a node template with its values (§3.8.1). ``assigned`` names the properties that the template,
    or a type below the normative ones, gave a value (a normative default alone does not count)."""

    name: str
    kinds: tuple[str, ...]
    properties: Mapping[str, Value]
    attributes: Mapping[str, Value]
    definitions: Mapping[str, PropertyDefinition]
    attribute_definitions: Mapping[str, PropertyDefinition]
    assigned: frozenset[str] = frozenset()
    occurrences: tuple[int, int | None] = (1, UNBOUNDED)


class Relationship(msgspec.Struct, frozen=True):
    """One fulfilled requirement: the relationship of a node template (``source``) with another (``target``)."""

    key: str
    """Its name in the whole service: ``<source>.<requirement>`` and, from the second assignment of the same name on,
    ``.<n>``."""
    source: str
    requirement: str
    index: int
    """The place among the source's requirement assignments."""
    target: str
    capability: str
    kinds: tuple[str, ...]
    """The relationship type's full name and those of its ancestors."""
    template: str = ""
    properties: Mapping[str, Value] = {}
    attributes: Mapping[str, Value] = {}
    definitions: Mapping[str, PropertyDefinition] = {}
    attribute_definitions: Mapping[str, PropertyDefinition] = {}
    interfaces: Mapping[str, Interface] = {}
    artifacts: Mapping[str, Artifact] = {}
    span: Span | None = None
    via: str = ""
    """The node template that was required, where a topology substitutes it."""

    @property
    def type(self) -> str:
        """The relationship type's full name."""
        return self.kinds[0]

    @property
    def is_hosting(self) -> bool:
        """Whether the target hosts the source (HostedOn or derived from it)."""
        return HOSTED_ON in self.kinds


class NodeTemplate(msgspec.Struct, frozen=True):
    """A node template with everything that its type gives it (§3.8.3)."""

    name: str
    kinds: tuple[str, ...]
    """The node type's full name and those of its ancestors."""
    properties: Mapping[str, Value]
    """Assigned and default values; optional ones without a value are absent."""
    attributes: Mapping[str, Value]
    """Initial values."""
    definitions: Mapping[str, PropertyDefinition]
    attribute_definitions: Mapping[str, PropertyDefinition]
    capabilities: Mapping[str, Capability]
    requirements: tuple[Relationship, ...]
    """In declared order."""
    interfaces: Mapping[str, Interface]
    """Also those that deploy its artifacts, as ``artifact.<name>``."""
    artifacts: Mapping[str, Artifact]
    assigned: frozenset[str] = frozenset()
    """The properties to which the template, or a type below the normative ones, gives a value."""
    instance_count: Value = None
    """As it is written (§2.20), None where it is not; ``occurrences`` likewise."""
    occurrences: tuple[int, int | None] | None = None
    metadata: Mapping[str, str] = {}
    """Those of the template itself."""
    settings: Settings = NO_SETTINGS
    """What these and the metadata of its types set for Ordito."""
    description: str = ""
    span: Span | None = None
    directives: tuple[str, ...] = ()
    """"select" and "substitute", where they are given."""
    node_filter: NodeFilter | None = None
    existing: str = ""
    """The name of a selected node in the inventory."""
    is_open: bool = False
    """Whether operations may set attributes that nobody has declared, and functions may ask for them."""

    @property
    def is_concrete(self) -> bool:
        """Whether it is made as it is written: it is neither selected nor substituted."""
        return not self.directives

    @property
    def type(self) -> str:
        """The node type's full name."""
        return self.kinds[0]

    @property
    def host(self) -> Relationship | None:
        """The relationship with the node that hosts this one, if any."""
        return next((r for r in self.requirements if r.is_hosting), None)

    @property
    def is_compute(self) -> bool:
        """Whether operations of hosted nodes run on instances of this node."""
        return COMPUTE in self.kinds

    @property
    def keeps_data(self) -> bool:
        """Whether its instances keep data that are lost when they are removed: its settings say so, or its type does
        and they do not say otherwise, or it is protected."""
        if self.settings.protected or self.settings.data is not None:
            return self.settings.protected or self.settings.data == KEPT
        return not KEEP_DATA.isdisjoint(self.kinds)


class Output(msgspec.Struct, frozen=True):
    """An output of the topology (§3.6.14). Where its type is not declared but that of its value, it is ``inferred``."""

    name: str
    value: Value
    schema: Schema | None = None
    description: str = ""
    metadata: Mapping[str, str] = {}
    span: Span | None = None
    inferred: bool = False


class Service(msgspec.Struct, frozen=True):
    """A whole service: its topology, resolved."""

    name: str
    main: str
    """The entry definitions file."""
    files: tuple[str, ...]
    """Every file of the service (definitions and imports) except artifacts, relative to its root like
    ``Artifact.file``."""
    inputs: Mapping[str, PropertyDefinition]
    """The declared inputs."""
    outputs: Mapping[str, Output]
    nodes: Mapping[str, NodeTemplate]
    sanitised: Mapping[str, str]
    """The shell-safe form of each node name, from which instance ids are made."""
    incoming: Mapping[str, tuple[Relationship, ...]]
    """By node, the relationships that lead to it."""
    data_types: Mapping[str, DataType]
    relationship_templates: Mapping[str, tuple[Relationship, ...]] = {}
    metadata: Mapping[str, str] = {}
    description: str = ""
    groups: Mapping[str, Group] = {}
    policies: Mapping[str, Policy] = {}
    workflows: Mapping[str, Workflow] = {}
    substitution: Substitution | None = None
    """The node type that the topology can implement in other services."""
    substituted: Mapping[str, Substituted] = {}
    """The node templates that topologies substitute; the nodes of these topologies are among ``nodes``, as
    ``outer/inner``."""
    inner_inputs: Mapping[str, Value] = {}
    """The values of the inputs of these topologies, by ``outer/input``."""
    inner_definitions: Mapping[str, PropertyDefinition] = {}
    """The definitions of these inputs."""
    choices: Choices = Choices()
    """What was chosen where the service leaves a choice."""
    hooks: Mapping[str, LifecycleStep] = {}
    """Its lifecycle steps by their ids, in declared order, which is their order within one phase of one component."""
    language: str = ""
    """The version of another language that it is written in, "" for TOSCA."""

    def template(self, name: str) -> NodeTemplate | None:
        """The node template with a name, whether it is part of the service or substituted by a topology."""
        node = self.nodes.get(name)
        if node is None and name in self.substituted:
            return self.substituted[name].template
        return node

    def require(self, name: str) -> NodeTemplate:
        """As ``template``, for names that are known to exist."""
        return self.nodes[name] if name in self.nodes else self.substituted[name].template


class Substituted(msgspec.Struct, frozen=True):
    """A node template that a topology substitutes: only the nodes of that topology are made."""

    template: NodeTemplate
    """The template with the values that others read: its attributes and capabilities lead to nodes of the topology."""
    file: str
    """The file of the topology."""
    nodes: tuple[str, ...]
    """The nodes that come from the topology."""
    capabilities: Mapping[str, Way] = {}
    """By capability, the node that provides it, and its capability."""
    requirements: Mapping[str, Way] = {}
    """By requirement, the node that has it, and its requirement."""
    operations: Mapping[str, str | tuple[str, str, str]] = {}
    """As in ``Substitution``."""


HOSTED_ON = "tosca.relationships.HostedOn"
COMPUTE = "tosca.nodes.Compute"
STANDARD = "tosca.interfaces.node.lifecycle.Standard"
MAINTAIN = "ordito.interfaces.Maintain"
ARTIFACT = "ordito.interfaces.Artifact"
CONFIGURE = "tosca.interfaces.relationship.Configure"
LIFECYCLE = "cloudify.interfaces.lifecycle"
RELATIONSHIP_LIFECYCLE = "cloudify.interfaces.relationship_lifecycle"
MONITORING = "cloudify.interfaces.monitoring"
MONITORING_AGENT = "cloudify.interfaces.monitoring_agent"
HOST_STATE = "cloudify.interfaces.host"


# Substitution: what a topology stands for, and what came of the node templates that topologies stand for (§3.8.13).

Way = tuple[str, str]
"""The name of a node template, and of a capability, requirement or property of it."""


class Substitution(msgspec.Struct, frozen=True):
    """How a topology implements a node type (§3.8.8 to §3.8.13)."""

    node_type: str
    filter: NodeFilter | None = None
    constants: Mapping[str, tuple[Constraint, str]] = {}
    """What the properties of a node must be for the topology to fit."""
    inputs: Mapping[str, str] = {}
    """By property, the input that takes it."""
    overridden: Mapping[str, Way] = {}
    """The properties of inner nodes that take one of the node's."""
    outputs: Mapping[str, str] = {}
    """By attribute, the output that gives it."""
    capabilities: Mapping[str, Way] = {}
    """By capability, the inner node that provides it."""
    requirements: Mapping[str, Way] = {}
    """By requirement, the inner node that has it."""
    capability_values: Mapping[str, Mapping[str, Value]] = {}
    """The values of capabilities that no inner node provides."""
    operations: Mapping[str, str | tuple[str, str, str]] = {}
    """By ``interface.operation``, a workflow, or a node template, its interface and its operation."""
    unfed: tuple[str, ...] = ()
    """Inputs that need a value and get none."""
    unmapped: tuple[str, ...] = ()
    """The capabilities and requirements that no inner node provides."""
    lost: frozenset[str] = frozenset()
    """Those whose mappings could not be read."""
    span: Span | None = None


# The relationships of a topology, found from their other ends.


def by_target(nodes: Mapping[str, NodeTemplate]) -> dict[str, tuple[Relationship, ...]]:
    """The relationships that lead to each node."""
    found: dict[str, list[Relationship]] = {}
    for node in nodes.values():
        for relationship in node.requirements:
            found.setdefault(relationship.target, []).append(relationship)
    return {name: tuple(relationships) for name, relationships in found.items()}


def by_template(nodes: Mapping[str, NodeTemplate]) -> dict[str, tuple[Relationship, ...]]:
    """The relationships that each relationship template gave rise to."""
    found: dict[str, list[Relationship]] = {}
    for node in nodes.values():
        for relationship in node.requirements:
            if relationship.template:
                found.setdefault(relationship.template, []).append(relationship)
    return {name: tuple(relationships) for name, relationships in found.items()}
