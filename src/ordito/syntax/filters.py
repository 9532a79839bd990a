"""Property filters and node filters (§3.6.4, §3.6.5), as they are written."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.syntax.grammar import Entity, Key, Reading, read_entity
from ordito.syntax.shapes import EntryList


class PropertyFilter(Entity, frozen=True, eq=False, kw_only=True):
    """Property filter (§3.6.4): clauses that the value of the named property must all meet."""

    WHAT: ClassVar[str] = "property filter"

    @property
    def clauses(self) -> list[Node]:
        """The clauses, also where a single one is written without a list."""
        return self.at.items if isinstance(self.at, Sequence) else [self.at]


class PropertyFilters(msgspec.Struct, frozen=True):
    """A list of property filters; a map of them, as some examples have it, is deprecated."""

    def read(self, node: Node, what: str, reading: Reading) -> list[PropertyFilter] | None:
        """The filters; None, with a diagnostic, where there is neither a list nor a map."""
        if is_null(node):
            return None
        found = EntryList()
        for key, value in _entries(node, what, reading, found):
            if value is None or is_null(value) or (isinstance(value, Sequence) and not value.items):
                reading.diagnostics.error(
                    "empty-value",
                    f'the filter of property "{key.text}" has no clause',
                    key.span,
                    hint=f"write {key.text}: {{ greater_or_equal: 1 }}, for example",
                )
                found.all_lost = True
            else:
                found.append(PropertyFilter(at=value, key=key))
        return found


class CapabilityFilter(Entity, frozen=True, eq=False, kw_only=True):
    """The conditions for a capability; the name is that of the capability, or of its type (§3.6.5.2)."""

    WHAT: ClassVar[str] = "capability filter"
    NOTE: ClassVar[str] = 'filters of properties stand below "properties:"'

    properties: Annotated[list[PropertyFilter] | None, Key(PropertyFilters())] = None


class CapabilityFilters(msgspec.Struct, frozen=True):
    """A list of capability filters; a name alone says that there must be such a capability."""

    def read(self, node: Node, what: str, reading: Reading) -> list[CapabilityFilter] | None:
        """The filters; None, with a diagnostic, where there is neither a list nor a map."""
        if is_null(node):
            return None
        found = EntryList()
        for key, value in _entries(node, what, reading, found, bare=True):
            if value is None:
                found.append(CapabilityFilter(at=key, key=key))
                continue
            read = read_entity(CapabilityFilter, value, reading, key)
            if read is not None:
                found.append(read)
            else:
                found.all_lost = True
        return found


class NodeFilter(Entity, frozen=True, eq=False, kw_only=True):
    """Node filter (§3.6.5): the conditions that a node must meet to be selected."""

    WHAT: ClassVar[str] = "node filter"
    NOTE: ClassVar[str] = 'filters of properties stand below "properties:"'

    properties: Annotated[list[PropertyFilter] | None, Key(PropertyFilters())] = None
    capabilities: Annotated[list[CapabilityFilter] | None, Key(CapabilityFilters())] = None


def _entries(
    node: Node, what: str, reading: Reading, found: EntryList, *, bare: bool = False
) -> list[tuple[Scalar, Node | None]]:
    """The names in a list of one-key maps with what stands below each; where names may stand ``bare``, nothing."""
    if isinstance(node, Mapping):
        reading.diagnostics.warning(
            "list-expected",
            f"{what} of a filter are a list",
            (node.keys[0] if node.keys else node).span,
            hint='write a dash before each name: "- name: ..."',
        )
        return [*node.entries()]
    if not isinstance(node, Sequence):
        reading.wrong_kind(node, what, "a list of one-key maps", 'write a dash before each name: "- name: ..."')
        found.all_lost = True
        return []
    entries: list[tuple[Scalar, Node | None]] = []
    for item in node.items:
        if isinstance(item, Mapping) and len(item.keys) == 1:
            entries += item.entries()
        elif bare and isinstance(item, Scalar) and not is_null(item):
            entries.append((item, None))
        else:
            found.all_lost = True
            reading.diagnostics.error(
                "wrong-form",
                f"an entry of {what} must be a map with exactly one name{', or a name alone' if bare else ''}",
                item.span,
                hint="indent the lines below the name deeper than it, and write a dash before each name",
            )
    return entries
