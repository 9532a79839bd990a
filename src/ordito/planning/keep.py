"""Transform: what undeploying leaves alone: what is protected, what this ensemble has not created, and everything that
either of them depends on."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from ordito.planning.draft import Chain, Draft, Fate, Member

PROTECTED = "protected"
UNMANAGED = "not created by this ensemble"


def keep(draft: Draft) -> None:
    """Keep members, and let the wanted numbers be those that are kept."""
    waiting = deque(_kept_for_itself(draft))
    while waiting:
        member, reason = waiting.popleft()
        if member.fate is Fate.KEEP:
            continue
        member.fate, member.reason = Fate.KEEP, reason
        member.up = Chain([draft.join(member.id, draft.why(reason))])
        member.up.steps = []
        draft.kept.append(member)
        draft.counts[member.template.name] += 1
        waiting.extend((other, f"{member.id} needs it and is kept") for other in _needed(draft, member))


def _kept_for_itself(draft: Draft) -> Iterator[tuple[Member, str]]:
    for member in draft.members.values():
        if reason := why_kept(draft, member):
            yield member, reason


def why_kept(draft: Draft, member: Member) -> str:
    """Why an instance is not removed, "" if it may be."""
    if member.template.settings.protected and not draft.options.include_protected:
        return PROTECTED
    return UNMANAGED if member.record.is_unmanaged and not draft.options.include_unmanaged else ""


def _needed(draft: Draft, member: Member) -> Iterator[Member]:
    """The instances that an instance depends on: its host, and those of what else it requires."""
    host = draft.members.get(member.record.host)
    if host is not None:
        yield host
    for relationship in member.template.requirements:
        if not relationship.is_hosting:
            yield from draft.of_node.get(relationship.target, ())
