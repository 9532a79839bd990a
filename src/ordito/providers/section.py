"""A section of the inventory, as the provider gets it that it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from ordito.base.diagnostics import Diagnostics, Severity
from ordito.providers.shapes import Kind, Reading
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node


class NoValue(Exception):
    """A value of the inventory that stands elsewhere cannot be had, or is not what it should be. The text is for
    people; it holds no secret."""


class Section(msgspec.Struct, frozen=True):
    """A section of the inventory: its ``name``, what is written below it (``node``, None for nothing), and the entries
    of the ``defaults`` of the inventory for how hosts are reached.

    ``file`` is the inventory's path as people know it, ``folder`` the absolute path of its folder: relative paths in it
    are seen from there, and what a provider has to remember between commands belongs into ``.ordito`` in it. ``later``
    says of a value whether it stands elsewhere, ``fetch`` gives for such a value the one that is meant and whether it
    is secret, and raises ``NoValue``. Faults go to ``diagnostics`` while the inventory is read: then the command ends
    with all of them. ``ensemble`` is the absolute path of the ensemble's directory.
    """

    name: str
    node: Node | None
    diagnostics: Diagnostics
    folder: Path
    file: str
    later: Callable[[Node], bool]
    fetch: Callable[[Node], tuple[Node, bool]]
    defaults: Mapping[str, Node] = {}
    ensemble: str = ""

    @property
    def entries(self) -> Mapping[str, Node]:
        """What is written below the section's name, where that is a map."""
        return self.node.values if isinstance(self.node, MappingNode) else {}

    def check(self, node: Node | None, kind: Kind, what: str) -> object:
        """Report what is wrong with a part of the section; gives what is known of it without looking up what stands
        elsewhere."""
        if node is None:
            return None
        reading = Reading(self.diagnostics, lambda n: (None, False) if self.later(n) else (n, False))
        return kind.read(node, what, reading)

    def value(self, node: Node, kind: Kind, what: str) -> object:
        """The values of a part of the section as they are now; secrets are ``Sensitive``. Raises ``NoValue``."""
        found = Diagnostics()
        reading = Reading(found, lambda n: self.fetch(n) if self.later(n) else (n, False))
        value = kind.read(node, what, reading)
        for problem in found.sorted():
            if problem.severity is Severity.ERROR:
                raise NoValue(f"{problem.span}: {problem.message}" if problem.span else problem.message)
        return value

    def path(self, text: str) -> str:
        """The absolute path of a file that the section names."""
        return str(self.folder / Path(text).expanduser())
