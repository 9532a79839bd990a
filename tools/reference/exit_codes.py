"""The page about exit codes."""

from __future__ import annotations

from collections.abc import Iterator

from ordito.cli.manual import MEANINGS
from tools.reference.markdown import MADE, cell, joined, table

HEAD = f"""\
# Exit codes

Every command ends with one of these numbers, so that a script knows what has happened without reading what was
printed. Their meaning never changes. Which verb ends with which of them is said with each [command](commands.md).

{MADE}
"""

TAIL = """\
A command that was ended by a signal ends as the shell says it: 128 and the number of the signal, as for any program.
The job that it was at is not lost: `ordito jobs resume` continues it.

Next: [jobs](../jobs.md) says what follows a failure, [events](events.md) what a program can follow,
[commands](commands.md) what each verb takes.
"""


def document() -> str:
    """The whole page."""
    return joined(_lines())


def _lines() -> Iterator[str]:
    yield HEAD
    rows = [(str(int(code)), cell(meaning.when), cell(meaning.cure)) for code, meaning in MEANINGS.items()]
    yield from table(("code", "when", "what to do"), rows)
    yield TAIL
