"""The operation sequence of a node template: the operations by which its instances are created, linked, unlinked and
removed, in order. It is made once per template (``operation_sequences.py``) and shared by all instances.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from ordito.instances.lifecycle import Side, Stage
from ordito.model.service import Relationship


class Where(StrEnum):
    """The Compute on which an operation runs: none, that of the instance, of its host, or of the peer."""

    ORCHESTRATOR = "orchestrator"
    OWN = "own"
    HOST = "host"
    FAR = "far"


class SequencedOperation(msgspec.Struct, frozen=True):
    """One operation of every instance of a node. ``key`` is its key in the record, ``name`` the rest of its steps' ids;
    ``relationship`` and ``side`` are given for operations that run once per relationship and near instance. With
    ``evidence`` it is called only if the record has one of these keys: what was never begun is not undone."""

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
    """One operation of every pair of a relationship; ``key`` is its key in the link's record."""

    call: int
    key: str
    stage: Stage | None
    where: Where
    side: Side


class Pairs(msgspec.Struct, frozen=True):
    """The operations of the pairs of one relationship at one place in the chain of the source: after so many of its
    entries. ``is_link`` says that they link pairs of what is up, or undo that; all others belong to the creation and
    removal of the source. ``evidence`` are keys in the source's record, each of which shows that its pairs were begun;
    if other operations ``begin_each`` pair, this shows nothing of pairs with what was created later."""

    relationship: Relationship
    entries: tuple[PairEntry, ...]
    place: int
    is_link: bool
    evidence: tuple[str, ...] = ()
    begin_each: bool = False


class Making(msgspec.Struct, frozen=True):
    """The operations that create an instance of a node and link it; ``start`` is the part for one that is only stopped,
    ``configure`` the part for one that is configured again before it is started. ``reached_by`` is the node whose link
    gives a host its address, "" for none: operations on the host come after that."""

    install: tuple[SequencedOperation, ...]
    link: tuple[Pairs, ...]
    start: tuple[SequencedOperation, ...]
    configure: tuple[SequencedOperation, ...]
    reached_by: str = ""


class RemovalSequence(msgspec.Struct, frozen=True):
    """The operations that unlink an instance of a node and remove it, in order; ``drop`` is the call for one that was
    never started, ``stop`` the part for one that is only stopped."""

    unlink: tuple[Pairs, ...]
    uninstall: tuple[SequencedOperation, ...]
    drop: int
    stop: tuple[SequencedOperation, ...]
