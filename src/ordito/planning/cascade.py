"""Transform: what goes with the instances that are replaced: what they host is so too, and what requires them is
stopped before and started after.

Instances of a node may be changed some at a time. Then what requires the node goes on with the others, and is only
linked again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from ordito.base.portion import Portion
from ordito.instances.records import number_of
from ordito.model.service import NodeTemplate, Relationship
from ordito.planning.choose_moved import may_run
from ordito.planning.decide import differs_at_first
from ordito.planning.draft import Draft
from ordito.planning.members import CHANGED, Fate, PlannedInstance
from ordito.planning.waits import incoming
from ordito.work.plan import ChangeKind

USUAL = Portion(25, is_percentage=True)
"""How many instances of a node are changed at one time where nobody says it: one of up to seven."""

STAYS = frozenset({Fate.KEEP, Fate.UPDATE})

DONE = {
    Fate.ANEW: "which is replaced",
    Fate.LEAVE: "of which instances are removed",
    Fate.RECONFIGURE: "which is configured again",
    Fate.RESTART: "which is restarted",
}
"""What is said of what others require, by what becomes of it."""


def cascade(draft: Draft) -> None:
    """Take down with what is replaced all that needs it."""
    if not any(m.fate in CHANGED for m in draft.members.values()):
        return
    for node in draft.ordered:
        _take_turns(draft, node)
    anew = [m for m in draft.members.values() if m.fate is Fate.ANEW]
    if anew:
        _Cascade(draft).take_down(anew)


def _take_turns(draft: Draft, node: NodeTemplate) -> None:
    """Have the instances of a node that are changed take turns, so that no more are down at one time than may be. Those
    that are not up begin, what is only continued among them: they are down already."""
    options = draft.options
    members = draft.of_node.get(node.name, [])
    if options.turns.never or len(members) < 2:
        return
    portion = options.unavailable(node)
    is_usual = not portion.amount
    if is_usual and not (options.turns.by_itself and any(m.was_up and m.falls for m in members)):
        return
    most = (USUAL if is_usual else portion).of(sum(m.fate is not Fate.NEW for m in members))
    taking = [m for m in members if m.fate in CHANGED or m.is_down_already]
    taking.sort(key=lambda m: (m.was_up, number_of(m.id)))
    first = max(most, sum(not m.was_up for m in taking))
    for place, member in enumerate(taking):
        member.turn = max(0, (place - first) // most + 1)
    draft.rolls |= is_usual and any(m.turn for m in taking)


class _Cascade:
    """What falls with what, node by node."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._down: set[str] = set()
        self._hosted: dict[str, list[PlannedInstance]] = {}
        for member in draft.members.values():
            at = member.on(falls=True)
            if at and member.record.exists:
                self._hosted.setdefault(at, []).append(member)

    def take_down(self, anew: list[PlannedInstance]) -> None:
        """Go on from what is replaced to all that requires it."""
        waiting = deque(self._with_hosted(anew))
        while waiting:
            node = waiting.popleft()
            if node in self._down or self._stays_up(node):
                continue
            self._down.add(node)
            for _, relationship in incoming(self._draft, node):
                if not relationship.is_hosting:
                    waiting.extend(self._with_hosted(self._fallen(relationship)))
                    waiting.append(relationship.source)

    def _stays_up(self, node: str) -> bool:
        """Whether what requires a node can do: instances of it stay up, if only while others are changed."""
        members = self._draft.of_node.get(node, [])
        if not any(m.falls for m in members) or self._draft.service.nodes[node].settings.is_optional:
            return True
        falling = [m for m in members if m.fate in CHANGED and (m.fate is Fate.ANEW or m.is_nested)]
        return not falling or any(m.fate in STAYS and m.is_up for m in members) or len({m.turn for m in falling}) > 1

    def _with_hosted(self, members: Iterable[PlannedInstance]) -> dict[str, None]:
        """Make again what lies on instances that are; gives the nodes of all of them."""
        found: dict[str, None] = {}
        waiting = deque(members)
        while waiting:
            host = waiting.popleft()
            found[host.template.name] = None
            if host.fate is not Fate.ANEW:
                continue
            host.kind = ChangeKind.REPLACE
            for member in self._hosted.get(host.id, ()):
                if member.goes or member.fate is Fate.NEW or (member.is_nested and member.fate is Fate.ANEW):
                    continue
                if member.fate is not Fate.ANEW:
                    member.reason = f"its host {host.id} is replaced"
                member.fate, member.kind, member.adopted = Fate.ANEW, ChangeKind.REPLACE, {}
                member.is_nested, member.turn = True, host.turn
                waiting.append(member)
        return found

    def _fallen(self, relationship: Relationship) -> Iterator[PlannedInstance]:
        """Take down the instances that require a node; gives those that are replaced by that."""
        what = f"it requires {relationship.target} ({relationship.requirement}), {self._done_to(relationship.target)}"
        for member in self._draft.of_node.get(relationship.source, ()):
            if member.fate in STAYS and may_run(self._draft, member):
                self._fall(member, what)
            if member.fate in CHANGED and member.falls:
                member.is_nested, member.turn = True, 0
            if member.fate is Fate.ANEW:
                yield member

    def _done_to(self, node: str) -> str:
        """What is done to the instances of a node that fall: the most that is done to any."""
        fates = {member.fate for member in self._draft.of_node.get(node, ()) if member.falls}
        return next((said for fate, said in DONE.items() if fate in fates), DONE[Fate.RESTART])

    def _fall(self, member: PlannedInstance, reason: str) -> None:
        """Have an instance stop before, and start after, what it requires is replaced. One that would be updated in
        place is configured instead, as it cannot be up in between."""
        if member.fate is Fate.UPDATE:
            member.fate = Fate.ANEW if differs_at_first(self._draft, member) else Fate.RECONFIGURE
            return
        member.fate, member.reason = Fate.RESTART, reason
        if member.kind in (ChangeKind.UNCHANGED, ChangeKind.ADOPT, ChangeKind.RELINK):
            member.kind = ChangeKind.RESTART
