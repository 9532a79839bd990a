"""What a plan does to each component, and to the whole: it is installed, upgraded or removed, or nothing happens."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.planning.draft import Draft
from ordito.planning.fates import Fate
from ordito.planning.members import PlannedInstance
from ordito.planning.options import Hooking
from ordito.work.hooks import MODULE, Transition
from ordito.work.plan import ChangeKind

INSTALL, UPGRADE, DELETE, NONE = Transition.INSTALL, Transition.UPGRADE, Transition.DELETE, Transition.NONE
STAY = frozenset({Fate.KEEP, Fate.LOOK})


def transitions(draft: Draft) -> Mapping[str, Transition]:
    """The transition of each component that has one, and of the module where any has; none where nothing changes.

    A component is a node template, all its instances together: it is installed where none of them was there before,
    removed where none stays, and upgraded where anything else happens to one of them.
    """
    hooking = draft.options.hooking
    if hooking.transition is NONE or hooking.which == "none":
        return {}
    found: dict[str, Transition] = {}
    for name, members in draft.of_node.items():
        transition = _of(members, hooking, is_forced=draft.options.force)
        if transition is not NONE:
            found[name] = transition
    if hooking.since:
        gone = _gone(draft, hooking.since)
        pruned = draft.options.pruned
        found |= {n: DELETE for n in gone if hooking.transition is DELETE or n in pruned}
    if not found:
        return {}
    if hooking.which == "all" and hooking.transition is not DELETE:
        found = {n: found.get(n, hooking.transition) for n, members in draft.of_node.items() if members}
    for name, stand_in in draft.service.substituted.items():
        inside = {found[node] for node in stand_in.nodes if node in found}
        if inside:
            found[name] = inside.pop() if len(inside) == 1 else UPGRADE
    return {**found, MODULE: hooking.transition}


def _gone(draft: Draft, since: str) -> set[str]:
    """The components that an earlier attempt has removed: steps that were to come after that may still be missing."""
    records = draft.snapshot.instances.values()
    gone = {r.node for r in records if not r.exists and r.last_config_change >= since and not draft.of_node.get(r.node)}
    return gone & draft.service.nodes.keys()


def _of(members: list[PlannedInstance], hooking: Hooking, *, is_forced: bool) -> Transition:
    staying = [member for member in members if not member.goes]
    if members and not staying:
        return DELETE
    if hooking.transition is DELETE or not staying:
        return NONE
    if hooking.transition is INSTALL or all(_is_new(member, hooking.since) for member in staying):
        return INSTALL
    changes = len(staying) < len(members) or any(_is_changed(m, hooking.since, is_forced=is_forced) for m in staying)
    return UPGRADE if changes else NONE


def _is_new(member: PlannedInstance, since: str) -> bool:
    """Whether an instance was not there before the first attempt at the revision."""
    return member.fate is Fate.NEW or not member.record.created or bool(since and member.record.created >= since)


def _is_changed(member: PlannedInstance, since: str, *, is_forced: bool) -> bool:
    """Whether an instance that stays is to be another, or became so in an earlier attempt at the revision. One that is
    only mended, or stopped for as long as what it requires is made anew, stays what it is; what is forced does not."""
    if since and member.record.last_config_change >= since:
        return True
    if member.fate in STAY or member.is_conditional:
        return member.kind is ChangeKind.RELINK
    return is_forced or bool(member.differences) or member.fate not in (Fate.RESTART, Fate.CONTINUE)
