"""The names of a context that a condition speaks of."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ordito.base.suggest import nearest
from ordito.blocks.conditions.faults import NotACondition, Place
from ordito.blocks.conditions.trees import Field, Name, Node, Path, references

Fields = Mapping[str, Collection[str]]
"""What names of a context have that always have the same, by these names."""


def roots(tree: Node) -> dict[str, Place]:
    """The names that a condition begins its paths with (``values`` of ``values.a.b``), and where each stands first."""
    found: dict[str, Place] = {}
    for reference in references(tree):
        name = reference if isinstance(reference, Name) else reference.base
        if isinstance(name, Name):
            found.setdefault(name.name, name.place)
    return found


def unknown(
    tree: Node, known: Collection[str], fields: Fields | None = None, components: Fields | None = None
) -> list[NotACondition]:
    """A fault for each name that a condition begins a path with and that is none of the known ones; where there is
    none, for each of the ``fields`` that such a name never has. ``components`` are the fields of names which have one
    for each component."""
    faults: list[NotACondition] = []
    for name, place in roots(tree).items():
        if name not in known:
            close = nearest(name, known)
            hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(known)}"
            faults.append(NotACondition(f'there is no "{name}" in conditions', place, hint))
    return [*faults, *(fault for fault in _unknown_fields(tree, fields or {}, components or {}) if not faults)]


def _unknown_fields(tree: Node, known: Fields, components: Fields) -> Iterator[NotACondition]:
    """A fault for each path that begins with what none of these names has."""
    for path in references(tree):
        step = path.steps[0] if isinstance(path, Path) else None
        if isinstance(path, Path) and isinstance(path.base, Name) and isinstance(step, Field):
            fields, named = known.get(path.base.name), components.get(path.base.name)
            if fields is not None and step.name not in fields:
                message = f'"{path.base.name}" has no "{step.name}" in conditions'
                yield NotACondition(message, step.place, f"it has {' and '.join(fields)}")
            elif named is not None and step.name not in named:
                message = f'"{path.base.name}" has a field for each component, and there is no component "{step.name}"'
                close = nearest(step.name, named)
                hint = f"did you mean {' or '.join(close)}?" if close else "name a node template of the topology"
                yield NotACondition(message, step.place, hint)
