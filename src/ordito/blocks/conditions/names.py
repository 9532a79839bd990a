"""The names of a context that a condition speaks of."""

from __future__ import annotations

from collections.abc import Collection

from ordito.base.suggest import nearest
from ordito.blocks.conditions.faults import NotACondition, Place
from ordito.blocks.conditions.trees import Name, Node, references


def roots(tree: Node) -> dict[str, Place]:
    """The names that a condition begins its paths with (``values`` of ``values.a.b``), and where each stands first."""
    found: dict[str, Place] = {}
    for reference in references(tree):
        name = reference if isinstance(reference, Name) else reference.base
        if isinstance(name, Name):
            found.setdefault(name.name, name.place)
    return found


def unknown(tree: Node, known: Collection[str]) -> list[NotACondition]:
    """A fault for each name that a condition begins a path with and that is none of the known ones."""
    faults: list[NotACondition] = []
    for name, place in roots(tree).items():
        if name not in known:
            close = nearest(name, known)
            hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(known)}"
            faults.append(NotACondition(f'there is no "{name}" in conditions', place, hint))
    return faults
