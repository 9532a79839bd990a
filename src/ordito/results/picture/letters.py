"""States in columns: one letter each, so that those of ten thousand instances are a short text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ordito.instances import states, status

STATES: Mapping[str, str] = {
    states.INITIAL: "i",
    states.CREATING: "C",
    states.CREATED: "c",
    states.CONFIGURING: "F",
    states.CONFIGURED: "f",
    states.STARTING: "S",
    states.STARTED: "s",
    states.STOPPING: "T",
    states.DELETING: "D",
    states.DELETED: "d",
    states.ERROR: "x",
}
"""The letter of each node state: a capital one while an operation runs."""

STATUSES: Mapping[str, str] = {
    status.OK: "o",
    status.DEGRADED: "d",
    status.PENDING: "p",
    status.UNKNOWN: "u",
    status.ERROR: "e",
    status.ABSENT: "a",
}
"""The letter of each status."""

OTHER = "?"
"""The letter of any other word."""


def letters(words: Iterable[str], known: Mapping[str, str]) -> str:
    """The letters of words, one each."""
    return "".join(known.get(word, OTHER) for word in words)
