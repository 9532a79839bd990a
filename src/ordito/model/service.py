"""The resolved service: what is wanted, free of dialect and spelling, ready for planning.

Every name is resolved to its full form, every type is flattened (what it inherits is in it), every assignment is
checked against its definition and completed with defaults. What only the running system knows stays a ``Call``.
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
    """One fulfilled requirement: the relationship that a node template (``source``) has with another (``target``).

    ``index`` is the place among the source's requirement assignments; ``key`` names the relationship in the whole
    service: ``<source>.<requirement>`` and, from the second assignment of the same name on, ``.<n>``.
    ``kinds`` are the relationship type's full name and those of its ancestors. ``via`` is the node template that was
    required, where a topology stands for that.
    """

    key: str
    source: str
    requirement: str
    index: int
    target: str
    capability: str
    kinds: tuple[str, ...]
    template: str = ""
    properties: Mapping[str, Value] = {}
    attributes: Mapping[str, Value] = {}
    definitions: Mapping[str, PropertyDefinition] = {}
    attribute_definitions: Mapping[str, PropertyDefinition] = {}
    interfaces: Mapping[str, Interface] = {}
    artifacts: Mapping[str, Artifact] = {}
    span: Span | None = None
    via: str = ""

    @property
    def type(self) -> str:
        """The relationship type's full name."""
        return self.kinds[0]

    @property
    def is_hosting(self) -> bool:
        """Whether the target hosts the source (HostedOn or derived from it)."""
        return HOSTED_ON in self.kinds


class NodeTemplate(msgspec.Struct, frozen=True):
    """A node template with everything its type gives it (§3.8.3).

    ``kinds`` are the node type's full name and those of its ancestors. ``properties`` holds assigned and default
    values (unset optional ones are absent); ``assigned`` names those that the template, or a type below the normative
    ones, gave a value. ``attributes`` holds initial values. ``requirements`` are in declared order; ``interfaces``
    hold, as ``artifact.<name>``, what deploys its artifacts as well. ``instance_count`` and ``occurrences`` (§2.20) are
    None where the template does not give them. ``metadata`` are the template's own,
    ``settings`` what they and those of its types say to Ordito. ``directives`` are "select" and
    "substitute" where they are given; ``existing`` is the name that a selected node has in the inventory.
    """

    name: str
    kinds: tuple[str, ...]
    properties: Mapping[str, Value]
    attributes: Mapping[str, Value]
    definitions: Mapping[str, PropertyDefinition]
    attribute_definitions: Mapping[str, PropertyDefinition]
    capabilities: Mapping[str, Capability]
    requirements: tuple[Relationship, ...]
    interfaces: Mapping[str, Interface]
    artifacts: Mapping[str, Artifact]
    assigned: frozenset[str] = frozenset()
    instance_count: Value = None
    occurrences: tuple[int, int | None] | None = None
    metadata: Mapping[str, str] = {}
    settings: Settings = NO_SETTINGS
    description: str = ""
    span: Span | None = None
    directives: tuple[str, ...] = ()
    node_filter: NodeFilter | None = None
    existing: str = ""

    @property
    def is_concrete(self) -> bool:
        """Whether it stands for itself: it is neither selected nor substituted."""
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
    """A whole service: its topology, resolved.

    ``inputs`` are the declared inputs; ``files`` every file the service is made of besides what artifacts name
    (definitions and imports), relative to its root like ``Artifact.file``; ``main`` is the entry definitions file.
    ``sanitised`` gives the shell-safe form of each node name, from which instance ids are made. ``substitution`` says
    what the topology can stand for in other services. ``substituted`` are the node templates that topologies stand for;
    what came of each is among ``nodes``, by the names ``outer/inner``. ``inner_inputs`` are the values of the inputs of
    these topologies, by ``outer/input``, ``inner_definitions`` what is declared of them. ``choices`` are what was
    chosen where the service leaves a choice. ``hooks`` are its lifecycle steps by their ids, in the order in which they
    are declared: those of one phase of one component follow each other in it.
    """

    name: str
    main: str
    files: tuple[str, ...]
    inputs: Mapping[str, PropertyDefinition]
    outputs: Mapping[str, Output]
    nodes: Mapping[str, NodeTemplate]
    sanitised: Mapping[str, str]
    incoming: Mapping[str, tuple[Relationship, ...]]
    data_types: Mapping[str, DataType]
    relationship_templates: Mapping[str, tuple[Relationship, ...]] = {}
    metadata: Mapping[str, str] = {}
    description: str = ""
    groups: Mapping[str, Group] = {}
    policies: Mapping[str, Policy] = {}
    workflows: Mapping[str, Workflow] = {}
    substitution: Substitution | None = None
    substituted: Mapping[str, Substituted] = {}
    inner_inputs: Mapping[str, Value] = {}
    inner_definitions: Mapping[str, PropertyDefinition] = {}
    choices: Choices = Choices()
    hooks: Mapping[str, LifecycleStep] = {}

    def template(self, name: str) -> NodeTemplate | None:
        """The node template of a name, be it part of the service or one that a topology stands for."""
        node = self.nodes.get(name)
        if node is None and name in self.substituted:
            return self.substituted[name].template
        return node

    def require(self, name: str) -> NodeTemplate:
        """As ``template``, for names that are known to exist."""
        return self.nodes[name] if name in self.nodes else self.substituted[name].template


class Substituted(msgspec.Struct, frozen=True):
    """A node template that a topology stands for: nothing of it is made, but what the topology holds.

    ``template`` has the values that others read: attributes and capabilities lead to those inside. ``file`` is where
    the topology is defined, ``nodes`` are all nodes that came of it. ``capabilities`` and ``requirements`` give the
    node that is behind each, and its capability or requirement; ``operations`` are as in ``Substitution``.
    """

    template: NodeTemplate
    file: str
    nodes: tuple[str, ...]
    capabilities: Mapping[str, Way] = {}
    requirements: Mapping[str, Way] = {}
    operations: Mapping[str, str | tuple[str, str, str]] = {}


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


# Substitution: what a topology stands for, and what came of the node templates that topologies stand for (§3.8.13).

Way = tuple[str, str]
"""The name of a node template, and of a capability, requirement or property of it."""


class Substitution(msgspec.Struct, frozen=True):
    """How a topology implements a node type (§3.8.8 to §3.8.13).

    ``inputs`` give by property the input that takes it, ``outputs`` by attribute the output that gives it,
    ``capabilities`` and ``requirements`` the nodes behind them, ``capability_values`` the values of capabilities
    with nothing behind. ``constants`` are what a node's properties must be for the topology to fit, ``overridden``
    the properties inside that take one of the node's. ``operations`` map ``interface.operation`` to a workflow, or
    to a node template, its interface and its operation. ``unfed`` are inputs that need a value and get none,
    ``unmapped`` the capabilities and requirements that nothing stands behind, ``lost`` those whose mappings could
    not be read.
    """

    node_type: str
    filter: NodeFilter | None = None
    constants: Mapping[str, tuple[Constraint, str]] = {}
    inputs: Mapping[str, str] = {}
    overridden: Mapping[str, Way] = {}
    outputs: Mapping[str, str] = {}
    capabilities: Mapping[str, Way] = {}
    requirements: Mapping[str, Way] = {}
    capability_values: Mapping[str, Mapping[str, Value]] = {}
    operations: Mapping[str, str | tuple[str, str, str]] = {}
    unfed: tuple[str, ...] = ()
    unmapped: tuple[str, ...] = ()
    lost: frozenset[str] = frozenset()
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
