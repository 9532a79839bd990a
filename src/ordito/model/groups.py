"""Groups: the nodes that are in them, and their values (§3.8.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from ordito.base.diagnostics import Diagnostics, Related
from ordito.model.group_types import GroupShape
from ordito.model.imperative import Group
from ordito.model.interfaces import Interfaces
from ordito.model.settings import plain_metadata
from ordito.model.templates import Templates
from ordito.model.units import Unit, Units
from ordito.model.values import Values
from ordito.source.nodes import Scalar
from ordito.syntax import topology
from ordito.syntax.shapes import is_lost

MOST_LISTED = 20


class Groups:
    """Reads the groups of a topology."""

    def __init__(
        self,
        shapes: Mapping[str, GroupShape],
        templates: Templates,
        values: Values,
        interfaces: Interfaces,
        units: Units,
        unit: Unit,
        diagnostics: Diagnostics,
    ) -> None:
        self._shapes = shapes
        self._templates = templates
        self._values = values
        self._interfaces = interfaces
        self._units = units
        self._unit = unit
        self._diagnostics = diagnostics
        self.written: Mapping[str, topology.Group] = {}
        self.found: dict[str, Group] = {}

    def read(self, written: Mapping[str, topology.Group]) -> None:
        """Read all groups."""
        self.written = written
        shapes: dict[str, GroupShape] = {}
        for name, item in written.items():
            definition = self._units.require("group", item.type, self._unit)
            shape = self._shapes.get(definition.name) if definition is not None else None
            if shape is not None:
                shapes[name] = shape
        members = self._all_members(shapes)
        for name, shape in shapes.items():
            item = written[name]
            what = f'group "{name}"'
            self.found[name] = Group(
                name=name,
                kinds=shape.kinds,
                members=members[name],
                properties=self._values.fields(item.properties, shape.properties, what, "property", item),
                attributes=self._values.attributes(item.attributes, shape.attributes, what),
                definitions=shape.properties,
                attribute_definitions=shape.attributes,
                metadata=plain_metadata(item.at, item.metadata, "groups", self._diagnostics),
                description=item.description.text if item.description else "",
                span=item.span,
            )
            self._interfaces.merge(
                shape.interfaces, item.interfaces, self._unit, owner=what, relationship=False, defining=False
            )

    def is_written(self, name: str) -> bool:
        """Whether a group of that name is written, readable or not."""
        return name in self.written or is_lost(self.written, name)

    def _all_members(self, shapes: Mapping[str, GroupShape]) -> dict[str, tuple[str, ...]]:
        """The node templates in each group, those of groups in it included, in order and each once. A group is looked
        at when all that are in it are known, so that no group is walked through twice."""
        found: dict[str, tuple[str, ...]] = {}
        for start in self.written:
            path = [] if start in found else [(start, self._nested(start))]
            depth = {start: 0}
            while path:
                name, waiting = path[-1]
                member = next(waiting, None)
                if member is None:
                    path.pop()
                    del depth[name]
                    found[name] = self._members(self.written[name], shapes.get(name), found)
                elif member.text in depth:
                    self._report_circle(path, depth[member.text], member)
                elif member.text not in found:
                    depth[member.text] = len(path)
                    path.append((member.text, self._nested(member.text)))
        return found

    def _nested(self, name: str) -> Iterator[Scalar]:
        """The members of a group that are groups."""
        members = self.written[name].members or ()
        return iter([m for m in members if m.text in self.written and not self._templates.is_written(m.text)])

    def _report_circle(self, path: list[tuple[str, Iterator[Scalar]]], begin: int, member: Scalar) -> None:
        """Report the cycle that a member closes, which begins at a place of the path."""
        circle = [name for name, _ in path[begin : begin + MOST_LISTED]]
        if len(path) - begin > MOST_LISTED:
            circle[-1:] = ["...", path[-1][0]]
        self._diagnostics.error(
            "group-cycle",
            f"a group is a member of itself: {' -> '.join([*circle, member.text])}",
            member.span,
            hint=f'take "{member.text}" out of these members',
        )

    def _members(
        self, item: topology.Group, shape: GroupShape | None, known: Mapping[str, tuple[str, ...]]
    ) -> tuple[str, ...]:
        """The node templates in a group, of which the groups in it are ``known``, save those that close a circle. Only
        what has a ``shape`` is checked: what is wrong with the others has been reported."""
        found: dict[str, None] = {}
        if shape is not None:
            warn_of_repeats(item.members or (), f'group "{item.name}"', "member", self._diagnostics)
        members = {m.text: m for m in item.members or ()}
        for name, member in members.items():
            if self._templates.is_written(name):
                if name in self._templates.nodes and (shape is None or self._fits(member, shape)):
                    found[name] = None
            elif name in self.written:
                found.update(dict.fromkeys(known.get(name, ())))
                if shape is not None and name in known:
                    self._warn_of_nesting(member, item)
            elif shape is not None and not is_lost(self.written, name):
                candidates = chain(self._templates.written, self.written)
                self._diagnostics.unknown("unknown-member", "node template", name, member.span, candidates)
        return tuple(found)

    def _warn_of_nesting(self, member: Scalar, item: topology.Group) -> None:
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
        return self._diagnostics.objection(
            "wrong-member",
            f'"{node.name}" is a {node.type}; groups of type {shape.kinds[0]} take {" or ".join(shape.members)}',
            member.span,
            hint="remove it, or use another group type",
        )


def warn_of_repeats(names: Iterable[Scalar], owner: str, what: str, diagnostics: Diagnostics) -> None:
    """Warn of names that occur twice in a list."""
    first: dict[str, Scalar] = {}
    for name in names:
        if first.setdefault(name.text, name) is not name:
            diagnostics.warning(
                "repeated-name",
                f'{owner} names the {what} "{name.text}" twice',
                name.span,
                hint="remove one of them",
                related=(Related("first named here", first[name.text].span),),
            )
