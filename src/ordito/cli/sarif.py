"""Diagnostics as SARIF 2.1.0, the format in which programs hand each other what they have found in files.

Places are relative to the directory in which the command ran. Columns count Unicode code points from 1, ends are
exclusive, which is what ``columnKind`` says. The rules are the pages of the codes that occur.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ordito import __version__
from ordito.base.diagnostics import Diagnostic
from ordito.base.span import Span
from ordito.cli.pages import as_markdown, explanation, read_page
from ordito.cli.places import place_of_file

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BASE = "%SRCROOT%"


def sarif(found: Sequence[Diagnostic], *, exit_code: int) -> dict[str, Any]:
    """A SARIF log of one run that found this and ended with an exit code."""
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
        "fullDescription": {"text": explanation(page)},
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
    """A message in which brackets make no link."""
    return LINK.sub("] (", text)


def distinct(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Findings of several services, each once: they may share files."""
    seen: dict[tuple[object, ...], Diagnostic] = {}
    for diagnostic in found:
        seen.setdefault((diagnostic.severity, diagnostic.code, diagnostic.message, str(diagnostic.span)), diagnostic)
    return list(seen.values())
