"""Turns errors of libyaml into messages that say what to do."""

from __future__ import annotations

import re

import yaml

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import SourceText, Span
from ordito.source.repair import Repair

CODE = "yaml-syntax"
KINDS = {"[": "list", "{": "map", '"': "quoted text", "'": "quoted text"}
CLOSERS = {"[": "]", "{": "}", '"': '"', "'": "'"}
UNPRINTABLE = re.compile("[^\x09\x0a\x0d\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
NO_KEY = "could not find expected ':'"
EXPLAINED = (
    (
        "mapping values are not allowed",
        "a key cannot stand here",
        "quote the text if the colon belongs to it, or check the indentation and the colon of the line above",
    ),
    (NO_KEY, "this line is not a key", "write a colon and a space after the key"),
    (
        "did not find expected key",
        "this does not continue the lines above it",
        "check the indentation of this line, and the quotes and brackets before this place",
    ),
    (
        "did not find expected '-' indicator",
        "an entry of the list begins with a dash",
        "write a dash, or check the indentation of this line",
    ),
    (
        "cannot start any token",
        "a plain text cannot begin with this character",
        "put the text into quotes",
    ),
    (
        "block sequence entries are not allowed",
        "a list cannot begin on the line of its key",
        "begin the list on a line of its own, or write [ ... ]",
    ),
    (
        "did not find expected ',' or",
        "a comma is missing before this place",
        "separate the entries with commas",
    ),
    ("did not find expected node content", "a value is missing at this place", "give one, or remove what asks for it"),
    ("found undefined tag handle", "this tag has no meaning here", "remove it: TOSCA uses no YAML tags"),
    ("unknown escape character", "there is no such escape", "double the backslash, or use single quotes"),
)


def report_syntax(
    error: yaml.MarkedYAMLError, source: SourceText, repair: Repair | None, diagnostics: Diagnostics
) -> None:
    """Report an error of the scanner or parser; ``repair`` says what is not closed, and where it should be."""
    opened = error.context_mark
    if repair is not None and opened is not None:
        begin = _at(source, opened.line, opened.column)
        opener = next(o for o, c in CLOSERS.items() if c == repair.text)
        line = repair.line + 1
        column = min(repair.column, len(source.line(line))) + 1  # what was closed before may stand in this line, too
        diagnostics.error(
            CODE,
            f"the {KINDS[opener]} that begins in line {begin.line} is not closed",
            Span(source, line, column, line, column + 1),
            hint=f"write {repair.text} here",
            related=(Related(f"the {opener} is here", begin),),
        )
        return
    mark = error.problem_mark or opened
    if opened is not None and NO_KEY in str(error.problem):
        mark = opened  # libyaml notices only behind the line that should have been a key
    span = _at(source, mark.line, mark.column) if mark else Span(source, 1, 1, 1, 2)
    problem, hint = _explained(str(error.problem or error.context or "not valid YAML"), source.line(span.line), span)
    related: tuple[Related, ...] = ()
    if opened is not None and error.problem_mark is not None:
        begin = _at(source, opened.line, opened.column)
        if (begin.line, begin.column) != (span.line, span.column):
            related = (Related(error.context or "it begins here", begin),)
    diagnostics.error(CODE, problem, span, hint=hint, related=related)


def report_character(error: yaml.reader.ReaderError, source: SourceText, diagnostics: Diagnostics) -> None:
    """Report a character that YAML forbids."""
    match = UNPRINTABLE.search(source.text)
    position = match.start() if match else 0
    shown = f"U+{ord(source.text[position]):04X}" if match else str(error.reason)
    diagnostics.error(
        CODE,
        f"the character {shown} is not allowed in YAML",
        source.span_at(position),
        hint="save the file as UTF-8" if shown == "U+0000" else "remove it, or write it as an escape in double quotes",
    )


def _explained(problem: str, line: str, span: Span) -> tuple[str, str]:
    """The problem in words that say what to do; libyaml's own where it is a rare one."""
    if re.match(r" *\t", line):
        return "there is a tab where YAML allows only spaces", "indent with spaces"
    if line[span.column - 1 : span.column] in {"]", "}"}:
        return "this bracket closes nothing", "remove it, or open it before this place"
    return next(((said, hint) for part, said, hint in EXPLAINED if part in problem), (problem, ""))


def _at(source: SourceText, line: int, column: int) -> Span:
    """The span of one character; behind the end of the text, of its last character that is not blank."""
    number = min(line + 1, max(len(source.lines), 1))
    column = min(column, len(source.line(number)))
    if number <= line:
        column = len(source.line(number))
    while number > 1 and not source.line(number).strip():
        number -= 1
        column = len(source.line(number))
    return Span(source, number, column + 1, number, column + 2)
