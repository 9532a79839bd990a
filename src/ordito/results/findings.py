"""Findings about documents, and about this machine, as every result that has some holds them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from ordito.app.doctor.finding import DoctorFinding
from ordito.base.diagnostics import Diagnostic, Related, Severity
from ordito.base.span import SourceText, Span
from ordito.results.answer import ResultData

if TYPE_CHECKING:
    from ordito.app.doctor.finding import Diagnosis


class RelatedPlace(msgspec.Struct, frozen=True):
    """A place that belongs to a finding; all but the message is null where it is not known."""

    message: str
    file: str | None
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None


class FindingData(msgspec.Struct, frozen=True):
    """A finding about a document; the place is null where there is none."""

    code: str
    severity: str
    message: str
    file: str | None
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None
    hint: str
    related: tuple[RelatedPlace, ...]


def finding_data(found: Diagnostic) -> FindingData:
    """A finding."""
    related = tuple(RelatedPlace(one.message, *_place(one.span)) for one in found.related)
    return FindingData(found.code, str(found.severity), found.message, *_place(found.span), found.hint, related)


def diagnostic_of(found: FindingData) -> Diagnostic:
    """A finding of which only the data has come here: its place is known, and no text of the file."""
    span = _span(found)
    related = tuple(Related(one.message, place) for one in found.related if (place := _span(one)) is not None)
    return Diagnostic(Severity(found.severity), found.code, found.message, span, found.hint, related)


def _span(found: FindingData | RelatedPlace) -> Span | None:
    if found.file is None or found.line is None or found.column is None:
        return None
    end_line, end_column = found.end_line or found.line, found.end_column or found.column
    return Span(SourceText(found.file, ""), found.line, found.column, end_line, end_column)


def total(found: Iterable[Diagnostic | FindingData]) -> str:
    """How many findings there are of each severity, as in "2 errors, 1 warning"."""
    counts = dict.fromkeys(Severity, 0)
    for one in found:
        counts[Severity(one.severity)] += 1
    return ", ".join(f"{n} {severity}{'s' if n > 1 else ''}" for severity, n in counts.items() if n)


def findings_data(found: Iterable[Diagnostic]) -> tuple[FindingData, ...]:
    """Findings, in their order."""
    return tuple(map(finding_data, found))


_Place = tuple[str | None, int | None, int | None, int | None, int | None]


def _place(span: Span | None) -> _Place:
    if span is None:
        return None, None, None, None, None
    return span.source.name + span.source.note, span.line, span.column, span.end_line, span.end_column


class DoctorData(ResultData, frozen=True, tag="ordito.doctor/1"):
    """What this machine can run, and how the ensemble is."""

    ready: bool
    """Whether everything that is needed can be used."""

    findings: tuple[DoctorFinding, ...]


def doctor_data(found: Diagnosis) -> DoctorData:
    """What was found."""
    return DoctorData(found.is_ready, found.findings)
