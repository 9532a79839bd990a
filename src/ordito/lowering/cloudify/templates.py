"""Node templates of a blueprint as node templates of TOSCA: their relationships are requirements that are assigned on
the fly, in the order in which they are written (section 7)."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.base.diagnostics import Diagnostics, Related
from ordito.lowering.cloudify.ancestry import Ancestry
from ordito.lowering.cloudify.implementations import Found
from ordito.lowering.cloudify.operations import OperationsOf, Settings
from ordito.lowering.cloudify.types import CONTAINED_IN
from ordito.lowering.cloudify.values import Values, holds_call, is_call
from ordito.lowering.making import mapping, text
from ordito.source import nodes
from ordito.source.nodes import Node, Scalar
from ordito.source.scalars import integer
from ordito.syntax import entities
from ordito.syntax.cloudify.entities import CloudifyNodeTemplate, PropertySchema, RelationshipEntry, ScalableProperties
from ordito.syntax.cloudify.yaml_values import truth
from ordito.syntax.shapes import Entries, EntryList, is_lost

EXTERNAL = "use_external_resource"
RELATIONSHIPS = "relationships"
"""The requirement that stands for the relationships of a template."""
SCALABLE = "scalable"
OF_OPERATION = "cloudify.relationships.depends_on_lifecycle_operation"
OPERATION = "operation"
AWAITED = ("precreate", "create", "configure", "start", "poststart")
"""The operations of a target that a source may wait for."""
BOUNDS = ("min_instances", "max_instances", "default_instances")
UNBOUNDED = frozenset({"UNBOUNDED", "-1"})
PLUGINS = (
    ("cloudify.nodes.aws.", "cloudify-aws-plugin"),
    ("cloudify.aws.", "cloudify-aws-plugin"),
    ("cloudify.nodes.azure.", "cloudify-azure-plugin"),
    ("cloudify.azure.", "cloudify-azure-plugin"),
    ("cloudify.nodes.gcp.", "cloudify-gcp-plugin"),
    ("cloudify.gcp.", "cloudify-gcp-plugin"),
    ("cloudify.nodes.openstack.", "cloudify-openstack-plugin"),
    ("cloudify.openstack.", "cloudify-openstack-plugin"),
    ("cloudify.nodes.vsphere.", "cloudify-vsphere-plugin"),
    ("cloudify.nodes.terraform", "cloudify-terraform-plugin"),
    ("cloudify.nodes.ansible", "cloudify-ansible-plugin"),
    ("cloudify.nodes.kubernetes", "cloudify-kubernetes-plugin"),
    ("cloudify.kubernetes.", "cloudify-kubernetes-plugin"),
    ("cloudify.nodes.helm", "cloudify-helm-plugin"),
    ("cloudify.nodes.docker", "cloudify-docker-plugin"),
    ("cloudify.nodes.keys.", "cloudify-utilities-plugin"),
    ("cloudify.keys.", "cloudify-utilities-plugin"),
)
"""How the types of plugins begin that people know."""


class TemplatesOf:
    """Lowers the node templates of a blueprint."""

    def __init__(
        self,
        written: Mapping[str, CloudifyNodeTemplate],
        node_types: Ancestry,
        relationship_types: Ancestry,
        operations: OperationsOf,
        values: Values,
        diagnostics: Diagnostics,
    ) -> None:
        self._written = written
        self._node_types = node_types
        self._relationship_types = relationship_types
        self._operations = operations
        self._values = values
        self._diagnostics = diagnostics
        self._unsupported: dict[str, list[tuple[str, str, Found]]] = {}
        self._closing: set[int] = set()
        """The relationships that close a circle, which has been reported."""
        self._needing: dict[str, list[tuple[str, str, PropertySchema]]] = {}

    def lowered(self) -> dict[str, entities.NodeTemplate]:
        """All templates that can be read."""
        found = Entries()
        if isinstance(self._written, Entries):
            found.all_lost = self._written.all_lost
            found.lose(self._written.lost)
        self._check_circles()
        for name, item in self._written.items():
            made = self._template(name, item)
            if made is None:
                found.lose((name,))
            else:
                found[name] = made
        return found

    def _template(self, name: str, item: CloudifyNodeTemplate) -> entities.NodeTemplate | None:
        owner = f'node template "{name}"'
        if item.type is None:
            if isinstance(self._written, Entries) and self._written.all_lost:
                return None  # it may be one of a file that could not be read
            self._diagnostics.error(
                "missing-keyname", f'{owner} lacks "type"', item.span, hint="add type, the name of a node type"
            )
            return None
        kind = item.type.text
        if kind not in self._node_types.types:
            self._unknown_type(item.type)
            return None
        settings = Settings({})
        self._check_inputs(item, kind, owner)
        self._warn_of_unsupported(item, kind)
        return entities.NodeTemplate(
            at=item.at,
            key=item.key,
            type=item.type,
            properties=self._properties(item.properties, self._node_types.properties(kind)),
            requirements=self._relationships(name, item, settings, owner),
            capabilities=self._capabilities(item),
            interfaces=self._operations.of_template(
                item.interfaces,
                self._node_types.operations(kind),
                settings,
                owner,
                node=name,
                properties=self._all_properties(item, kind),
            ),
            metadata=settings.entries or None,
            incomplete=self._is_external(item, owner),
        )

    def _all_properties(self, item: CloudifyNodeTemplate, kind: str) -> dict[str, Node]:
        """The properties of a template with the defaults of its type."""
        schemas = self._node_types.properties(kind)
        found: dict[str, Node] = {n: s.default for n, s in schemas.items() if s.default is not None}
        found.update(item.properties.values if item.properties is not None else {})
        return found

    def _unknown_type(self, written: Scalar) -> None:
        if is_lost(self._node_types.types, written.text):
            return
        plugin = next((p for begin, p in PLUGINS if written.text.startswith(begin)), "")
        known = self._diagnostics.nearest(written.text, self._node_types.types)
        note = f"if it is a type of {plugin}, import that: plugin:{plugin}" if plugin else ""
        if not self._node_types.types:
            note = "there are no node types: import cloudify/types/types.yaml"
        hint = " or ".join(f'"{n}"' for n in known)
        hint = "; ".join(filter(None, (f"did you mean {hint}?" if hint else "", note)))
        self._diagnostics.error("unknown-type", f'no node type named "{written.text}"', written.span, hint=hint)

    def _check_inputs(self, item: CloudifyNodeTemplate, kind: str, owner: str) -> None:
        """Report the inputs without values of operations that a template takes from its type as they are."""
        needing = self._needing.get(kind)
        if needing is None:
            needing = self._needing[kind] = [
                (interface, name, declared)
                for interface, operations in self._node_types.operations(kind).items()
                for name, operation in operations.items()
                if operation.implementation is not None
                for declared in (operation.inputs or {}).values()
                if declared.required is not False and declared.default is None
            ]
        for interface, name, declared in needing:
            table = (item.interfaces or {}).get(interface)
            if table is None or (name not in table.operations and not is_lost(table.operations, name)):
                self._operations.report_missing(declared, f"{interface}.{name}", owner, item.key or item.at)

    def _warn_of_unsupported(self, item: CloudifyNodeTemplate, kind: str) -> None:
        """Warn of operations that a template takes from its type and that nothing here can run."""
        known = self._unsupported.get(kind)
        if known is None:
            known = self._unsupported[kind] = [
                (interface, name, found)
                for interface, operations in self._node_types.operations(kind).items()
                for name, operation in operations.items()
                if (found := self._operations.unsupported(operation)) is not None
            ]
        assert item.type is not None
        for interface, name, found in known:
            table = (item.interfaces or {}).get(interface)
            if table is None or name not in table.operations:
                self._operations.report_unsupported(f"{interface}.{name}", found, item.type.span)

    def _properties(self, written: nodes.Mapping | None, schemas: Mapping[str, PropertySchema]) -> nodes.Mapping | None:
        """The properties, those of data types completed with what the default of the property says."""
        if written is None:
            return None
        found = self._values.entries(written)
        merged = {}
        for name, node in found.values.items():
            schema = schemas.get(name)
            default = schema.default if schema is not None and schema.type is not None else None
            if isinstance(default, nodes.Mapping) and isinstance(node, nodes.Mapping) and not is_call(default):
                merged[name] = _over(self._values.lowered(default), node)
        if not merged:
            return found
        return mapping(((k, merged.get(k.text, v)) for k, v in found.entries()), written)

    def _is_external(self, item: CloudifyNodeTemplate, owner: str) -> bool:
        """Whether a template is of something that exists, so that it need not say everything."""
        node = item.properties.values.get(EXTERNAL) if item.properties is not None else None
        if node is None:
            return False
        if is_call(node) and EXTERNAL in self._node_types.properties(item.type.text if item.type else ""):
            self._diagnostics.error(
                "bad-value",
                f'"{EXTERNAL}" of {owner} must be true or false, not a function',
                node.span,
                hint="write the value itself",
            )
            return True
        return truth(node) is True

    # ----------------------------------------------------------------------------------------------- instances

    def _capabilities(self, item: CloudifyNodeTemplate) -> dict[str, entities.CapabilityAssignment] | None:
        """How many instances there are to be."""
        scalable = item.capabilities.scalable if item.capabilities is not None else None
        if item.instances is not None:
            assert isinstance(item.instances.at, nodes.Mapping)
            key, count = item.instances.at.key("deploy"), item.instances.at.values["deploy"]
            if item.capabilities is not None:
                self._diagnostics.error(
                    "conflicting-values",
                    f'node template "{item.name}" has "instances" and the capability "{SCALABLE}"',
                    key.span,
                    hint='remove "instances"',
                )
            written = mapping([(text("default_instances", key), count)], item.instances.at)
            return {SCALABLE: self._scalable(written)}
        if scalable is None or scalable.properties is None:
            return None
        self._check_bounds(scalable.properties)
        at = scalable.properties.at
        assert isinstance(at, nodes.Mapping)
        kept = [(k, self._values.lowered(v)) for k, v in at.entries() if k.text in BOUNDS and not _is_unbounded(v)]
        names = {k.text for k, _ in kept}
        if "default_instances" not in names:
            kept.append((text("default_instances", at), text("1", at)))
        return {SCALABLE: self._scalable(mapping(kept, at))}

    def _scalable(self, written: nodes.Mapping) -> entities.CapabilityAssignment:
        return entities.CapabilityAssignment(at=written, key=text(SCALABLE, written), properties=written)

    def _check_bounds(self, written: ScalableProperties) -> None:
        """Report bounds that contradict each other, as far as they are written as numbers."""
        check_bounds(written.default_instances, written.min_instances, written.max_instances, self._diagnostics)

    # ------------------------------------------------------------------------------------------- relationships

    def _relationships(
        self, name: str, item: CloudifyNodeTemplate, settings: Settings, owner: str
    ) -> list[entities.RequirementAssignment] | None:
        if item.relationships is None:
            return None
        found = EntryList()
        if isinstance(item.relationships, EntryList):
            found.all_lost = item.relationships.all_lost
        host: RelationshipEntry | None = None
        for entry in item.relationships:
            if id(entry) in self._closing or not self._is_sound(name, entry):
                found.all_lost = True
                continue
            if CONTAINED_IN in self._relationship_types.names(entry.type.text):
                if host is not None:
                    self._diagnostics.error(
                        "too-many-requirements",
                        f"{owner} is contained in two nodes",
                        entry.type.span,
                        hint="a node lives in one place: keep one of them, or make it connected_to",
                        related=(Related("the other one", host.type.span),),
                    )
                    continue
                host = entry
            found.append(self._assignment(entry, settings, owner))
        return found

    def _is_sound(self, name: str, entry: RelationshipEntry) -> bool:
        """Whether the type and the target of a relationship exist; what does not is reported."""
        target, kind = entry.target, entry.type
        sound = True
        if target.text == name:
            self._diagnostics.error(
                "requirement-cycle",
                f'node template "{name}" has a relationship with itself',
                target.span,
                hint="name another node template",
            )
            sound = False
        elif target.text not in self._written:
            sound = False
            if not is_lost(self._written, target.text):
                self._diagnostics.unknown(
                    "unknown-target", "node template", target.text, target.span, [n for n in self._written if n != name]
                )
        if kind.text not in self._relationship_types.types:
            sound = False
            if not is_lost(self._relationship_types.types, kind.text):
                self._diagnostics.unknown(
                    "unknown-type", "relationship type", kind.text, kind.span, self._relationship_types.types
                )
        return sound

    def _assignment(self, entry: RelationshipEntry, settings: Settings, owner: str) -> entities.RequirementAssignment:
        kind = entry.type.text
        what = f'relationship "{entry.target.text}" of {owner}'
        ends = {
            **self._end(entry, "source", settings, what),
            **self._end(entry, "target", settings, what),
        }
        for side in ("source", "target"):
            self._check_ends(entry, kind, side, what)
        if OF_OPERATION in self._relationship_types.names(kind):
            self._check_awaited(entry)
        properties = self._properties(entry.properties, self._relationship_types.properties(kind))
        part = entities.RelationshipPart(at=entry.at, type=entry.type, properties=properties, interfaces=ends or None)
        return entities.RequirementAssignment(
            at=entry.at, key=text(RELATIONSHIPS, entry.target), node=entry.target, relationship=part
        )

    def _check_awaited(self, entry: RelationshipEntry) -> None:
        """Report an operation that the target cannot be awaited at."""
        node = entry.properties.values.get(OPERATION) if entry.properties is not None else None
        if isinstance(node, Scalar) and node.text.rpartition(".")[2] not in AWAITED:
            self._diagnostics.unknown("unknown-operation", "operation to wait for", node.text, node.span, AWAITED)

    def _end(
        self, entry: RelationshipEntry, side: str, settings: Settings, what: str
    ) -> dict[str, entities.InterfaceDefinition]:
        section = f"{side}_interfaces"
        written = getattr(entry, section)
        inherited = self._relationship_types.operations(entry.type.text, section)
        self._operations.keep_settings(inherited, written, settings, side)
        return self._operations.of_template(written, inherited, settings, what, side) or {}

    def _check_ends(self, entry: RelationshipEntry, kind: str, side: str, what: str) -> None:
        """Report inputs without values of operations that a relationship takes from its type as they are."""
        section = f"{side}_interfaces"
        for interface, operations in self._relationship_types.operations(kind, section).items():
            table = (getattr(entry, section) or {}).get(interface)
            for name, operation in operations.items():
                if operation.implementation is None or not operation.inputs or (table and name in table.operations):
                    continue
                for declared in operation.inputs.values():
                    if declared.required is not False and declared.default is None:
                        self._operations.report_missing(declared, f"{interface}.{name}", what, entry.type)

    def _check_circles(self) -> None:
        """Report relationships that lead back to where they begin, each circle once."""
        state: dict[str, int] = {}
        for start in self._written:
            if state.get(start):
                continue
            path: list[tuple[str, list[RelationshipEntry]]] = [(start, [*(self._written[start].relationships or ())])]
            state[start] = 1
            while path:
                name, left = path[-1]
                if not left:
                    state[name] = 2
                    path.pop()
                    continue
                entry = left.pop(0)
                target = entry.target.text
                if target == name or target not in self._written:
                    continue
                if state.get(target) == 1:
                    circle = [n for n, _ in path]
                    circle = [*circle[circle.index(target) :], target]
                    self._diagnostics.error(
                        "requirement-cycle",
                        f"relationships lead in a circle: {' -> '.join(circle)}",
                        entry.target.span,
                        hint="leave one of them out",
                    )
                    self._closing.add(id(entry))
                elif not state.get(target):
                    state[target] = 1
                    path.append((target, [*(self._written[target].relationships or ())]))


def _over(default: Node, given: Node) -> Node:
    """What is given, over a default, level by level."""
    if not isinstance(default, nodes.Mapping) or not isinstance(given, nodes.Mapping) or is_call(given):
        return given
    if is_call(default):
        return given
    more = [(k, v) for k, v in default.entries() if k.text not in given.values]
    inner = [(k, _over(default.values[k.text], v) if k.text in default.values else v) for k, v in given.entries()]
    return mapping([*inner, *more], given) if more or inner else given


def _is_unbounded(node: Node) -> bool:
    return isinstance(node, Scalar) and node.text in UNBOUNDED


def check_bounds(default: Node | None, least: Node | None, most: Node | None, diagnostics: Diagnostics) -> None:
    """Report numbers of instances that are none, or contradict each other, as far as they are written as numbers."""
    found: dict[str, int | None] = {}
    for name, node, otherwise in (
        ("default_instances", default, 1),
        ("min_instances", least, 0),
        ("max_instances", most, None),
    ):
        if node is None or (name == "max_instances" and _is_unbounded(node)):
            found[name] = otherwise
            continue
        if holds_call(node):
            return
        number = integer(node.text) if isinstance(node, Scalar) and node.plain else None
        if number is None or number < 0 or (name == "max_instances" and number < 1):
            what = "a whole number from 1 on, or UNBOUNDED" if name == "max_instances" else "a whole number from 0 on"
            diagnostics.error("bad-value", f'"{name}" must be {what}', node.span)
            return
        found[name] = number
    low, middle, high = found["min_instances"], found["default_instances"], found["max_instances"]
    place = default or least or most
    assert low is not None
    assert middle is not None
    if place is not None and (middle < low or (high is not None and middle > high)):
        diagnostics.error(
            "count-out-of-bounds",
            f"default_instances is {middle}, and the bounds are {low} to {'any number' if high is None else high}",
            place.span,
            hint="change one of the three",
        )
