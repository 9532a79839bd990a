"""Diagnostics as annotations of GitHub's workflows: one command a line, which the runner shows beside the code."""

from __future__ import annotations

from collections.abc import Iterable

from ordito.base.diagnostics import Diagnostic, Severity
from ordito.cli.places import place_of_file

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def annotation_lines(found: Iterable[Diagnostic]) -> list[str]:
    """The lines for some findings."""
    return [_annotation(diagnostic) for diagnostic in found]


def _annotation(found: Diagnostic) -> str:
    properties: dict[str, object] = {}
    message = found.message
    span = found.span
    if span is not None:
        place = place_of_file(span.source.name)
        if place.path:
            properties["file"] = place.path
        if place.inside:
            message = f"{span}: {message}"
        elif place.path:
            properties["line"] = span.line
            if span.end_line == span.line:
                properties |= {"col": span.column, "endColumn": span.end_column}
            else:
                properties["endLine"] = span.end_line
    properties["title"] = found.code
    parts = [message, *([f"help: {found.hint}"] if found.hint else [])]
    parts += [f"{related.span}: {related.message}" for related in found.related]
    written = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{COMMANDS[found.severity]} {written}::{_data(chr(10).join(parts))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
