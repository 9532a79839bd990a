"""Transform: what changes together with replaced instances. What they host is replaced as well, and what requires them
is stopped before and started after. If instances of a node take turns, what requires the node goes on with the others
and is only linked again.
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
from ordito.planning.planned_instances import CHANGED, InstanceAction, PlannedInstance
from ordito.planning.waits import incoming
from ordito.work.plan import ChangeKind

USUAL = Portion(25, is_percentage=True)
"""How many instances of a node are changed at one time by default: one of up to seven."""

STAYS = frozenset({InstanceAction.KEEP, InstanceAction.UPDATE})

DONE = {
    InstanceAction.REPLACE: "which is replaced",
    InstanceAction.LEAVE: "of which instances are removed",
    InstanceAction.RECONFIGURE: "which is configured again",
    InstanceAction.RESTART: "which is restarted",
}
"""What the reason says of a required instance, by its action."""


def cascade(draft: Draft) -> None:
    """Take down everything that needs a replaced instance."""
    if not any(m.action in CHANGED for m in draft.members.values()):
        return
    for node in draft.ordered:
        _take_turns(draft, node)
    replaced = [m for m in draft.members.values() if m.action is InstanceAction.REPLACE]
    if replaced:
        _Cascade(draft).take_down(replaced)


def _take_turns(draft: Draft, node: NodeTemplate) -> None:
    """Have the changed instances of a node take turns, so that no more are down at one time than may be. Those that are
    down already come first, those that are only continued among them."""
    options = draft.options
    members = draft.of_node.get(node.name, [])
    if options.turns.never or len(members) < 2:
        return
    portion = options.unavailable(node)
    is_usual = not portion.amount
    if is_usual and not (options.turns.by_itself and any(m.was_up and m.falls for m in members)):
        return
    most = (USUAL if is_usual else portion).of(sum(m.action is not InstanceAction.NEW for m in members))
    taking = [m for m in members if m.action in CHANGED or m.is_down_already]
    taking.sort(key=lambda m: (m.was_up, number_of(m.id)))
    first = max(most, sum(not m.was_up for m in taking))
    for place, member in enumerate(taking):
        member.turn = max(0, (place - first) // most + 1)
    draft.rolls |= is_usual and any(m.turn for m in taking)


class _Cascade:
    """What is taken down with what, node by node."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._down: set[str] = set()
        self._hosted: dict[str, list[PlannedInstance]] = {}
        for member in draft.members.values():
            at = member.on(falls=True)
            if at and member.record.exists:
                self._hosted.setdefault(at, []).append(member)

    def take_down(self, replaced: list[PlannedInstance]) -> None:
        """Go on from what is replaced to everything that requires it."""
        waiting = deque(self._with_hosted(replaced))
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
        """Whether what requires a node can go on: instances of it stay up, perhaps only while others are changed."""
        members = self._draft.of_node.get(node, [])
        if not any(m.falls for m in members) or self._draft.service.nodes[node].settings.is_optional:
            return True
        falling = [m for m in members if m.action in CHANGED and (m.action is InstanceAction.REPLACE or m.is_nested)]
        return not falling or any(m.action in STAYS and m.is_up for m in members) or len({m.turn for m in falling}) > 1

    def _with_hosted(self, members: Iterable[PlannedInstance]) -> dict[str, None]:
        """Replace what replaced instances host; returns the nodes of all of them."""
        found: dict[str, None] = {}
        waiting = deque(members)
        while waiting:
            host = waiting.popleft()
            found[host.template.name] = None
            if host.action is not InstanceAction.REPLACE:
                continue
            host.kind = ChangeKind.REPLACE
            for member in self._hosted.get(host.id, ()):
                if (
                    member.goes
                    or member.action is InstanceAction.NEW
                    or (member.is_nested and member.action is InstanceAction.REPLACE)
                ):
                    continue
                if member.action is not InstanceAction.REPLACE:
                    member.reason = f"its host {host.id} is replaced"
                member.action, member.kind, member.adopted = InstanceAction.REPLACE, ChangeKind.REPLACE, {}
                member.is_nested, member.turn = True, host.turn
                waiting.append(member)
        return found

    def _fallen(self, relationship: Relationship) -> Iterator[PlannedInstance]:
        """Take down the instances that require a node; returns those that are replaced because of that."""
        what = f"it requires {relationship.target} ({relationship.requirement}), {self._done_to(relationship.target)}"
        for member in self._draft.of_node.get(relationship.source, ()):
            if member.action in STAYS and may_run(self._draft, member):
                self._fall(member, what)
            if member.action in CHANGED and member.falls:
                member.is_nested, member.turn = True, 0
            if member.action is InstanceAction.REPLACE:
                yield member

    def _done_to(self, node: str) -> str:
        """What is done to the instances of a node that are taken down: the most that is done to any of them."""
        actions = {member.action for member in self._draft.of_node.get(node, ()) if member.falls}
        return next((said for action, said in DONE.items() if action in actions), DONE[InstanceAction.RESTART])

    def _fall(self, member: PlannedInstance, reason: str) -> None:
        """Have an instance stop before, and start after, what it requires is replaced. One that would be updated in
        place is reconfigured instead, since it cannot be up in between."""
        if member.action is InstanceAction.UPDATE:
            member.action = (
                InstanceAction.REPLACE if differs_at_first(self._draft, member) else InstanceAction.RECONFIGURE
            )
            return
        member.action, member.reason = InstanceAction.RESTART, reason
        if member.kind in (ChangeKind.UNCHANGED, ChangeKind.ADOPT, ChangeKind.RELINK):
            member.kind = ChangeKind.RESTART
