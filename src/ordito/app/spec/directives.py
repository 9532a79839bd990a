"""The keys that merge: `+[?][FILE][/PATH]` brings in what stands elsewhere, `+%` says how a map is merged.

A key in quotes is never one of them.
"""

from __future__ import annotations

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.source.nodes import Mapping, Node, Scalar, is_null

STRATEGIES = ("merge", "replace", "whiteout", "nullout", "error")
STRATEGY = "+%"
FILES = (".yaml", ".yml", ".json")
"""How names of files end in a directive: so it is clear where the path in the file begins."""

AS_IT_IS = "a key that is meant as it stands is written in quotes"


class Directive(msgspec.Struct, frozen=True):
    """One directive: the file it names, "" for the one that it stands in; the path of keys in that; whether what it
    names ``may_miss``; and its key."""

    file: str
    path: tuple[str, ...]
    may_miss: bool
    key: Scalar


def is_directive(key: Scalar) -> bool:
    """Whether a key of a map belongs to merging."""
    return key.plain and key.text.startswith("+")


def has_directives(root: Node) -> bool:
    """Whether there is anything to merge in a document."""
    waiting: list[Node] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            if any(is_directive(key) for key in node.keys):
                return True
            waiting.extend(node.values.values())
        elif not isinstance(node, Scalar):
            waiting.extend(node.items)
    return False


def directives_of(node: Mapping, diagnostics: Diagnostics) -> list[Directive]:
    """The directives of a map, in written order; what is none is reported."""
    found = []
    for key, value in node.entries():
        if is_directive(key) and key.text != STRATEGY:
            directive = _directive(key, diagnostics)
            if directive is not None and not is_null(value):
                diagnostics.error(
                    "bad-merge",
                    f'"{key.text}" takes no value: what is your own stands beside it',
                    value.span,
                    hint="leave it empty",
                )
            elif directive is not None:
                found.append(directive)
    return found


def strategy_of(node: Node, diagnostics: Diagnostics) -> str:
    """How a map says that it is merged, "" where it says nothing."""
    said = node.values.get(STRATEGY) if isinstance(node, Mapping) else None
    if said is None or not isinstance(node, Mapping) or not node.key(STRATEGY).plain:
        return ""
    text = said.text if isinstance(said, Scalar) else ""
    if text not in STRATEGIES:
        diagnostics.unknown("bad-merge", "way to merge", text, said.span, STRATEGIES)
        return ""
    return text


def _directive(key: Scalar, diagnostics: Diagnostics) -> Directive | None:
    text = key.text[1:]
    may_miss = text.startswith("?")
    parts = text.removeprefix("?").split("/")
    end = next((i for i, part in enumerate(parts) if part.endswith(FILES) and part not in FILES), None)
    if end is None and (parts[0] or len(parts) == 1):
        diagnostics.error(
            "bad-merge",
            f'"{key.text}" names neither a file (its name ends with {", ".join(FILES)}) nor a path that begins with /',
            key.span,
            hint=AS_IT_IS,
        )
        return None
    file = "/".join(parts[: end + 1]) if end is not None else ""
    path = parts[end + 1 :] if end is not None else parts[1:]
    # As in a JSON pointer (RFC 6901).
    steps = tuple(part.replace("~1", "/").replace("~0", "~") for part in path if part)
    return Directive(file, steps, may_miss, key)
