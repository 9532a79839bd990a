"""Values as texts, in one fixed encoding: for environment variables and for texts that functions join."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ordito.base.sensitive import SHOWN, Sensitive, shown


def as_text(value: object) -> str:
    """The text of a value: texts as they are, ``true`` and ``false``, numbers in their shortest form, lists and maps
    as compact JSON, sensitive values as ``(sensitive)``."""
    if isinstance(value, str):
        return value
    if isinstance(value, Sensitive):
        return SHOWN
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return msgspec.json.encode(shown(value)).decode()


def is_plain(value: object) -> bool:
    """Whether a value is a text, a number or a truth value: what may stand inside another text."""
    return isinstance(value, str | bool | int | float)


def shell_name(name: str) -> str:
    """A name in which ``_`` replaces every character that a shell does not allow in the name of a variable."""
    safe = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name)
    return f"_{safe}" if safe[:1].isdigit() or not safe else safe


# Lists of names for people: of very many only the first; ids that follow each other as a range.


def listed(names: Iterable[str], most: int = 12, *, between: str = ", ") -> str:
    """Names in one line; of more than ``most`` the first ones, and how many more there are."""
    every = list(names)
    comma = " " if between == ", " else between
    more = f"{comma}and {len(every) - most} more" if len(every) > most else ""
    return between.join(every[:most]) + more


FEW = 4
"""How many parts ``spans`` shows at most."""


def spans(ids: Sequence[str]) -> str:
    """The ids of instances of one node in one line, in the order of their numbers: three or more consecutive ones as
    the first and the last, and how many there are in all where not all are written."""
    runs: list[list[str]] = []
    last = 0
    for number, name in sorted((int(name.rpartition("_")[2]), name) for name in ids):
        if runs and number == last + 1:
            runs[-1].append(name)
        else:
            runs.append([name])
        last = number
    parts = [p for run in runs for p in ([f"{run[0]} .. {run[-1]}"] if len(run) > 2 else run)]
    shown = ", ".join(parts[:FEW]) + (" ..." if len(parts) > FEW else "")
    return shown if len(parts) == len(ids) <= FEW else f"{shown} ({len(ids)})"
