"""What the server and its fork server say to each other, one message a datagram.

The parameters of a query and its answer may be large, so they go by descriptors that are handed over with the message:
a file in memory to read from, and a pipe to write to.
"""

from __future__ import annotations

import msgspec

from ordito.results.failure import Failure
from ordito.results.findings import FindingData

LONGEST = 1 << 16
"""The longest message, in bytes."""


class Query(msgspec.Struct, frozen=True, tag="query"):
    """Ask a look (``results/looks.py``) of the ensemble in a directory. Two descriptors come with it: the parameters as
    JSON, and where the answer goes."""

    number: int
    look: str
    directory: str
    seconds: float
    """How long it may take."""

    memory: int
    """Its address space, in bytes."""

    places: tuple[str, ...]
    """What it may read: files, and folders with all that is in them."""

    variables: tuple[str, ...]
    """The environment variables that documents may read."""

    hosts: tuple[str, ...]
    """The hosts from which it may fetch."""


class Kill(msgspec.Struct, frozen=True, tag="kill"):
    """End a query whose answer nobody wants any more."""

    number: int


Request = Query | Kill


class Ended(msgspec.Struct, frozen=True, tag="ended"):
    """A child has ended: with an exit code, or by a signal, then negative."""

    number: int
    status: int


class Trouble(msgspec.Struct, frozen=True):
    """An answer that is none: why there is no result, with findings about documents."""

    failure: Failure
    diagnostics: tuple[FindingData, ...] = ()


RESULT, REFUSAL, FAULT = b"r", b"t", b"f"
"""The first byte of an answer: a result follows, or a ``Trouble``, or the text of a fault of this program."""
