"""Values that were given for outputs of a notification, as operations would give them: texts, numbers, lists, maps."""

from __future__ import annotations

from ordito.app.plain_nodes import plain
from ordito.source.nodes import Mapping, Scalar, Sequence
from ordito.source.scalars import core_value


def told_value(value: object) -> object:
    """A value from a command line or a file. A scalar stays the text that it is written as, since only its attribute
    says what it is: ``6.10`` may be a version."""
    if isinstance(value, Scalar):
        return None if core_value(value) is None else value.text
    return plain(value) if isinstance(value, Sequence | Mapping) else value
