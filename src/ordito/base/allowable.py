"""Errors that an author may choose to allow, for documents that come from elsewhere: they become warnings by
``--allow CODE``, or by ``ordito.allow`` in the metadata of a service."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ordito.base.suggest import nearest

SETTING = "ordito.allow"
"""The key in the metadata of a service whose value lists the codes, separated by commas or spaces."""

ALLOWABLE: Mapping[str, str] = {
    "wrong-source": "the relationship is made nevertheless",
    "wrong-member": "the node is a member nevertheless",
    "number-for-text": "the number is given as a text",
    "unused-artifact": "no artifact is found where it is looked for",
}
"""By code, what happens where the error is allowed. Others cannot be allowed: it is unknown what the author means."""

EVERY = frozenset(ALLOWABLE)


def codes_in(text: str) -> tuple[str, ...]:
    """The codes in a text, which separates them by commas or spaces."""
    return tuple(filter(None, re.split(r"[,\s]+", text)))


def not_allowable(codes: Iterable[str]) -> str:
    """Why codes cannot be allowed, with those that can; "" where all of them can."""
    wrong = [code for code in codes if code not in ALLOWABLE]
    if not wrong:
        return ""
    near = nearest(wrong[0], ALLOWABLE)
    meant = f'did you mean "{near[0]}"? ' if near else ""
    return f'"{wrong[0]}" cannot be allowed; {meant}these can: {", ".join(ALLOWABLE)}'
