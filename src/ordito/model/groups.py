"""Groups: the nodes that are in them, and their values (§3.8.5)."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.model.group_types import GroupShape
from ordito.model.imperative import Group
from ordito.model.templates import Templates
from ordito.model.units import Unit, Units
from ordito.model.values import Values
from ordito.source.nodes import Scalar
from ordito.syntax import policies
from ordito.syntax.entries import is_lost


class Groups:
    """Reads the groups of a topology."""

    def __init__(
        self,
        shapes: Mapping[str, GroupShape],
        templates: Templates,
        values: Values,
        units: Units,
        unit: Unit,
        diagnostics: Diagnostics,
    ) -> None:
        self._shapes = shapes
        self._templates = templates
        self._values = values
        self._units = units
        self._unit = unit
        self._diagnostics = diagnostics
        self.written: Mapping[str, policies.Group] = {}
        self.found: dict[str, Group] = {}

    def read(self, written: Mapping[str, policies.Group]) -> None:
        """Read all groups."""
        self.written = written
        for name, item in written.items():
            definition = self._units.require("group", item.type, self._unit)
            shape = self._shapes.get(definition.name) if definition is not None else None
            if shape is None:
                continue
            what = f'group "{name}"'
            self.found[name] = Group(
                name=name,
                kinds=shape.kinds,
                members=tuple(self._members(item, shape)),
                properties=self._values.fields(item.properties, shape.properties, what, "property", item),
                attributes=self._values.attributes(item.attributes, shape.attributes, what),
                definitions=shape.properties,
                attribute_definitions=shape.attributes,
                metadata={k: v.text for k, v in (item.metadata or {}).items()},
                description=item.description.text if item.description else "",
                span=item.span,
            )

    def is_written(self, name: str) -> bool:
        """Whether a group of that name is written, readable or not."""
        return name in self.written or is_lost(self.written, name)

    def _members(self, item: policies.Group, shape: GroupShape) -> dict[str, None]:
        """The node templates in a group, those of groups in it included, in order and each once."""
        found: dict[str, None] = {}
        waiting = [(m, item.name) for m in reversed(item.members or ())]
        entered = {item.name}
        while waiting:
            member, owner = waiting.pop()
            name = member.text
            if self._templates.is_written(name):
                if owner != item.name or self._fits(member, shape):
                    found[name] = None
            elif name in self.written:
                self._nested(member, owner, item)
                if name not in entered:
                    entered.add(name)
                    waiting.extend((m, name) for m in reversed(self.written[name].members or ()))
            elif owner == item.name and not is_lost(self.written, name):
                known = [*self._templates.written, *self.written]
                self._diagnostics.unknown("unknown-member", "node template", name, member.span, known)
        return {n: None for n in found if n in self._templates.nodes}

    def _nested(self, member: Scalar, owner: str, item: policies.Group) -> None:
        if owner == item.name:
            self._diagnostics.warning(
                "nested-group",
                f'"{member.text}" is a group; the nodes in it become members of "{item.name}"',
                member.span,
                hint="name the node templates",
            )

    def _fits(self, member: Scalar, shape: GroupShape) -> bool:
        """Whether the group's type takes a node template."""
        node = self._templates.nodes.get(member.text)
        if node is None or not shape.members or not set(shape.members).isdisjoint(node.kinds):
            return True
        self._diagnostics.error(
            "wrong-member",
            f'"{node.name}" is a {node.type}; groups of type {shape.kinds[0]} take {" or ".join(shape.members)}',
            member.span,
            hint="remove it, or use another group type",
        )
        return False
