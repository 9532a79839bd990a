"""Reports of what is wrong with function calls: each call once, at the argument that is at fault."""

from __future__ import annotations

from collections.abc import Iterable

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Span
from ordito.syntax.expressions import Call


class CallFaults:
    """Collects the faults of calls; however many templates share a call, its fault is reported once."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self.diagnostics = diagnostics
        self._wrong: dict[int, Call] = {}
        self._doubtful: dict[int, Call] = {}
        # Calls are kept beside their ids, so that these stay their own.

    def is_reported(self, call: Call) -> bool:
        """Whether an error was reported of a call."""
        return id(call) in self._wrong

    def error(
        self,
        call: Call,
        code: str,
        message: str,
        hint: str = "",
        at: int | None = None,
        related: tuple[Related, ...] = (),
    ) -> None:
        """Report a fault of a call, or of its argument number ``at``."""
        if id(call) not in self._wrong:
            self._wrong[id(call)] = call
            self.diagnostics.error(code, message, _span(call, at), hint=hint, related=related)

    def objection(self, call: Call, code: str, message: str, hint: str, related: tuple[Related, ...] = ()) -> None:
        """Report a fault of a call with which an author may choose to go on."""
        if id(call) not in self._wrong:
            self._wrong[id(call)] = call
            self.diagnostics.objection(code, message, _span(call, None), hint=hint, related=related)

    def warning(self, call: Call, code: str, message: str, hint: str = "", at: int | None = None) -> None:
        """Report something doubtful."""
        if id(call) not in self._doubtful:
            self._doubtful[id(call)] = call
            self.diagnostics.warning(code, message, _span(call, at), hint=hint)

    def unknown(self, call: Call, what: str, name: str, owner: str, known: Iterable[str], at: int) -> None:
        """Report a name that an owner does not have."""
        hint = self.diagnostics.suggestion(name, known)
        self.error(call, f"unknown-{what}", f'{owner} has no {what} "{name}"', hint, at)


class NoFaults(CallFaults):
    """For those who follow calls only: what is wrong with them is reported by somebody else."""

    def __init__(self) -> None:
        super().__init__(Diagnostics())

    def error(
        self,
        call: Call,
        code: str,
        message: str,
        hint: str = "",
        at: int | None = None,
        related: tuple[Related, ...] = (),
    ) -> None:
        """Report nothing."""

    def warning(self, call: Call, code: str, message: str, hint: str = "", at: int | None = None) -> None:
        """Report nothing."""

    def unknown(self, call: Call, what: str, name: str, owner: str, known: Iterable[str], at: int) -> None:
        """Report nothing."""


def _span(call: Call, at: int | None) -> Span:
    return call.span if at is None else call.argument_span(at)
