"""The page about settings in metadata, made of the one table that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ordito.authoring.explain_words import WORDS
from ordito.model.sensitivity import SENSITIVE
from ordito.model.settings import ELSEWHERE, KNOWN, PREFIX, Kind
from tools.reference.markdown import MADE, cell, code, joined, table

HEAD = f"""\
# Settings in metadata

Metadata change nothing in TOSCA (§3.6.2), with one exception: entries that begin with `{PREFIX}` say to Ordito how a
node is to be treated. `ordito explain ordito.protected` explains one, and a name that does not exist is an error with a
suggestion.

{MADE}

## Of nodes

They stand in the metadata of a node template or of a node type. Those of a template win over those of its type, those
of a type over what it derives from, and all of them over options of the command.
"""
OPERATIONS = """\
## Of single operations

These hold for one operation of the node, or of a relationship whose operation runs in the chain of the node's
instances.
"""
OTHERS = """\
## In other places
"""
TAIL = """\
Next: [writing service templates](../templates.md), [types of Ordito](profile-ordito.md), [commands](commands.md).
"""


def document() -> str:
    """The whole page."""
    return joined(_lines())


def _lines() -> Iterator[str]:
    yield HEAD
    yield from _table({f"{PREFIX}{name}": kind for name, kind in KNOWN.items()})
    yield OPERATIONS
    of_operations = {n: k for n, k in KNOWN.items() if k.of_operations}
    yield from _table({f"{PREFIX}<interface>.<operation>.{name}": kind for name, kind in of_operations.items()})
    yield OTHERS
    rows = [(code(name), cell(kind.value), cell(kind.meaning)) for name, kind in ELSEWHERE.items()]
    rows.append((code(SENSITIVE), "true or false", cell(WORDS[SENSITIVE][1])))
    yield from table(("setting", "value", "meaning"), rows)
    yield TAIL


def _table(known: Mapping[str, Kind]) -> Iterator[str]:
    rows = [(code(name), cell(kind.value), cell(kind.meaning)) for name, kind in known.items()]
    yield from table(("setting", "value", "meaning"), rows)
