"""A sequence: the operations by which instances of one node template are made, linked, unlinked and removed, in order.

It is made once per template (``operation_sequences.py``) and shared by all its instances.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from ordito.instances.lifecycle import Side, Stage
from ordito.model.service import Relationship


class Where(StrEnum):
    """On whose Compute an operation runs: none at all, that of the instance itself, of its host, of the peer."""

    ORCHESTRATOR = "orchestrator"
    OWN = "own"
    HOST = "host"
    FAR = "far"


class SequencedOperation(msgspec.Struct, frozen=True):
    """One operation of every instance of a node. ``key`` is what the record remembers it by, ``name`` the rest of its
    steps' ids; ``relationship`` and ``side`` are given for operations once per (relationship, near instance). Where
    there is ``evidence`` it is called only if the record has one of these keys: what was never begun is not undone."""

    call: int
    key: str
    name: str
    stage: Stage | None
    where: Where
    delegated: bool = False
    relationship: Relationship | None = None
    side: Side = Side.NODE
    evidence: tuple[str, ...] = ()


class PairEntry(msgspec.Struct, frozen=True):
    """One operation of every pair of a relationship; ``key`` is what the link's record remembers it by."""

    call: int
    key: str
    stage: Stage | None
    where: Where
    side: Side


class Pairs(msgspec.Struct, frozen=True):
    """The operations of the pairs of one relationship at one place in the chain of the source: after so many of its
    entries. ``is_link`` says that they link pairs of what is up, or undo that; all others belong to the source's being
    made and removed alone. ``evidence`` are keys in the source's record, each of which shows that its pairs were
    begun; where other operations ``begin_each`` pair, it shows nothing of pairs with what was made later."""

    relationship: Relationship
    entries: tuple[PairEntry, ...]
    place: int
    is_link: bool
    evidence: tuple[str, ...] = ()
    begin_each: bool = False


class Making(msgspec.Struct, frozen=True):
    """What is done to make an instance of a node, and to link it; ``start`` is what of it is done with one that is only
    stopped, ``configure`` with one that is configured again before it is started. ``reached_by`` is the node by
    the link with which a host gets its address, "" for none: what is done on it comes after that."""

    install: tuple[SequencedOperation, ...]
    link: tuple[Pairs, ...]
    start: tuple[SequencedOperation, ...]
    configure: tuple[SequencedOperation, ...]
    reached_by: str = ""


class Removing(msgspec.Struct, frozen=True):
    """What is done to unlink an instance of a node, in the order of removal, and to remove it; ``drop`` is the call
    that stands for the removal of one that was never started, ``stop`` what is done to one that is only stopped."""

    unlink: tuple[Pairs, ...]
    uninstall: tuple[SequencedOperation, ...]
    drop: int
    stop: tuple[SequencedOperation, ...]
