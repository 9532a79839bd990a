"""SQL files cut into statements, as far as that is needed to run them one by one and to see what they must not hold."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

import ordito_block as block

_TRANSACTION = re.compile(r"(ABORT|BEGIN|COMMIT|END|PREPARE\s+TRANSACTION|ROLLBACK|START)\b", re.IGNORECASE)
_TRIGGER = re.compile(r"CREATE\s+(?:TEMP\s+|TEMPORARY\s+)?TRIGGER\b", re.IGNORECASE)
_ATOMIC = re.compile(r"\bBEGIN\s+ATOMIC\b", re.IGNORECASE)
_FROM_STDIN = re.compile(r"COPY\b.*\bFROM\s+STDIN\b", re.IGNORECASE | re.DOTALL)
_NO_TRANSACTION = re.compile(r"--\s*ordito:\s*no\s+transaction[ \t\r]*(?:\n|\Z)", re.IGNORECASE)

# A file is a sequence of these. What is quoted, or a comment, ends where the file does if nothing else ends it; then an
# empty group has matched, at the very end.
_GAP = r"(?P<gap>\s+|--[^\n]*|/\*(?:.*?\*/|.*\Z(?P<open>)))"
_COMMON = r"""'(?:[^']|'')*(?:'|\Z(?P<text>))|"(?:[^"]|"")*(?:"|\Z(?P<name>))|(?P<end>;)"""
_WORD = r"[A-Za-z_0-9]+"
_SQLITE = re.compile(rf"{_GAP}|{_COMMON}|`[^`]*`|\[[^\]\n]*\]|{_WORD}|.", re.DOTALL)
_POSTGRES = re.compile(
    rf"{_GAP}|[eE]'(?:[^'\\]|''|\\.)*(?:'|\Z(?P<escaped>))|{_COMMON}"
    r"|\$(?P<tag>[A-Za-z_][A-Za-z0-9_]*)?\$(?:.*?\$(?(tag)(?P=tag))\$|.*\Z(?P<dollars>))"
    rf"|(?P<backslash>\\)|[A-Za-z_0-9][A-Za-z_0-9$]*|.",
    re.DOTALL,
)
_OPEN = {"open": "the comment", "text": "the text", "name": "the name", "escaped": "the text", "dollars": "the text"}


@dataclass(frozen=True)
class Statement:
    """A statement with the line of the file in which it begins."""

    text: str
    line: int


def wants_no_transaction(sql: str) -> bool:
    """Whether the first line says that the file cannot run in a transaction."""
    return _NO_TRANSACTION.match(sql) is not None


def statements(name: str, sql: str, *, postgres: bool) -> list[Statement]:
    """The statements of a file. Raises ``Failed`` where it holds what a migration must not, or ends too early."""
    found = list(_cut(name, sql, postgres=postgres))
    for statement in found:
        if postgres and _FROM_STDIN.match(statement.text):
            raise block.Failed(f"{name}:{statement.line}: COPY FROM STDIN has no place here", "write it with INSERT")
    if wants_no_transaction(sql):
        return found
    is_atomic = any(_ATOMIC.search(statement.text) for statement in found)
    for statement in found:
        word = _TRANSACTION.match(statement.text)
        if word and not (is_atomic and word[0].upper() == "END"):
            raise block.Failed(
                f"{name}:{statement.line}: {word[0].upper()} has no place here: the file is one transaction already",
                "leave it out; or begin the file with the line: -- ordito: no transaction",
            )
    return found


def _cut(name: str, sql: str, *, postgres: bool) -> Iterator[Statement]:
    start, began, line = -1, 0, 1
    for token in (_POSTGRES if postgres else _SQLITE).finditer(sql):
        kind = "open" if token["open"] is not None else token.lastgroup or ""
        if kind in _OPEN:
            raise block.Failed(f"{name}:{line}: {_OPEN[kind]} that begins here has no end")
        if kind == "backslash":
            raise block.Failed(f"{name}:{line}: commands of psql have no place here", "write it as SQL")
        if start < 0 and kind not in ("gap", "end"):
            start, began = token.start(), line
        line += token[0].count("\n")
        if kind == "end" and start >= 0:
            text = sql[start : token.end()]
            if postgres or not _TRIGGER.match(text) or sqlite3.complete_statement(text):
                yield Statement(text, began)
                start = -1
    if start >= 0:
        yield Statement(sql[start:], began)
