"""Transform: which instances are removed and made again: everything on the host of what is asked for, and that host."""

from __future__ import annotations

from collections import deque

from ordito.planning.draft import Draft
from ordito.planning.fates import Fate
from ordito.planning.keep import why_kept
from ordito.planning.members import Member

TO_HEAL = "it is to be healed"
"""Why what is asked for is made anew; more may follow."""

SHARES = "it shares a host with"
"""How the reason begins why something else is made anew."""


def choose_anew(draft: Draft) -> None:
    """The contained subgraph of what is asked for is made anew: the nearest Compute up its hosts, else the instance
    itself, and all that these contain, save what is protected and what this ensemble has not created. Ids, slots and
    hosts stay, and so does everything else. What is gone already,
    with its host or by itself, is only made."""
    chosen = draft.options.instances or frozenset()
    hosted: dict[str, list[Member]] = {}
    absent: dict[str, Member] = {}
    for node in draft.ordered:
        for record in draft.snapshot.records_of(node.name):
            member = Member(record, node, Fate.KEEP, "")
            if record.exists:
                draft.put(member)
            elif record.is_missed or record.id in chosen:
                absent[record.id] = member
            else:
                continue
            hosted.setdefault(record.host, []).append(member)
        draft.of_node.setdefault(node.name, []).sort(key=lambda m: m.record.index)
    for name in sorted(chosen):
        _anew(draft, _outermost(draft, name, absent), name, hosted)
    for member in absent.values():
        if member.fate is Fate.ANEW:
            draft.put(member)
            draft.of_node[member.template.name].sort(key=lambda m: m.record.index)


def _outermost(draft: Draft, name: str, absent: dict[str, Member]) -> Member:
    """The nearest Compute up the hosts of an instance, else the instance itself."""
    asked = current = draft.members.get(name) or absent[name]
    while not current.template.is_compute:
        host = draft.members.get(current.record.host) or absent.get(current.record.host)
        if host is None:
            return asked
        current = host
    return current


def _anew(draft: Draft, outermost: Member, asked: str, hosted: dict[str, list[Member]]) -> None:
    waiting = deque([outermost])
    while waiting:
        member = waiting.popleft()
        waiting.extend(hosted.get(member.id, ()))
        if member.fate is Fate.ANEW:
            continue
        if reason := why_kept(draft, member):
            member.reason = reason
            draft.kept.append(member)
            continue
        member.fate = Fate.ANEW
        member.reason = TO_HEAL if member.id == asked else f"{SHARES} {asked}"
        host = draft.members.get(member.record.host)
        member.is_lost = not member.record.exists or (bool(member.record.host) and (host is None or host.is_lost))
