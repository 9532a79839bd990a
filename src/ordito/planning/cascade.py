"""Transform: what goes with the instances that are made anew: what they host is so too, and what requires them is
stopped before and started after."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from ordito.planning.choose_moved import may_run
from ordito.planning.decide import differs_at_first
from ordito.planning.draft import Draft, Fate, Member
from ordito.work.plan import Kind

STAYS = frozenset({Fate.KEEP, Fate.UPDATE})


def cascade(draft: Draft) -> None:
    """Take down with what is made anew all that needs it. What requires a node of which other instances stay up goes on
    with those."""
    waiting = deque(m for m in draft.members.values() if m.fate is Fate.ANEW)
    if not waiting:
        return
    for member in waiting:
        member.kind = Kind.REPLACE
    staying = _staying(draft)
    seen: set[str] = set()
    hosted = _hosted(draft)
    while waiting:
        fallen = waiting.popleft()
        if fallen.fate is Fate.ANEW:
            waiting.extend(_made_anew(fallen, hosted))
        node = fallen.template
        if staying[node.name] or node.name in seen or node.settings.is_optional:
            continue
        seen.add(node.name)
        for member, reason in _requiring(draft, node.name):
            if member.fate in STAYS and may_run(draft, member):
                staying[member.template.name] -= member.fate is Fate.KEEP and member.is_up
                _fall(draft, member, reason)
            elif member.fate not in (Fate.RESTART, Fate.RECONFIGURE):
                continue
            waiting.append(member)


def _staying(draft: Draft) -> dict[str, int]:
    """How many instances of each node stay up all the time."""
    return {node: sum(m.fate in STAYS and m.is_up for m in members) for node, members in draft.of_node.items()}


def _hosted(draft: Draft) -> dict[str, list[Member]]:
    """What lies on each instance now."""
    found: dict[str, list[Member]] = {}
    for member in draft.members.values():
        if member.record.exists:
            at = member.record.host if member.was_on is None else member.was_on
            found.setdefault(at, []).append(member)
    return found


def _made_anew(host: Member, hosted: dict[str, list[Member]]) -> Iterator[Member]:
    for member in hosted.get(host.id, ()):
        if member.goes or member.fate in (Fate.ANEW, Fate.NEW):
            continue
        member.fate, member.kind = Fate.ANEW, Kind.REPLACE
        member.reason = f"its host {host.id} is made anew"
        member.adopted = {}
        yield member


def _fall(draft: Draft, member: Member, reason: str) -> None:
    """Have an instance stop before, and start after, what it requires is made anew. One that would be updated in place
    is configured instead, as it cannot be up in between."""
    if member.fate is Fate.UPDATE:
        member.fate = Fate.ANEW if differs_at_first(draft, member) else Fate.RECONFIGURE
        return
    member.fate, member.reason = Fate.RESTART, reason
    if member.kind in (Kind.UNCHANGED, Kind.ADOPT, Kind.RELINK):
        member.kind = Kind.RESTART


def _requiring(draft: Draft, node: str) -> Iterator[tuple[Member, str]]:
    """The instances that require a node."""
    for relationship in draft.service.incoming.get(node, ()):
        if not relationship.is_hosting:
            reason = f"it requires {node} ({relationship.requirement}), which is made anew"
            yield from ((member, reason) for member in draft.of_node.get(relationship.source, ()))
