"""Guesses where a bracket or quote that was never closed should be closed.

Reading goes on after that place, so that one forgotten bracket does not hide all other faults of the document. The
guess follows the indentation: lines that belong to a line are indented deeper.
"""

from __future__ import annotations

import re

import msgspec
import yaml

CLOSERS = {"[": "]", "{": "}"}
BEGIN = re.compile(r" *(?:- +)*")
"""What comes before the first word of a line: its siblings begin in the same column, or further left."""
TOKEN = re.compile(r"""(?<=[\[{,:?\s-])"(?:\\.|[^"\\])*"|(?<=[\[{,:?\s-])'(?:''|[^'])*'|(?<=\s)\#.*|[\[\]{}]""")
"""What matters inside brackets: quoted texts, comments, and further brackets."""


class Repair(msgspec.Struct, frozen=True):
    """What to insert and where; ``line`` and ``column`` count from 0."""

    line: int
    column: int
    text: str

    def apply(self, lines: list[str]) -> list[str]:
        """The lines of the repaired text, with their ends."""
        whole = lines[self.line]
        return [*lines[: self.line], whole[: self.column] + self.text + whole[self.column :], *lines[self.line + 1 :]]


def find_repair(lines: list[str], error: yaml.MarkedYAMLError) -> Repair | None:
    """The repair for an error of libyaml in a text of these lines (with their ends), None where there is none."""
    begin, problem = error.context_mark, error.problem_mark
    if begin is None or problem is None or begin.line >= len(lines):
        return None
    opener = lines[begin.line][begin.column : begin.column + 1]
    last = _last_line(lines, begin.line)
    if opener in {'"', "'"} and "unexpected end of stream" in str(error.problem):
        return Repair(last, len(lines[last].rstrip()), opener)
    if opener in CLOSERS and "while parsing a flow" in str(error.context):
        return _bracket(lines, begin.line, begin.column, last)
    return None


def _last_line(lines: list[str], first: int) -> int:
    """The last line that belongs to what begins on a line."""
    begin = BEGIN.match(lines[first])
    indentation = begin.end() if begin is not None else 0
    last = first
    for number in range(first + 1, len(lines)):
        if not lines[number].strip():
            continue
        if _indentation(lines[number]) <= indentation:
            break
        last = number
    return last


def _bracket(lines: list[str], first: int, column: int, last: int) -> Repair | None:
    """Where the bracket at a place should be closed: before a closing one of the other kind, else at the end of what
    belongs to its line. None where it is closed: then something else is missing."""
    text = "".join(lines[first : last + 1])
    expected: list[str] = []
    end = len(text)
    for token in TOKEN.finditer(text, column):
        found = token[0]
        if found in CLOSERS:
            expected.append(CLOSERS[found])
        elif found in {"]", "}"}:
            if expected[-1] != found:
                return _repair(text, token.start(), first, expected[-1])
            expected.pop()
            if not expected:
                return None
        elif found.startswith("#") and not text[token.end() :].strip():
            end = token.start()
    return _repair(text, len(text[:end].rstrip()), first, expected[0]) if len(expected) == 1 else None


def _repair(text: str, position: int, first: int, closer: str) -> Repair:
    before = (text[:position] + ".").splitlines()
    return Repair(first + len(before) - 1, len(before[-1]) - 1, closer)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
