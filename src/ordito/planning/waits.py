"""Transforms: what instances wait for: those that they require to be up and, on removal, those that require them to be
gone.

All of one node wait for all of another through one join, so that n and m instances need n + m edges.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ordito.base.sensitive import revealed
from ordito.instances.context import Context
from ordito.model.service import Relationship
from ordito.planning.draft import Draft
from ordito.planning.forms import Formed
from ordito.planning.in_turn import is_free
from ordito.planning.pairing import Pairing
from ordito.planning.planned_instances import InstanceAction, PlannedInstance
from ordito.work.options import LAST

RUN = InstanceAction.RUN


class Words(msgspec.Struct, frozen=True):
    """How reasons name what is waited for: a ``needed`` node, and ``all`` instances of a node."""

    needed: str
    all: str


UP = Words("up before {} begins", "all instances of {} are up")
IN_TURN = Words("it comes before {}", "all instances of {} have had their turn")
"""The words for what runs in the order of dependencies, whether it is up or not."""


def install_waits(draft: Draft, words: Words = UP) -> None:
    """The chain up of an instance begins when those of everything it requires have ended, and its own chain down
    has."""
    joins: dict[str, int] = {}
    pairing = Pairing(draft)
    for node in draft.ordered:
        sources = [m for m in draft.of_node.get(node.name, ()) if m.up is not None]
        for source in sources:
            _down_before_up(draft, source)
        seen: set[tuple[str, bool, bool, str]] = set()
        for relationship in node.requirements:
            awaited = awaited_operation(draft, relationship)
            kind = (relationship.target, relationship.is_hosting, pairing.selects(relationship), awaited)
            if not sources or kind in seen or _is_within(draft, relationship, is_up=True):
                continue
            seen.add(kind)
            what = f"{node.name} requires {relationship.target} ({relationship.requirement})"
            reason = draft.why(f"{what}: {words.needed.format(node.name)}")
            if relationship.is_hosting:
                _wait_for_hosts(draft, sources, reason)
                continue
            if awaited:
                _wait_for_operation(draft, sources, relationship, awaited, pairing)
                continue
            after_failure = draft.service.nodes[relationship.target].settings.is_optional
            if pairing.selects(relationship):
                for source in sources:
                    chosen = pairing.wanted(source, relationship)
                    _all_wait_for_all(draft, [source], chosen, words, reason, {}, after_failure=after_failure)
                continue
            targets = [m for m in draft.of_node.get(relationship.target, ()) if m.up is not None]
            _all_wait_for_all(draft, sources, targets, words, reason, joins, after_failure=after_failure)


def _wait_for_hosts(draft: Draft, sources: list[PlannedInstance], reason: int) -> None:
    for source in sources:
        host = draft.host_of(source)
        if host is not None and host.up is not None:
            _wait(draft, host, source, reason)


# Of a node whose relationship names an operation of the target, that operation alone is waited for.

OF_OPERATION = "cloudify.relationships.depends_on_lifecycle_operation"
OPERATION = "operation"


def awaited_operation(draft: Draft, relationship: Relationship) -> str:
    """The operation of the target that a source waits for, "" where it waits for the whole target."""
    if OF_OPERATION not in relationship.kinds:
        return ""
    written = draft.static.evaluate(relationship.properties.get(OPERATION), Context(relationship=relationship))
    return str(revealed(written) or "").rpartition(".")[2]


def _wait_for_operation(
    draft: Draft, sources: list[PlannedInstance], relationship: Relationship, operation: str, pairing: Pairing
) -> None:
    reason = draft.why(f"{relationship.source} requires {operation} of {relationship.target}")
    for source in sources:
        for target in pairing.wanted(source, relationship):
            if target.up is not None and (step := _last_of(draft, target, operation)) >= 0:
                draft.edge(step, _entrance(source), reason)


def _last_of(draft: Draft, target: PlannedInstance, operation: str) -> int:
    """The last step of a chain up that belongs to an operation of the lifecycle or to one before it; -1 for none. Of an
    instance that has all of that behind it nothing is waited for but what it is repaired by."""
    assert target.up is not None
    if not target.rises or target.action is InstanceAction.UPDATE:
        return target.up.end
    until = ORDER.get(operation, len(ORDER))
    found = -1
    for number in target.up.steps:
        step = draft.steps[number]
        if step.link or step.call < 0:
            continue
        call = draft.calls.all[step.call]
        if call.side == "" and ORDER.get(call.operation, len(ORDER)) <= until:
            found = number
    return found


ORDER = {name: n for n, name in enumerate(("precreate", "create", "configure", "start", "poststart"))}
"""The operations that make an instance, in their order."""


def _is_within(draft: Draft, relationship: Relationship, *, is_up: bool) -> bool:
    """Whether both ends are inside one substituted node that decides itself how they wait for each other."""
    inside = draft.inside(is_up)
    if not inside:
        return False
    outer = inside.get(relationship.source)
    return outer is not None and inside.get(relationship.target) == outer


def _all_wait_for_all(
    draft: Draft,
    sources: list[PlannedInstance],
    targets: list[PlannedInstance],
    words: Words,
    reason: int,
    joins: dict[str, int],
    *,
    after_failure: bool,
) -> None:
    """With ``after_failure`` only the order counts: what the sources can do without may have failed."""
    if (len(targets) == 1 or len(sources) == 1) and not after_failure:
        for source in sources:
            for target in targets:
                _wait(draft, target, source, reason)
        return
    if not targets:
        return
    name = targets[0].template.name
    join = joins.get(name)
    if join is None:
        all_up = draft.why(words.all.format(name) + (", or have failed" if after_failure else ""))
        join = joins[name] = draft.join(f"{name}.up", all_up, after_failure=after_failure)
        for target in targets:
            assert target.up is not None
            draft.edge(target.up.end, join, all_up)
    for source in sources:
        draft.edge(join, _entrance(source), reason)


def _wait(draft: Draft, target: PlannedInstance, source: PlannedInstance, reason: int) -> None:
    assert target.up is not None
    draft.edge(target.up.end, _entrance(source), reason)


def _down_before_up(draft: Draft, member: PlannedInstance) -> None:
    """However the chain down has ended, the chain up is tried."""
    if member.down is not None and member.up is not None:
        reason = draft.why("it is taken down, well or not, before it comes up again")
        turn = draft.join(f"{member.id}.again", reason, after_failure=True)
        draft.again.add(turn)
        draft.edge(member.down.end, turn, reason)
        draft.edge(turn, member.up.begin, reason)


def _entrance(source: PlannedInstance) -> int:
    """Where an instance waits: at the beginning of its chain up or, if it stays, at its join."""
    assert source.up is not None
    begins = source.rises or source.action is RUN or source.repaired is not None
    return source.up.begin if begins else source.up.end


def uninstall_waits(draft: Draft) -> None:
    """The chain down of an instance begins when those of everything that requires it have ended; links of one that does
    not go down are undone after that as well."""
    pairing = Pairing(draft)
    for node in draft.ordered:
        members = draft.of_node.get(node.name, ())
        waiting = [number for m in members for number in _first_removals(m)]
        if not waiting:
            continue
        first = _First()
        for form, relationship in incoming(draft, node.name):
            if not _is_within(draft, relationship, is_up=False):
                first.add(draft, relationship, form, pairing)
        _all_gone_first(draft, node.name, first.gone, waiting)
        # What is changed in place waits for what it requires, save for what leaves: that goes after all its links.
        leaving = [number for m in members if m.goes for number in _first_removals(m)] if first.free else []
        _all_gone_first(draft, node.name, first.free, leaving)


class _First:
    """What goes down before the instances of one node do: ``gone`` before any, ``free`` before those that are
    removed."""

    def __init__(self) -> None:
        self.gone: list[int] = []
        self.free: list[int] = []
        self._seen: set[tuple[str, str]] = set()

    def add(self, draft: Draft, relationship: Relationship, form: Formed | None, pairing: Pairing) -> None:
        """Add the instances that require the node by a relationship; for a relationship that only some forms have,
        those in these forms."""
        members = draft.of_node.get(relationship.source, ())
        falling = [m for m in members if m.down is not None and (form is None or draft.falling(m) is form)]
        free: list[PlannedInstance] = []
        late = draft.is_forming and _can_go_last(draft, relationship)
        if draft.is_forming:
            free = [m for m in falling if is_free(draft, m) or (late and m.goes)]
        bound = [m for m in falling if not (is_free(draft, m) or (late and m.goes))] if free else falling
        if relationship.is_hosting:
            _hosted_first(draft, bound)
            _hosted_first(draft, free, only_leaving=True)
        elif pairing.selects(relationship):
            _paired_first(draft, bound, relationship, pairing)
            _paired_first(draft, free, relationship, pairing, only_leaving=True)
        elif (relationship.source, form.name if form else "") not in self._seen:
            self._seen.add((relationship.source, form.name if form else ""))
            self.gone += [m.down.end for m in bound if m.down is not None]
            self.gone += [m.undone[-1] for m in members if m.is_taken_back]
            self.free += [m.down.end for m in free if m.down is not None]


def _can_go_last(draft: Draft, relationship: Relationship) -> bool:
    """Whether what is removed can be removed after everything else: if what it requires exists all the time."""
    if draft.options.changes.prune != LAST:
        return False
    return all(target.action is not InstanceAction.REPLACE for target in draft.of_node.get(relationship.target, ()))


def incoming(draft: Draft, node: str) -> Iterator[tuple[Formed | None, Relationship]]:
    """The relationships by which a node is required, each with the form of the source instances for which it holds;
    None if all are in one form."""
    known = draft.forms.known
    for form in known:
        for relationship in form.service.incoming.get(node, ()):
            yield form if len(known) > 1 else None, relationship


def _hosted_first(draft: Draft, leaving: list[PlannedInstance], *, only_leaving: bool = False) -> None:
    reason = draft.why("what is hosted goes down before its host")
    for source in leaving:
        host = draft.host_of(source, falls=True)
        if host is None or source.down is None or (only_leaving and not host.goes):
            continue
        for first in _first_removals(host):
            draft.edge(source.down.end, first, reason)


def _paired_first(
    draft: Draft,
    leaving: list[PlannedInstance],
    relationship: Relationship,
    pairing: Pairing,
    *,
    only_leaving: bool = False,
) -> None:
    reason = draft.why(f"what requires {relationship.target} goes down before it does")
    for source in leaving:
        assert source.down is not None
        targets = pairing.targets(source, relationship, falls=True)
        for target in (t for t in targets if t.goes or not only_leaving):
            for first in _first_removals(target):
                draft.edge(source.down.end, first, reason)


def _all_gone_first(draft: Draft, name: str, gone: list[int], waiting: list[int]) -> None:
    reason = draft.why(f"what requires {name} goes down before it does")
    if len(gone) > 1 and len(waiting) > 1:
        join = draft.join(f"{name}.free", reason, after_failure=True)
        for before in gone:
            draft.edge(before, join, reason)
        gone = [join]
    for before in gone:
        for after in waiting:
            draft.edge(before, after, reason)


def _first_removals(member: PlannedInstance) -> list[int]:
    """The first step in the chain down of an instance, or those of the undoing of its links."""
    if member.undone:
        return member.undone_first
    return [member.down.begin] if member.down is not None else []
