"""Diagnostics in the formats of other programs: SARIF 2.1.0, and the annotations of GitHub's workflows.

Places in SARIF are relative to the directory in which the command ran. Columns count Unicode code points from 1, and
ends are exclusive, as ``columnKind`` says. The rules are the pages of the codes that occur.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from ordito import __version__
from ordito.base.diagnostics import Diagnostic, Severity
from ordito.base.span import Span
from ordito.results.pages import as_markdown, explanation, read_page

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BASE = "%SRCROOT%"


def sarif(found: Sequence[Diagnostic], *, exit_code: int) -> dict[str, Any]:
    """A SARIF log of one run with these findings and this exit code."""
    codes = sorted({diagnostic.code for diagnostic in found})
    index = {code: number for number, code in enumerate(codes)}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "Ordito",
                        "semanticVersion": __version__,
                        "rules": [_rule(code) for code in codes],
                    }
                },
                "invocations": [{"executionSuccessful": True, "exitCode": exit_code}],
                "originalUriBaseIds": {BASE: {"description": {"text": "the directory in which the command ran"}}},
                "columnKind": "unicodeCodePoints",
                "results": [_result(diagnostic, index[diagnostic.code]) for diagnostic in found],
            }
        ],
    }


def _rule(code: str) -> dict[str, Any]:
    page = read_page(code)
    if page is None:
        return {"id": code}
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in code.split("-")),
        "shortDescription": {"text": f"{page.title}."},
        "fullDescription": {"text": explanation(page.text, page.sections)},
        "help": {"text": page.mend.strip(), "markdown": "\n".join(as_markdown(page))},
        "defaultConfiguration": {"level": page.severity},
    }


def _result(found: Diagnostic, rule: int) -> dict[str, Any]:
    text = f"{found.message}\n{found.hint}" if found.hint else found.message
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": rule,
        "level": str(found.severity),
        "message": {"text": _unlinked(text)},
    }
    if found.span is not None:
        result["locations"] = [_location(found.span)]
    related = [(r.message, r.span) for r in found.related]
    if related:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": _unlinked(said)}, **_location(span)}
            for number, (said, span) in enumerate(related)
        ]
    return result


def _location(span: Span) -> dict[str, Any]:
    place = place_of_file(span.source.name)
    if not place.path or place.inside:
        # What lies in an archive or in this program has no place of its own: it is named, with its line.
        logical: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": str(span)}]}
        if place.path:
            logical["physicalLocation"] = {"artifactLocation": _artifact(place.uri)}
        return logical
    region = {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    return {"physicalLocation": {"artifactLocation": _artifact(place.uri), "region": region}}


def _artifact(uri: str) -> dict[str, str]:
    return {"uri": uri} if uri.startswith("file:") else {"uri": uri, "uriBaseId": BASE}


LINK = re.compile(r"\]\(")


def _unlinked(text: str) -> str:
    """A message whose brackets do not make a link."""
    return LINK.sub("] (", text)


def distinct(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings of several services without repetitions, because the services may share files."""
    seen: dict[tuple[object, ...], Diagnostic] = {}
    for diagnostic in found:
        seen.setdefault((diagnostic.severity, diagnostic.code, diagnostic.message, str(diagnostic.span)), diagnostic)
    return list(seen.values())


# Diagnostics as annotations of GitHub's workflows: one command a line, which the runner shows beside the code.

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def annotation_lines(found: Iterable[Diagnostic]) -> list[str]:
    """The annotations of GitHub for some findings."""
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


# Where the files lie that diagnostics speak of, as programs need to know it.

IN_ARCHIVE = re.compile(r"(?P<path>.*\.(?:csar|zip)):/?(?P<inside>.*)", re.DOTALL | re.IGNORECASE)
BUNDLED = "profile:"
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


class FilePlace(msgspec.Struct, frozen=True):
    """A file: its ``path``, relative to the current directory if it is below that ("" if it is not on this machine),
    and the file ``inside`` it if it is an archive."""

    path: str
    inside: str = ""

    @property
    def uri(self) -> str:
        """The path as a URI: relative, or with the scheme `file`."""
        path = quote(self.path.replace(os.sep, "/"), errors="surrogateescape")
        return f"file://{path}" if path.startswith("/") else path


def place_of_file(name: str) -> FilePlace:
    """The place of a file with this ``name`` in messages."""
    if name.startswith(BUNDLED) or SCHEME.match(name):
        return FilePlace("")
    match = IN_ARCHIVE.fullmatch(name)
    path, inside = (match["path"], match["inside"]) if match is not None else (name, "")
    here = Path.cwd()
    if Path(path).is_absolute() and Path(path).is_relative_to(here):
        path = str(Path(path).relative_to(here))
    return FilePlace(os.path.normpath(path), inside)
