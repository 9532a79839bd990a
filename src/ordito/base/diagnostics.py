"""Diagnostics: what is wrong with a user's document, where, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum

import msgspec

from ordito.base.allowable import ALLOWABLE
from ordito.base.span import Span
from ordito.base.suggest import Effort, nearest

MOST_SUGGESTIONS = 500
USER_IN_URL = re.compile(r"(://)([^/\s?#\"']*)@")
"""A user in a URL, with or without a password."""
MOST_EFFORT = 200_000
MOST_NAMES_LISTED = 12


class Severity(StrEnum):
    """How serious a diagnostic is: an error stops the work before it begins, the others do not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Related(msgspec.Struct, frozen=True):
    """A second place that explains a finding, for example where a type was declared."""

    message: str
    span: Span


class Diagnostic(msgspec.Struct, frozen=True):
    """One finding. ``code`` is stable and names the rule, ``hint`` says what to do next."""

    severity: Severity
    code: str
    message: str
    span: Span | None = None
    hint: str = ""
    related: tuple[Related, ...] = ()

    def __str__(self) -> str:
        where = f"{self.span}: " if self.span else ""
        return f"{where}{self.severity}[{self.code}]: {self.message}"


class Diagnostics:
    """The findings of one run, collected so that all of them are reported together.

    A finding is kept once, also where several readers of one place report it (a type and all its templates, say).
    Findings in lines that were guessed after a fault are not kept. ``errors`` counts all errors reported so far, also
    those that are not kept or were kept before: a reader compares it before and after to see whether reading
    succeeded. ``reported`` counts all findings in the same way.
    """

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []
        self._seen: set[tuple[object, ...]] = set()
        self._suggestions = 0
        self._effort = Effort(MOST_EFFORT)
        self._near: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        self._copy: Copied | None = None
        self._waiting: list[tuple[Copied, Diagnostic]] = []
        self.allowed: frozenset[str] = frozenset()
        """The codes of findings with which the author chose to go on."""
        self.wording: Callable[[str], str] | None = None
        """Puts messages and hints into the words of the language in which the documents are written."""
        self.unsaid: frozenset[str] = frozenset()
        """The codes of warnings and notes about what is usual in the language in which the documents are written."""
        self.way: Callable[[Span], tuple[Related, ...]] | None = None
        """Gives the imports by which the document at a place is part of what is read, the nearest first."""
        self.softened: frozenset[str] = frozenset()
        """The codes of errors that are warnings until a plan is made."""
        self.errors = 0
        self.reported = 0

    def error(
        self, code: str, message: str, span: Span | None, *, hint: str = "", related: Sequence[Related] = ()
    ) -> None:
        """Record an error."""
        self._add(Diagnostic(Severity.ERROR, code, message, span, hint, tuple(related)))

    def warning(
        self, code: str, message: str, span: Span | None, *, hint: str = "", related: Sequence[Related] = ()
    ) -> None:
        """Record a warning."""
        self._add(Diagnostic(Severity.WARNING, code, message, span, hint, tuple(related)))

    def note(self, code: str, message: str, span: Span | None, *, hint: str = "") -> None:
        """Record something that is worth knowing."""
        self._add(Diagnostic(Severity.NOTE, code, message, span, hint))

    def objection(
        self, code: str, message: str, span: Span | None, *, hint: str = "", related: Sequence[Related] = ()
    ) -> bool:
        """Record an error that an author may allow (``ALLOWABLE``); where it is allowed, record a warning that says
        what is done instead. Returns whether it is allowed."""
        if code in self.allowed:
            self.warning(code, message, span, hint=f"it is allowed: {ALLOWABLE[code]}", related=related)
            return True
        choice = f"or go on with --allow {code}: {ALLOWABLE[code]}"
        self.error(code, message, span, hint="; ".join(filter(None, (hint, choice))), related=related)
        return False

    def unknown(
        self, code: str, what: str, name: str, span: Span | None, known: Iterable[str], *, note: str = ""
    ) -> None:
        """Record an error about a name that does not exist, with the nearest names that do."""
        self.error(code, f'no {what} named "{name}"', span, hint=self.suggestion(name, known, note=note))

    def suggestion(self, name: str, known: Iterable[str], *, note: str = "") -> str:
        """A hint for an unknown name, as the function ``suggestion`` gives it. A run gives no more of them once it has
        given very many, or has compared very many names for them."""
        self._suggestions += 1
        if self._suggestions > MOST_SUGGESTIONS or self._effort.left <= 0:
            return note
        names = tuple(sorted(set(known)))
        self._effort.left -= len(names)
        near = self._near.get((name, names))
        if near is None:
            near = self._near[name, names] = nearest(name, names, effort=self._effort)
        return _hint(near, names, note)

    def nearest(self, name: str, known: Iterable[str]) -> list[str]:
        """The known names nearest to a name; none once the run has compared very many names."""
        return nearest(name, known, effort=self._effort)

    def extend(self, others: Iterable[Diagnostic]) -> None:
        """Take over the findings that another collection has kept, also those in lines that were guessed here."""
        for other in others:
            self._add(other, kept=True)

    @contextmanager
    def about(self, copy: Copied | None) -> Iterator[None]:
        """While a copy is read, put off findings in the template that it copies, until ``settle`` knows whether they
        are found in that template itself, too."""
        self._copy = copy
        yield
        self._copy = None

    def settle(self) -> None:
        """Record the findings that were put off and exist in copies only: there the copy is wrong, not its source."""
        waiting, self._waiting = self._waiting, []
        known = {(d.severity, d.code, _place(d.span)) for d in self._found}
        for copy, found in waiting:
            if found.span is not None and (found.severity, found.code, _place(found.span)) not in known:
                related = (Related("written here, in what it copies", found.span), *found.related)
                self._keep(msgspec.structs.replace(found, span=copy.place, related=related))

    def _add(self, found: Diagnostic, *, kept: bool = False) -> None:
        if found.code in self.unsaid and found.severity is not Severity.ERROR:
            return
        if found.code in self.softened and found.severity is Severity.ERROR:
            found = msgspec.structs.replace(found, severity=Severity.WARNING)
        self.reported += 1
        self.errors += found.severity is Severity.ERROR
        if not kept and found.span is not None and found.span.line in found.span.source.guessed:
            return
        if self._copy is not None and found.span is not None and self._copy.basis.holds(found.span):
            self._waiting.append((self._copy, found))
        else:
            self._keep(found)

    def _keep(self, found: Diagnostic) -> None:
        if self.way is not None and found.span is not None and (way := self.way(found.span)):
            found = msgspec.structs.replace(found, related=(*found.related, *way))
        if self.wording is not None:
            found = msgspec.structs.replace(
                found,
                message=self.wording(found.message),
                hint=self.wording(found.hint),
                related=tuple(Related(self.wording(r.message), r.span) for r in found.related),
            )
        if "@" in found.message or "@" in found.hint:
            found = msgspec.structs.replace(
                found, message=without_passwords(found.message), hint=without_passwords(found.hint)
            )
        known = (found.severity, found.code, found.message, _place(found.span))
        if known not in self._seen:
            self._seen.add(known)
            self._found.append(found)

    @property
    def has_errors(self) -> bool:
        """Whether any finding is an error."""
        return self.errors > 0

    def sorted(self) -> list[Diagnostic]:
        """All findings, by file, line and column; those without a place first."""
        return sorted(
            self._found, key=lambda d: (d.span.source.name, d.span.line, d.span.column) if d.span else ("", 0, 0)
        )

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


class Copied(msgspec.Struct, frozen=True):
    """A template that copies another."""

    place: Span
    """Where it says that it is a copy."""
    basis: Span
    """Where the template stands that it copies."""


class InvalidDocument(Exception):
    """Raised when the user's documents hold errors; carries all findings, nothing was touched."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = list(diagnostics)
        errors = [d for d in self.diagnostics if d.severity is Severity.ERROR]
        super().__init__("; ".join(str(d) for d in errors[:3]))


def _place(at: Span | None) -> tuple[str, int, int] | None:
    return (at.source.name, at.line, at.column) if at is not None else None


def without_passwords(text: str) -> str:
    """The text with a star for each character of users and passwords in URLs."""
    if "://" not in text:
        return text
    return USER_IN_URL.sub(lambda found: f"{found[1]}{'*' * len(found[2])}@", text)


def suggestion(name: str, known: Iterable[str], *, note: str = "") -> str:
    """A hint for an unknown name: the nearest known names, or all of them where they are few."""
    names = sorted(set(known))
    return _hint(nearest(name, names), names, note)


def _hint(near: Sequence[str], names: Sequence[str], note: str) -> str:
    parts = []
    if near:
        parts.append("did you mean " + " or ".join(f'"{n}"' for n in near) + "?")
    elif not names:
        parts.append("there is none here")
    elif len(names) <= MOST_NAMES_LISTED:
        parts.append("known here: " + ", ".join(names))
    if near and note:
        return f"{parts[0]} {note[:1].upper()}{note[1:]}"
    if note:
        parts.append(note)
    return "; ".join(parts)
