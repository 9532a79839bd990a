"""Where values that have been read are written."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

from ordito.base.span import Span
from ordito.source.bundled import PROFILE_SCHEME
from ordito.source.nodes import Mapping
from ordito.syntax.expressions import Value


class Written:
    """The map that each set of properties was read from, and whether that went without errors. Of properties that are
    defaults alone nothing is written, and they are sound."""

    def __init__(self) -> None:
        # The values are kept, so that no other ones can come to lie where they were.
        self._of: dict[int, tuple[MappingType[str, Value], Mapping | None, bool]] = {}

    def remember(self, values: MappingType[str, Value], node: Mapping | None, *, is_sound: bool) -> None:
        """Note where values were read from; None for those that are written in the wrong place."""
        self._of[id(values)] = values, node, is_sound

    def of(self, values: MappingType[str, Value]) -> tuple[Mapping | None, bool]:
        """The map that values were read from, if any, and whether all of them were right."""
        found = self._of.get(id(values))
        return (found[1], found[2]) if found is not None else (None, True)


def is_bundled(span: Span | None) -> bool:
    """Whether something stands in a profile that comes with the program."""
    return span is None or span.source.name.startswith(PROFILE_SCHEME)
