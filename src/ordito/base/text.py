"""Values as texts: one fixed encoding, for environment variables and for the texts that functions put together."""

from __future__ import annotations

import msgspec

from ordito.base.sensitive import SHOWN, Sensitive, shown


def as_text(value: object) -> str:
    """The text of a value: texts as they are, ``true`` and ``false``, numbers in their shortest form, lists and maps
    as compact JSON. Of a sensitive value only that it is one."""
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
    """A name with everything replaced by ``_`` that no shell takes in a variable's name."""
    safe = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name)
    return f"_{safe}" if safe[:1].isdigit() or not safe else safe
