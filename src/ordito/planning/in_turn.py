"""Transform: what is changed in place comes after what it requires, and after the instances of its node whose turn is
earlier.

An instance that nothing takes down because of what it requires stays up until that has been changed, and goes down only
if that is up again. The steps that take instances down continue after failures of each other, but what they wait for
here has to end well: so it is held at a join that all of them wait for.
"""

from __future__ import annotations

from collections.abc import Mapping

from ordito.planning.draft import Draft
from ordito.planning.planned_instances import InstanceAction, PlannedInstance
from ordito.planning.ready import TURN, WITHIN, ask_until_ready, can_be_asked
from ordito.planning.second_pass import whether
from ordito.work.plan import Action, Gate, Outage

STAYS_UP = frozenset({InstanceAction.KEEP, InstanceAction.UPDATE})
"""The actions of instances that do not go down, and are linked again with those that do."""

MADE = frozenset({InstanceAction.NEW, InstanceAction.CONTINUE})
"""The actions of instances that come up and are not changed."""

FREE = frozenset({InstanceAction.RESTART, InstanceAction.RECONFIGURE, InstanceAction.REPLACE})
"""The actions of instances that go down and come up again for reasons of their own."""


def is_free(draft: Draft, member: PlannedInstance) -> bool:
    """Whether an instance goes down only once what it requires has been changed."""
    if member.is_nested or draft.options.turns.never:
        return False
    return member.action in FREE and draft.is_forming


def in_turn(draft: Draft) -> None:
    """Hold what has to wait for other changed instances."""
    if not draft.workflow.forms:
        return
    free = [m for m in draft.members.values() if m.turn or (m.action in FREE and is_free(draft, m))]
    if not free:
        return
    moving = _moving(draft)
    turns = _Turns(draft)
    holds = _Holds(draft)
    filters: dict[str, int] = {}
    for member in free:
        moves = any(r.target in moving for r in member.template.requirements)
        before = turns.before(member)
        if not moves and before < 0:
            continue
        barrier = draft.join(f"{member.id}.turn", draft.why(AFTER))
        if before >= 0:
            draft.edge(before, barrier, draft.why(turns.reason(member)))
        if member.is_conditional:
            filters[member.id] = whether(draft, member)
        holds.hold(member, barrier, filters.get(member.id, -1))
    holds.leave_out(filters)
    holds.write()


def takes_turns(draft: Draft) -> bool:
    """Whether anything waits for others to be changed before it goes down."""
    return any(m.turn or is_free(draft, m) for m in draft.members.values())


def outages(draft: Draft) -> tuple[Outage, ...]:
    """The nodes of which all instances that are up go down before any of them is up again. Instances that are removed
    for good do not count; those without an operation that stops them stay up; and those that go down only if they are
    found not to be ok do not count as up."""
    found: list[Outage] = []
    for node in draft.ordered if draft.workflow.interrupts else ():
        up = [m for m in draft.of_node.get(node.name, ()) if m.was_up]
        if (
            up
            and all(m.falls and not m.is_looked_at and _is_stopped(draft, m) for m in up)
            and {m.turn for m in up} == {0}
        ):
            again = next((m for m in up if not m.goes), None)
            if again is not None:
                found.append(Outage(node.name, len(up), _why_together(draft, again)))
    return tuple(found)


def _why_together(draft: Draft, member: PlannedInstance) -> str:
    """Why an instance goes down together with its whole node: because of something it needs that is replaced, rather
    than for a cause of its own."""
    if member.is_nested:
        for relationship in member.template.requirements:
            at = (member.record.host,) if relationship.is_hosting else ()
            targets = [draft.members[i] for i in at if i in draft.members] or draft.of_node.get(relationship.target, [])
            if any(target.action is InstanceAction.REPLACE for target in targets):
                return f"it requires {relationship.target} ({relationship.requirement}), which is replaced"
    return member.reason or member.action


def _is_stopped(draft: Draft, member: PlannedInstance) -> bool:
    """Whether anything that stops or removes an instance is run, or asked of a provider."""
    for number in member.down.steps if member.down is not None else ():
        step = draft.steps[number]
        if not step.link and (step.action is Action.DELEGATE or draft.calls.all[step.call].artifact):
            return True
    return False


def warn_of_no_turns(draft: Draft) -> None:
    """Warn that instances which should take turns do not."""
    nodes = [n for n in draft.ordered if draft.options.unavailable(n).amount]
    changed = [n for n in nodes if sum(m.falls for m in draft.of_node.get(n.name, ())) > 1]
    for node in changed:
        draft.diagnostics.warning(
            "changed-at-once",
            f'the instances of "{node.name}" are changed all at one time: what else is changed by this plan leaves them'
            " no other way",
            node.span,
            hint="change less at one time",
        )


AFTER = "what it requires has been changed before it goes down"


def _moving(draft: Draft) -> set[str]:
    """The nodes that come up in the plan, or require one that does."""
    found: set[str] = set()
    for node in draft.ordered:
        rises = any(m.rises for m in draft.of_node.get(node.name, ()))
        if rises or any(r.target in found for r in node.requirements):
            found.add(node.name)
    return found


class _Turns:
    """The ends of the turns of each node: each a join of all instances that are changed in it and of the links between
    these and what stays. So whoever uses a node has the instances of one turn back before it loses those of the next.
    """

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._ends: dict[tuple[str, int], int] = {}
        stays = {m.id: m.up.steps for m in draft.members.values() if m.up is not None and m.action in STAYS_UP}
        self._linked = _other_ends(draft, stays) if any(m.turn for m in draft.members.values()) else {}
        self._by_turn: dict[tuple[str, int], list[PlannedInstance]] = {}
        for member in draft.members.values():
            if (member.rises and member.action not in MADE) or member.is_down_already:
                self._by_turn.setdefault((self._node(member), member.turn), []).append(member)
        self._ready = self._asked()
        """The step that asks an instance, once it is up, whether it is ready: what starts well may be unwell."""

    def _asked(self) -> dict[str, int]:
        draft, turning, found = self._draft, {node for node, turn in self._by_turn if turn}, dict[str, int]()
        for (node, _), members in self._by_turn.items():
            for member in members if node in turning else ():
                if member.is_conditional or not can_be_asked(draft, member):
                    continue
                number = ask_until_ready(draft, member, "it is ready before others are changed", WITHIN, TURN)
                if number >= 0 and member.up is not None:
                    draft.edge(member.up.end, number, draft.why("it is up before it is asked how it is"))
                    for linked in self._linked.get(member.id, ()):
                        draft.edge(number, linked, draft.why("it is ready before others work with it again"))
                    found[member.id] = number
        return found

    def _node(self, member: PlannedInstance) -> str:
        """The node whose turns an instance takes: that of its outermost host that takes turns."""
        found = member
        for found in self._draft.chain(member):
            if not found.is_nested:
                break
        return found.template.name

    def reason(self, member: PlannedInstance) -> str:
        """Why an instance waits for the turn before."""
        return f"{self._node(member)} is changed some at a time"

    def before(self, member: PlannedInstance) -> int:
        """The join at the end of the turn before that of an instance, -1 where there is none."""
        if not member.turn:
            return -1
        key = (self._node(member), member.turn - 1)
        if key not in self._ends:
            reason = self._draft.why(self.reason(member))
            end = self._ends[key] = self._draft.join(f"{key[0]}.{key[1]}.changed", reason)
            for other in self._by_turn.get(key, ()):
                assert other.up is not None
                self._draft.edge(self._ready.get(other.id, other.up.end), end, reason)
                for linked in self._linked.get(other.id, ()):
                    self._draft.edge(linked, end, reason)
        return self._ends[key]


class _Holds:
    """Steps that wait for a join to end well, although they continue after other failures."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._held: dict[int, int] = {}
        self._ups: dict[int, int] = {}
        self._begins: dict[int, int] = {}
        """Those of them that wait for nothing but their joins: these wait for what they require."""
        self._filtered: dict[int, int] = {}
        self._joined: dict[tuple[int, int], int] = {}
        self._undone = _other_ends(draft, {m.id: m.undone for m in draft.members.values() if m.undone})
        kept = {
            m.id: m.up.steps for m in draft.members.values() if m.up is not None and m.action is InstanceAction.KEEP
        }
        self._linked = _other_ends(draft, kept) if draft.observed else {}

    def hold(self, member: PlannedInstance, barrier: int, filtered: int = -1) -> None:
        """Hold an instance, and what undoes its links, if there is a filter after that."""
        down = member.down
        if filtered >= 0:
            self._draft.edge(barrier, filtered, self._draft.why(AFTER))
            if member.up is not None:
                self._begins[member.up.begin] = barrier
            barrier = filtered
        for number in [*(down.steps if down is not None else ()), *self._undone.get(member.id, ())]:
            self._held[number] = barrier
        if down is not None and down.begin not in self._held:
            self._held[down.begin] = barrier
        if member.up is not None and filtered < 0:
            self._ups[member.up.begin] = barrier
            if not member.is_nested:
                self._begins[member.up.begin] = barrier

    def leave_out(self, filters: Mapping[str, int]) -> None:
        """Have what is done with instances, and with their links, be left out by their filters. A pair both of whose
        ends have one is made again if either is; a pair whose other end goes down in any case always is."""
        for name, filtered in filters.items():
            member = self._draft.members[name]
            down = member.down.steps if member.down is not None else []
            up = member.up.steps if member.up is not None else []
            for number in (*down, *up):
                self._leave_out(number, filtered, filters, member)
            for number in (*self._undone.get(name, ()), *self._linked.get(name, ())):
                self._follow(number, filtered)

    def _leave_out(self, number: int, filtered: int, filters: Mapping[str, int], member: PlannedInstance) -> None:
        step = self._draft.steps[number]
        other = (step.far if step.instance == member.id else step.instance) if step.link else ""
        if other in filters:
            self._follow(number, self._either(filtered, filters[other]))
        elif not other or not self._draft.members[other].falls:
            self._follow(number, filtered)

    def _follow(self, number: int, filtered: int) -> None:
        """Have a step be left out with a filter, and with nothing else."""
        self._draft.steps[number].gate = Gate.ALL
        if number in self._held:
            self._held[number] = filtered
        else:
            self._filtered[number] = filtered

    def _either(self, one: int, other: int) -> int:
        """A join that is left out only together with both of two filters."""
        key = (one, other)
        if key not in self._joined:
            draft, reason = self._draft, self._draft.why("either end of the pair is configured again")
            join = self._joined[key] = draft.join("either", reason, gate=Gate.ANY)
            draft.edge(one, join, reason)
            draft.edge(other, join, reason)
        return self._joined[key]

    def write(self) -> None:
        """Route what instances wait for through their joins; everything else continues after these, whatever has
        failed."""
        draft = self._draft
        before = len(draft.befores)
        passed: dict[int, int] = {}
        reason = draft.why("well or not, it comes before")
        barriers = {*self._held.values(), *self._ups.values(), *self._filtered.values()}
        strictly: dict[int, int] = {}
        for place in range(before):
            first, then = draft.befores[place], draft.afters[place]
            if then in self._begins and first not in barriers and first not in draft.again:
                draft.afters[place] = self._begins[then]
            elif then in self._held and first not in barriers:
                if then not in passed:
                    passed[then] = draft.join(f"{draft.steps[then].instance}.then", reason, after_failure=True)
                    draft.edge(passed[then], then, reason)
                draft.afters[place] = passed[then]
            elif then in self._filtered and first not in barriers:
                # What is left out before it says nothing of it.
                if then not in strictly:
                    strictly[then] = draft.join(f"{draft.steps[then].instance}.then", reason)
                    draft.edge(strictly[then], then, reason)
                draft.afters[place] = strictly[then]
        wait = draft.why(AFTER)
        for held, barrier in (self._held | self._ups).items():
            draft.steps[held].after_failure = False
            draft.edge(barrier, held, wait)
        for number, filtered in self._filtered.items():
            draft.edge(filtered, number, draft.why("only what is needed is done"))


def _other_ends(draft: Draft, steps: Mapping[str, list[int]]) -> Mapping[str, list[int]]:
    """Steps of links of instances, by the instance at the other end."""
    found: dict[str, list[int]] = {}
    for name, numbers in steps.items():
        for number in numbers:
            step = draft.steps[number]
            found.setdefault(step.far if step.instance == name else step.instance, []).append(number)
    return found
