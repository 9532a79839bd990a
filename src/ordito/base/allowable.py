"""Findings with which an author may choose to go on, for documents that come from elsewhere: errors that are warnings
where they are allowed, by ``--allow CODE`` or by ``ordito.allow`` in the metadata of a service."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ordito.base.suggest import nearest

SETTING = "ordito.allow"
"""What in the metadata of a service names the codes, with commas or spaces between them."""

ALLOWABLE: Mapping[str, str] = {
    "wrong-source": "the relationship is made all the same",
    "wrong-member": "the node is a member all the same",
    "number-for-text": "the number is given as a text",
    "unused-artifact": "nothing is there where the artifact is looked for",
}
"""By code, what happens where going on is allowed. With others going on is not safe: nobody knows what is meant."""

EVERY = frozenset(ALLOWABLE)


def codes_in(text: str) -> tuple[str, ...]:
    """The codes in a text of them."""
    return tuple(filter(None, re.split(r"[,\s]+", text)))


def not_allowable(codes: Iterable[str]) -> str:
    """Why codes cannot be allowed, with those that can; "" where all of them can."""
    wrong = [code for code in codes if code not in ALLOWABLE]
    if not wrong:
        return ""
    near = nearest(wrong[0], ALLOWABLE)
    meant = f'did you mean "{near[0]}"? ' if near else ""
    return f'"{wrong[0]}" cannot be allowed; {meant}these can: {", ".join(ALLOWABLE)}'
