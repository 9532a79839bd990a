"""Faults of values: the path to the faulty part, and the reason."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Span
from ordito.syntax.expressions import Call, Value

ENTRY, VALUE, KEY, FIELD, ATTRIBUTE = "entry", "value", "key", "field", "attribute"
"""The kinds of steps of a path: to an entry of a list, to the value or the key of an entry of a map, or to the value of
a definition, as "field", "property", "attribute" or "input"."""


class Path(msgspec.Struct, frozen=True, gc=False):
    """The last step of a path into a value, and the path before it; None means the value as a whole."""

    outer: Path | None
    step: str | int
    part: str

    def name(self, whole: str) -> str:
        """The name of the part in messages, where ``whole`` is the name of the value."""
        if self.part not in NAMED_BY_WHOLE:
            return f'{self.part} "{self.step}"'
        return NAMED_BY_WHOLE[self.part](self.step, whole if self.outer is None else self.outer.name(whole))

    def steps(self) -> list[Path]:
        """All steps, the outermost first."""
        found = [self]
        while (outer := found[-1].outer) is not None:
            found.append(outer)
        return found[::-1]


class Fault(msgspec.Struct, frozen=True):
    """An error or a warning about a value or a part of it."""

    path: Path | None
    """The path to the part, from the value that was checked."""
    code: str
    message: str
    hint: str = ""
    related: tuple[Related, ...] = ()
    """Places of declarations that explain it."""
    is_warning: bool = False
    at_name: bool = False
    """Whether it is about the name of the part."""
    name: str | None = None
    """A name that is not known, and ..."""
    known: Collection[str] = ()
    """... the names that may be meant."""
    span: Span | None = None
    """Its place where that is known: inside a call."""

    def report(self, diagnostics: Diagnostics, span: Span | None) -> None:
        """Report it at the place that its path leads to."""
        tell = diagnostics.warning if self.is_warning else diagnostics.error
        hint = diagnostics.suggestion(self.name, self.known) if self.name is not None else self.hint
        tell(self.code, self.message, self.span or span, hint=hint, related=self.related)


NAMED_BY_WHOLE: Mapping[str, Callable[[str | int, str], str]] = {
    ENTRY: lambda step, whole: f"entry {int(step) + 1} of {whole}",
    VALUE: lambda step, whole: f'"{step}" of {whole}',
    KEY: lambda _, whole: f"a key of {whole}",
}
"""How messages call the parts that have no name of their own, with the name of the whole."""


def place_of(fault: Fault, written: Value, span: Span) -> Span:
    """Where the part of evaluated data comes from that a fault is about: the call that gave it, which is the last on
    the way to it in what is ``written``, else ``span``."""
    current: Value = written
    for step in fault.path.steps() if fault.path is not None else ():
        is_of_whole = step is fault.path and (fault.at_name or step.part == KEY)
        if isinstance(current, Call) or is_of_whole:
            break
        if isinstance(current, list) and isinstance(step.step, int):
            current = current[step.step] if step.step < len(current) else None
        else:
            current = current.get(str(step.step)) if isinstance(current, dict) else None
    return current.span if isinstance(current, Call) else span
