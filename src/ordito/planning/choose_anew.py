"""Transform: which instances are removed and made again: everything on the host of what is asked for, and that host."""

from __future__ import annotations

from collections import deque

from ordito.instances.records import Instance
from ordito.instances.states import INITIAL
from ordito.instances.status import PENDING
from ordito.model.service import NodeTemplate
from ordito.planning.draft import Draft, Fate, Member


def choose_anew(draft: Draft) -> None:
    """The contained subgraph of what is asked for is made anew, ids, slots and hosts stay; all others stay."""
    chosen = draft.options.instances or frozenset()
    for node in draft.ordered:
        for record in draft.snapshot.records_of(node.name):
            if record.exists:
                draft.put(Member(record, node, Fate.KEEP, ""))
            elif record.id in chosen:
                draft.put(_absent(draft, record, node))
        draft.of_node.setdefault(node.name, []).sort(key=lambda m: m.record.index)
    for name in sorted(chosen):
        _anew(draft, draft.members[_outermost(draft, name)], name)


def _absent(draft: Draft, record: Instance, node: NodeTemplate) -> Member:
    """What is gone is made under its id, in its slot if that is free still."""
    taken = {i.index for i in draft.snapshot.of_node(node.name)}
    index = record.index if record.index not in taken else next(n for n in range(len(taken) + 1) if n not in taken)
    again = Instance(id=record.id, node=node.name, index=index, host=record.host, state=INITIAL, local=PENDING)
    draft.created.append(again)
    return Member(again, node, Fate.NEW, "it is absent")


def _outermost(draft: Draft, name: str) -> str:
    """The nearest Compute up the hosts of an instance, else the instance itself."""
    return draft.compute_of(name) or name


def _anew(draft: Draft, outermost: Member, asked: str) -> None:
    waiting = deque([outermost])
    while waiting:
        member = waiting.popleft()
        if member.fate is Fate.KEEP:
            member.fate = Fate.ANEW
            member.reason = "it is to be healed" if member.id == asked else f"it shares a host with {asked}"
        waiting.extend(draft.members[i] for i in draft.snapshot.hosted_on(member.id))
