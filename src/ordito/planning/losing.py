"""Whose data a plan loses: of the instances that keep any, those that it removes, if only to make them again."""

from __future__ import annotations

from collections.abc import Iterable

from ordito.planning.draft import Draft
from ordito.planning.fates import HALVES, Down
from ordito.planning.members import Member


def loses_data(member: Member) -> bool:
    """Whether what becomes of an instance loses data. One that was never begun has none, nor one that is gone."""
    return HALVES[member.fate].down is Down.REMOVE and holds_data(member)


def holds_data(member: Member) -> bool:
    """Whether an instance holds data that are lost when it is removed."""
    record = member.record
    return member.template.keeps_data and record.exists and bool(record.created or record.applied or record.failed)


def at_stake(draft: Draft, members: Iterable[Member]) -> list[Member]:
    """Those of some instances whose data are lost when they are removed, and of which nobody has said that they may
    be."""
    may = draft.options.may_lose
    return [m for m in members if holds_data(m) and may.isdisjoint((m.id, m.template.name))]
