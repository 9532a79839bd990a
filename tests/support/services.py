"""Services for tests, in a few words: terse functions that make what resolving a template would give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ordito.base.span import SourceText, Span
from ordito.model.operation import Artifact, Input, Interface, Operation
from ordito.model.schema import DataType, PropertyDefinition, Schema
from ordito.model.service import (
    COMPUTE,
    CONFIGURE,
    HOSTED_ON,
    MAINTAIN,
    STANDARD,
    Capability,
    NodeTemplate,
    Output,
    Relationship,
    Service,
)
from ordito.model.settings import Setting, settings_of
from ordito.syntax.expressions import Call, Value

SPAN = Span(SourceText("service.yaml", ""), 1, 1, 1, 1)
BASH = ("tosca.artifacts.Implementation.Bash", "tosca.artifacts.Implementation", "tosca.artifacts.Root")
ROOT = "tosca.nodes.Root"
STANDARD_OPERATIONS = ("create", "configure", "start", "stop", "delete")

Values = Mapping[str, Value]


def call(function: str, *arguments: Value) -> Call:
    """A function call, as it stands in a template."""
    return Call(function, arguments, SPAN)


def get_attribute(*path: str | int) -> Call:
    return call("get_attribute", *path)


def get_property(*path: str | int) -> Call:
    return call("get_property", *path)


def script(file: str, kinds: tuple[str, ...] = BASH) -> Artifact:
    return Artifact(file.rpartition("/")[2], kinds, file, span=SPAN)


def schema(type_name: str = "string", entry: Schema | None = None) -> Schema:
    return Schema(type_name, entry)


def definition(name: str, type_name: str = "string", *, required: bool = False) -> PropertyDefinition:
    return PropertyDefinition(name, schema(type_name), required=required)


def operation(
    name: str,
    file: str | None = "",
    *,
    interface: str = "Standard",
    inputs: Values | None = None,
    required: Sequence[str] = (),
    outputs: Mapping[str, tuple[str | int, ...]] | None = None,
    host: str = "",
    timeout: int | None = None,
) -> Operation:
    """An operation; ``file`` "" takes a name of its own, None leaves it without an implementation."""
    given = {n: Input(n, has_value=True, value=v, required=n in required, span=SPAN) for n, v in (inputs or {}).items()}
    given |= {n: Input(n, required=True, span=SPAN) for n in required if n not in given}
    implementation = None if file is None else script(file or f"scripts/{name}.sh")
    return Operation(interface, name, implementation, (), timeout, host, given, dict(outputs or {}), span=SPAN)


def standard(*operations: Operation | str) -> dict[str, Interface]:
    """The Standard interface, with these operations implemented."""
    own = {o.name: o for o in (operation(x) if isinstance(x, str) else x for x in operations)}
    every = {n: own.get(n, operation(n, None)) for n in STANDARD_OPERATIONS}
    return {"Standard": Interface("Standard", (STANDARD, "tosca.interfaces.Root"), {**every, **own})}


def maintain(*operations: Operation | str) -> dict[str, Interface]:
    """The Maintain interface, with these operations implemented."""
    own = {o.name: o for o in (operation(x, interface="Maintain") if isinstance(x, str) else x for x in operations)}
    return {"Maintain": Interface("Maintain", (MAINTAIN, "tosca.interfaces.Root"), own)}


def configure(*operations: Operation | str) -> dict[str, Interface]:
    """The Configure interface, with these operations implemented."""
    own: dict[str, Operation] = {}
    for given in operations:
        made = operation(given, interface="Configure") if isinstance(given, str) else given
        own[made.name] = Operation(
            "Configure", made.name, made.implementation, made.dependencies, made.timeout, made.operation_host,
            made.inputs, made.outputs, made.description, made.span,
        )  # fmt: skip
    return {"Configure": Interface("Configure", (CONFIGURE, "tosca.interfaces.Root"), own)}


def capability(
    name: str,
    *kinds: str,
    properties: Values | None = None,
    attributes: Sequence[str] = (),
    assigned: Sequence[str] = (),
) -> Capability:
    return Capability(
        name,
        (*kinds, "tosca.capabilities.Root"),
        dict(properties or {}),
        {},
        {n: definition(n) for n in properties or {}},
        {n: definition(n) for n in attributes},
        frozenset(assigned),
    )


class Requires:
    """A requirement of a node under construction."""

    def __init__(
        self,
        target: str,
        *operations: Operation | str,
        name: str = "",
        hosting: bool = False,
        capability: str = "feature",
        properties: Values | None = None,
    ) -> None:
        self.target = target
        self.name = name or ("host" if hosting else target)
        self.interfaces = configure(*operations)
        self.kinds: tuple[str, ...] = (HOSTED_ON,) if hosting else ("tosca.relationships.ConnectsTo",)
        self.capability = capability
        self.properties = dict(properties or {})


def on(target: str, *operations: Operation | str) -> Requires:
    """That a node is hosted on another."""
    return Requires(target, *operations, hosting=True)


def node(
    name: str,
    *requires: Requires | str,
    kinds: Sequence[str] = (),
    operations: Sequence[Operation | str] = (),
    properties: Values | None = None,
    attributes: Values | None = None,
    declares: Sequence[PropertyDefinition] = (),
    capabilities: Sequence[Capability] = (),
    artifacts: Sequence[Artifact] = (),
    count: Value = None,
    occurrences: tuple[int, int | None] | None = None,
    metadata: Mapping[str, str] | None = None,
) -> NodeTemplate:
    """A node template; a count alone gives it unbounded occurrences."""
    made: list[Relationship] = []
    keys: dict[str, int] = {}
    for index, wanted in enumerate(Requires(r) if isinstance(r, str) else r for r in requires):
        seen = keys[wanted.name] = keys.get(wanted.name, 0) + 1
        tail = "" if seen == 1 else f".{seen}"
        made.append(
            Relationship(
                key=f"{name}.{wanted.name}{tail}",
                source=name,
                requirement=wanted.name,
                index=index,
                target=wanted.target,
                capability=wanted.capability,
                kinds=(*wanted.kinds, "tosca.relationships.Root"),
                properties=wanted.properties,
                interfaces=wanted.interfaces,
                span=SPAN,
            )
        )
    if count is not None and occurrences is None:
        occurrences = (0, None)
    return NodeTemplate(
        name=name,
        kinds=(*kinds, ROOT),
        properties=dict(properties or {}),
        attributes=dict(attributes or {}),
        definitions={n: definition(n) for n in properties or {}},
        attribute_definitions={d.name: d for d in declares},
        capabilities={c.name: c for c in capabilities},
        requirements=tuple(made),
        interfaces=standard(*operations),
        artifacts={a.name: a for a in artifacts},
        instance_count=count,
        occurrences=occurrences,
        metadata=dict(metadata or {}),
        settings=settings_of({n: Setting(v, SPAN) for n, v in (metadata or {}).items() if n.startswith("ordito.")}),
        span=SPAN,
    )


def compute(name: str, *requires: Requires | str, **more: object) -> NodeTemplate:
    """A Compute node with the capabilities that matter here."""
    endpoint = capability(
        "endpoint", "tosca.capabilities.Endpoint.Admin", "tosca.capabilities.Endpoint", attributes=["ip_address"]
    )
    declares = [definition("private_address"), definition("public_address")]
    return node(name, *requires, kinds=(COMPUTE,), capabilities=[endpoint], declares=declares, **more)  # type: ignore[arg-type]


def service(
    *nodes: NodeTemplate,
    outputs: Values | None = None,
    inputs: Sequence[PropertyDefinition] = (),
    data_types: Sequence[DataType] = (),
    sanitised: Mapping[str, str] | None = None,
    output_types: Mapping[str, str] | None = None,
) -> Service:
    """A service of these nodes."""
    incoming: dict[str, tuple[Relationship, ...]] = {}
    for made in nodes:
        for relationship in made.requirements:
            incoming[relationship.target] = (*incoming.get(relationship.target, ()), relationship)
    safe = {n.name: "".join(c if c.isalnum() else "_" for c in n.name) for n in nodes}
    types = output_types or {}
    return Service(
        name="test",
        main="service.yaml",
        files=("service.yaml",),
        inputs={d.name: d for d in inputs},
        outputs={n: Output(n, v, schema(types[n]) if n in types else None) for n, v in (outputs or {}).items()},
        nodes={n.name: n for n in nodes},
        sanitised=dict(sanitised or safe),
        incoming=incoming,
        data_types={d.name: d for d in data_types},
    )
