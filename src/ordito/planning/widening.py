"""Heal: each stage is laid with a chain down and a chain up of its own, behind filters that look at what the stage
before has come to, so that a job goes no further than it has to.

1. An instance is checked, repaired by its own operation for that, and checked again (``check_and_repair``).
2. It is stopped and started by itself, its links with it, and checked again.
3. It is replaced on its host with what is contained in it, and all of that is checked.
4. Where its host is not ok itself, that is replaced with all that it carries.

Where the whole host is asked for, or is known to be lost, there is one stage: the host is replaced with all that it
carries, unless what was asked for is found to be ok or can be repaired in place (``repair_first``). A stage that would
lose data which nobody permitted to be lost is left out where there is another one, and the last step of all says that
the instance is not healed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import takewhile
from typing import NamedTuple

from ordito.base.text import listed
from ordito.instances.hosting import chain
from ordito.instances.states import CONFIGURED
from ordito.planning.choose_moved import may_run, unmade
from ordito.planning.choose_replaced import HOSTED_ON, SHARES, TO_HEAL, put_existing, replace_instance
from ordito.planning.draft import Draft
from ordito.planning.losing import at_stake
from ordito.planning.planned_instances import DraftStep, InstanceAction, PlannedInstance
from ordito.planning.probes import can_be_looked_at, look_at, probe
from ordito.planning.ready import ask_until_ready, can_be_asked
from ordito.planning.repair_first import (
    can_be_repaired,
    check_and_repair,
    filter_known,
    filter_not_ok,
    make_optional,
    repair_first,
)
from ordito.work.options import AUTO, WHOLE_HOST
from ordito.work.plan import Action, ChangeCause, Gate, StepCondition
from ordito.work.probes import CHECK, maintaining

WITHIN = 10.0
"""Seconds within which a check has to say ok after an instance was started, unless its node says otherwise."""

FIT, UNFIT = "fit", "unfit"
"""The names of the steps that decide whether a host is ok, and whether it is not."""

THERE = "there"
"""The name of the step that decides whether an instance exists, so that it can be stopped and started."""

HEALED = "healed"
"""The name of the step that decides whether an instance is ok in the end."""

MOST_NAMED = 3

Laying = tuple[Callable[[Draft], None], ...]
"""The transforms that lay the chains of instances whose actions are chosen."""


def widening(laying: Laying) -> Callable[[Draft], None]:
    """The transform that plans to heal what is asked for, as far as ``PlanOptions.scope`` says."""

    def heal(draft: Draft) -> None:
        asked, scope = sorted(draft.options.instances or ()), draft.options.healing.scope
        hosts = {name: draft.replaceable_host(name) for name in asked}
        if scope == WHOLE_HOST or any(_takes_host(draft, *pair) for pair in hosts.items()):
            _heal_whole(draft, laying)
        else:
            roots = {name: host if host != name else "" for name, host in hosts.items()}
            Widening(draft, laying, roots, {}, widest=scope == AUTO).lay()
            _note_others(draft, roots)
        draft.end_stages()

    return heal


def _takes_host(draft: Draft, asked: str, host: str) -> bool:
    """Whether nothing less than the whole host is replaced: the host itself is asked for, or it is known not to be ok,
    and nothing can check whether that is still so."""
    record = draft.snapshot.instances[host]
    if not draft.service.nodes[record.node].is_compute:
        return False
    member = PlannedInstance(record, draft.service.nodes[record.node], InstanceAction.KEEP, "")
    is_down = not record.exists or not (member.is_up or _can_say(draft, member))
    return asked == host or (is_down and draft.options.healing.scope == AUTO)


def _can_say(draft: Draft, host: PlannedInstance) -> bool:
    """Whether anything can check a host."""
    return maintaining(host.template, CHECK) is not None or can_be_looked_at(draft, host)


def _heal_whole(draft: Draft, laying: Laying) -> None:
    """Replace the whole hosts of what is asked for, with everything that they carry, unless what is asked for is found
    to be ok, or can be repaired in place."""
    absent = put_existing(draft)
    for name in sorted(draft.options.instances or ()):
        replace_instance(draft, absent, draft.replaceable_host(name), name, SHARES)
    for member in draft.members.values():
        member.is_broken = not draft.options.healing.reinstall
    if _laid(draft, laying):
        skip_absent(draft)
        _ask_afterwards(draft, draft.members.values())
        repair_first(draft)


def _laid(draft: Draft, laying: Laying) -> bool:
    for transform in laying:
        if draft.diagnostics.has_errors:
            return False
        transform(draft)
    return not draft.diagnostics.has_errors


def skip_absent(draft: Draft) -> None:
    """What a check finds to be absent, or on an absent host, is not removed before it is created again."""
    for member in draft.members.values():
        if member.action is InstanceAction.REPLACE and member.down is not None:
            for number in member.down.steps:
                step = draft.steps[number]
                step.condition = step.condition or StepCondition.UNLESS_ABSENT
    lost = {m.id for m in draft.members.values() if m.action is InstanceAction.REPLACE and m.template.is_compute}
    for member in draft.members.values():
        # On a host that is lost nothing of pairs can be undone either.
        for number in member.undone:
            step = draft.steps[number]
            if step.runs_on in lost:
                step.condition = step.condition or StepCondition.UNLESS_ABSENT


def _ask_afterwards(draft: Draft, members: Iterable[PlannedInstance]) -> list[int]:
    """Add the checks of the instances that are replaced; gives the last step of each."""
    reason, last = draft.why("whether it is ok once it was replaced"), []
    for member in list(members):
        if member.action is not InstanceAction.REPLACE or member.up is None:
            continue
        last.append(member.up.end)
        if can_be_asked(draft, member):
            number = ask_until_ready(draft, member, "whether it is ok once it was replaced", WITHIN)
            draft.edge(member.up.end, number, reason)
            last[-1] = number
    return last


class AskedHosts(NamedTuple):
    """By host: the filters on whether it is ok, and on whether that was found out. Healing several nodes one after the
    other checks each host once."""

    fit: dict[str, int]
    known: dict[str, int]


class Widening:
    """The stages of healing instances of one node, each after filters of its own. ``roots`` are the instances, each
    with its Compute, "" for none; ``why`` begins the reason for each that is repaired; one without was asked to be
    healed. It is ``widest`` if that Compute may be replaced. ``presumed`` are instances that are not up and will be,
    since they are repaired before. Everything that is done about a root comes after the join ``begin``, and before the
    step ``told``."""

    def __init__(
        self,
        draft: Draft,
        laying: Laying,
        roots: Mapping[str, str],
        why: Mapping[str, str],
        *,
        widest: bool,
        presumed: Collection[str] = (),
        hosts: AskedHosts | None = None,
    ) -> None:
        self._draft = draft
        self._laying = laying
        self._roots = roots
        self._why = why
        self._reinstalls = draft.options.healing.reinstall
        self._presumed = presumed
        reason = draft.why("all that it requires is up before anything is done about it")
        self.begin = {root: draft.join(f"{root}.begin", reason) for root in roots}
        self.told: dict[str, int] = {}
        for root in roots:
            draft.forms.of(draft.snapshot.instances[root])  # It is known then, with what that form requires.
        self._tops = {root: _first_missed(draft, root) for root in roots}
        self._nodes = _near(draft, (*self._tops.values(), *roots.values()) if widest else self._tops.values())
        self._absent: dict[str, PlannedInstance] = {}
        self._fit, self._known = hosts or AskedHosts({}, {})
        self._unfit: dict[str, int] = {}
        """By the host: the looks whether it is ok, whether that was found out, and whether it is to be replaced."""
        self._after_repair: dict[str, int] = {}
        self._needed: dict[str, int] = {}
        """By the root: the looks whether anything is to be done besides repairing, and whether the next stage is."""
        self._ends: dict[str, list[int]] = {root: [] for root in roots}
        """By the root: what has to have ended, and well, where it was not left out."""
        self._linked: dict[str, dict[str, None]] = {root: {} for root in roots}
        """By the root: the instances that stay and are linked again with it where it is restarted."""
        self._begin()
        self._losing = {host: list(at_stake(draft, self._inside(host))) for host in roots.values() if host}
        self._widest = widest

    def lay(self) -> None:
        """Lay all stages."""
        draft, members = self._draft, self._draft.members
        for host in dict.fromkeys(self._roots.values()):
            if host in members and host not in self._fit and _can_say(draft, members[host]):
                self._ask_host(members[host])
        kept: dict[str, list[PlannedInstance]] = {}
        if not self._reinstalls:
            there = [members[root] for root in self._roots if root in members and self._tops[root] == root]
            for member in there:
                if can_be_repaired(draft, member):
                    self._repair(member)
            self._restart([m.id for m in there if _restarts(draft, m)])
            found = {root: list(at_stake(draft, self._inside(self._tops[root]))) for root in self._needed}
            kept = {root: losing for root, losing in found.items() if losing}
        self._replace([root for root in self._roots if root not in kept])
        for root, losing in kept.items():
            self._note_kept(root, losing)
        for root, host in self._roots.items():
            if host in self._unfit:
                self._replace_host(root, host)
        for root in self._roots:
            self._tell(root)

    # ------------------------------------------------------------------------------------------------- the looks

    def _begin(self) -> None:
        """Begin a stage, in which everything stays as it is. Hosts that are checked first count as up."""
        self._draft.next_stage()
        self._absent = put_existing(self._draft, self._nodes)
        for name in (*self._fit, *self._presumed):
            if name in self._draft.members:
                self._draft.members[name].presumed = True

    def _inside(self, name: str) -> Iterator[PlannedInstance]:
        """The members that an instance contains, itself included."""
        members = self._draft.members
        return (m for i in self._draft.contained(name) if (m := members.get(i) or self._absent.get(i)) is not None)

    def _ask_host(self, host: PlannedInstance) -> None:
        """Check a host before anything is done about what is on it."""
        draft, asked = self._draft, []
        reason = draft.why("nothing is tried on a host that cannot be reached")
        may_go = self._widest and not self._losing[host.id]
        if can_be_looked_at(draft, host):
            asked.append(look_at(draft, host, "whether its host can be reached is found out first"))
            make_optional(draft.steps[asked[0]])
            draft.steps[asked[0]].replaces = may_go
            self._known[host.id] = filter_known(draft, {host.id: asked[0]})
        if maintaining(host.template, CHECK) is not None:
            number = probe(draft, host, CHECK, "whether its host is ok is found out first")
            assert number is not None
            make_optional(draft.steps[number])
            draft.steps[number].condition = StepCondition.UNLESS_LOST
            for before in asked:
                draft.edge(before, number, reason)
            asked.append(number)
        self._fit[host.id] = self._look(host, FIT, StepCondition.IF_OK, asked[-1])
        if may_go:
            self._unfit[host.id] = self._look(host, UNFIT, StepCondition.UNLESS_OK, asked[-1])

    def _look(self, member: PlannedInstance, name: str, condition: StepCondition, after: int) -> int:
        """A filter on what was found out about an instance, which may be a host."""
        draft, reason = self._draft, self._draft.why("what is done about it depends on how it is found to be")
        call = draft.calls.nothing(member.template, "ordito", name)
        step = DraftStep(f"{member.id}.ordito.{name}", Action.FILTER, member.id, member.id, call=call, reason=reason)
        step.after_failure, step.condition = True, condition
        number = draft.add(step)
        draft.edge(after, number, reason)
        return number

    def _gates(self, root: str) -> list[int]:
        """The filters after which the next stage of a root comes."""
        gates = (self._needed.get(root), self._fit.get(self._roots[root]))
        return [number for number in gates if number is not None]

    def _next(self, root: str, after: int) -> None:
        """Filter on a root once more when something has ended, whether or not it succeeded."""
        draft = self._draft
        self._needed[root] = filter_not_ok(draft, draft.members[root])
        draft.edge(after, self._needed[root], draft.why("it is looked at when what was tried has ended"))

    # ------------------------------------------------------------------------------------------------ the stages

    def _repair(self, member: PlannedInstance) -> None:
        """Check an instance, and repair it in place."""
        draft, host = self._draft, self._roots[member.id]
        first = len(draft.steps)
        last = check_and_repair(draft, member)
        for step in draft.steps[first:]:
            if host in self._fit and step.runs_on == host and step.non_blocking:
                step.condition = step.condition or StepCondition.UNLESS_LOST
        self._next(member.id, last)
        self._after_repair[member.id] = self._needed[member.id]
        numbers = range(first, len(draft.steps))
        if host in self._known:
            self._put_behind(numbers, [self._known[host]])
        self._begin_with(member.id, numbers)

    def _restart(self, roots: list[str]) -> None:
        """Stop and start instances by themselves, and check them."""
        if not roots:
            return
        self._begin()
        draft, first, edges = self._draft, len(self._draft.steps), len(self._draft.befores)
        for root in roots:
            member = draft.members[root]
            member.action = InstanceAction.RESTART
            member.cause = ChangeCause.NONE if root in self._why else ChangeCause.TO_HEAL
            member.reason = f"{self._why.get(root, TO_HEAL)}: stopped and started{self._if_needed(root)}"
        if not _laid(draft, self._laying):
            return
        for root, numbers in self._laid_for(first, edges, {root: root for root in roots}).items():
            member = draft.members[root]
            for step in map(draft.steps.__getitem__, numbers):
                # What fails of it is made good by the next stage, except that a link of another is not undone.
                step.optional |= step.owner == root or not step.after_failure
                if step.owner != root:
                    self._linked[root][step.owner] = None
            if can_be_asked(draft, member):
                assert member.up is not None
                numbers.append(ask_until_ready(draft, member, "whether that has helped", WITHIN))
                draft.steps[numbers[-1]].optional = draft.steps[numbers[-1]].non_blocking = True
                draft.edge(member.up.end, numbers[-1], draft.why("it is up before it is asked how it is"))
            gates = self._gates(root)
            member.is_conditional = root in self._needed
            if root in self._needed:
                gates.append(self._look(member, THERE, StepCondition.UNLESS_ABSENT, self._needed[root]))
            self._put_behind(numbers, gates)
            self._begin_with(root, numbers)
            reason = draft.why("however that has ended")
            tried = draft.join(f"{root}.tried", reason, after_failure=True)
            for number in numbers:
                draft.edge(number, tried, reason)
            self._next(root, tried)
            self._ends[root].append(tried)

    def _replace(self, roots: list[str]) -> None:
        """Remove instances and create them again, with everything that they contain."""
        if roots:
            self._begin()
            group: dict[str, str] = {}
            for root in roots:
                replace_instance(self._draft, self._absent, self._tops[root], root, HOSTED_ON)
                for member in self._inside(self._tops[root]):
                    group[member.id] = root
                    if member.cause is ChangeCause.TO_HEAL and root in self._why:
                        member.cause, member.reason = ChangeCause.NONE, f"{self._why[root]}: replaced"
                    member.reason += self._if_needed(root)
            self._lay_replaced(group, self._gates)

    def _replace_host(self, root: str, host: str) -> None:
        """Replace the host of an instance if it is found not to be ok."""
        self._begin()
        replace_instance(self._draft, self._absent, host, root, SHARES)
        group: dict[str, str] = {}
        for member in self._inside(host):
            group[member.id] = root
            member.reason += f", if {host} is not ok"
        gates = [self._unfit[host], *([self._after_repair[root]] if root in self._after_repair else [])]
        self._lay_replaced(group, lambda _: gates)

    def _lay_replaced(self, group: Mapping[str, str], gates: Callable[[str], list[int]]) -> None:
        """Lay the chains down and up of what is replaced, each instance of the ``group`` because of its root."""
        draft, first, edges = self._draft, len(self._draft.steps), len(self._draft.befores)
        if not _laid(draft, self._laying):
            return
        skip_absent(draft)
        for name, root in group.items():
            if (member := draft.members.get(name)) is not None:
                member.is_broken = not self._reinstalls
                member.is_conditional = root in self._needed
                self._ends[root] += _ask_afterwards(draft, [member])
        for root, numbers in self._laid_for(first, edges, group).items():
            if self._restarted(root):
                for number in numbers:
                    _only_what_is_left(draft.steps[number], root)
            self._ends[root] += [n for n in numbers if draft.steps[n].link and draft.steps[n].owner not in group]
            self._put_behind(numbers, gates(root))
            self._begin_with(root, numbers)

    def _begin_with(self, root: str, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._draft.edge(self.begin[root], number, self._draft.steps[self.begin[root]].reason)

    def _tell(self, root: str) -> None:
        """At the end, tell whether a root is ok, and what was linked with it again."""
        draft, host = self._draft, self._roots[root]
        reason = draft.why("whether it is ok in the end")
        for name in (root, *self._linked[root]):
            record = draft.snapshot.instances[name]
            call = draft.calls.nothing(draft.service.nodes[record.node], "ordito", HEALED)
            step = DraftStep(f"{name}.ordito.{HEALED}", Action.CALL, name, name, call=call, reason=reason)
            step.condition, step.after_failure = StepCondition.IF_HEALED, name != root
            number = draft.add(step)
            befores = self._ends[root] or [n for n in (self._needed.get(root),) if n is not None]
            for before in befores:
                draft.edge(before, number, reason)
            if name == root:
                self.told[root] = number
            if host in self._known and draft.workflow.heals:
                # Elsewhere it has failed that nobody knows.
                self._put_behind([number], [self._known[host]])

    # -------------------------------------------------------------------------------------------------- what for

    def _restarted(self, root: str) -> bool:
        return self._needed.get(root) != self._after_repair.get(root)

    def _if_needed(self, root: str) -> str:
        if self._restarted(root):
            return ", if it is not ok after being stopped and started"
        return ", if it is not found to be ok" if root in self._needed else ""

    def _laid_for(self, first: int, edges: int, group: Mapping[str, str]) -> dict[str, list[int]]:
        """The steps from a first one on, by the root because of which they were laid; ``edges`` is the first edge laid
        with them. What is left out for one root leaves out nothing for another."""
        found: dict[str, list[int]] = {}
        for number in range(first, len(self._draft.steps)):
            step = self._draft.steps[number]
            if step.action is not Action.JOIN:
                ends = (step.owner, step.instance, step.far)
                root = next(group[end] for end in ends if end in group)
                found.setdefault(root, []).append(number)
        self._keep_apart(edges, {number: root for root, numbers in found.items() for number in numbers})
        return found

    def _keep_apart(self, edges: int, roots: Mapping[int, str]) -> None:
        """Have steps of different roots wait for each other at joins, which are never left out."""
        draft, joins = self._draft, dict[int, int]()
        for edge in range(edges, len(draft.befores)):
            before, after = draft.befores[edge], draft.afters[edge]
            if before in roots and after in roots and roots[before] != roots[after]:
                reason = draft.edge_reasons[edge]
                if after not in joins:
                    joins[after] = draft.join(
                        f"{roots[after]}.apart", reason, after_failure=draft.steps[after].after_failure
                    )
                    draft.edge(joins[after], after, reason)
                draft.afters[edge] = joins[after]

    def _put_behind(self, numbers: Iterable[int], gates: list[int]) -> None:
        """Have steps be left out if a filter says so."""
        draft = self._draft
        reason = draft.why("only what is needed is done")
        for number in numbers:
            for gate in gates:
                draft.steps[number].gate = Gate.ALL
                draft.edge(gate, number, reason)

    def _note_kept(self, root: str, losing: list[PlannedInstance]) -> None:
        """Note why an instance is not replaced."""
        member = self._draft.members.get(root) or self._absent[root]
        kept = PlannedInstance(
            member.record,
            member.template,
            InstanceAction.KEEP,
            NOT_ANEW.format(listed([m.id for m in losing], MOST_NAMED)),
        )
        self._draft.kept.append(kept)


NOT_ANEW = "not replaced whatever is found: data of {} would be lost (--allow-data-loss)"
NOT_TAKEN_ALONG = "not taken along"


def _note_others(draft: Draft, roots: Mapping[str, str]) -> None:
    """Note that everything else on the hosts of what is asked for stays as it is."""
    for root, host in roots.items():
        if not host:
            continue
        changed = set(draft.contained(root))
        for name in draft.contained(host):
            record = draft.snapshot.instances[name]
            if name not in changed and record.exists and record.node in draft.service.nodes:
                node = draft.service.nodes[record.node]
                draft.kept.append(PlannedInstance(record, node, InstanceAction.KEEP, NOT_TAKEN_ALONG))


def _restarts(draft: Draft, member: PlannedInstance) -> bool:
    """Whether it may help to stop and start an instance by itself: something starts it, and it was configured
    completely. Not for a host, which would take down what it carries."""
    node = member.template
    if node.is_compute or draft.sequences.is_delegated(node) or unmade(draft, node, member.record):
        return False
    if not may_run(draft, member) and member.record.state != CONFIGURED:
        return False
    calls = draft.calls.all
    return any(calls[e.call].artifact and e.relationship is None for e in draft.sequences.making(node).start)


def _only_what_is_left(step: DraftStep, root: str) -> None:
    """After a restart that did not help, an instance is taken down only as far as something is left to be undone, and
    need not be stopped once more."""
    if step.after_failure and step.condition in (StepCondition.ALWAYS, StepCondition.UNLESS_ABSENT):
        step.condition = StepCondition.IF_LEFT
        if step.stage is not None and step.stage.leave == CONFIGURED and step.owner == root:
            step.optional = True


def _first_missed(draft: Draft, root: str) -> str:
    """The outermost missed host of an instance, else the instance itself."""
    hosts = chain(draft.snapshot, draft.snapshot.instances[root].host)
    missed = [host.id for host in takewhile(lambda host: host.is_missed, hosts)]
    return missed[-1] if missed else root


def _near(draft: Draft, names: Iterable[str]) -> frozenset[str]:
    """The nodes of what some instances contain, and those that have a relationship with one of these."""
    records, service = draft.snapshot.instances, draft.service
    found = {records[i].node: None for name in names if name for i in draft.contained(name)}
    own = [name for name in found if name in service.nodes]
    for form in draft.forms.known:
        for name in own:
            found |= dict.fromkeys(r.source for r in form.service.incoming.get(name, ()))
            if name in form.service.nodes:
                found |= dict.fromkeys(r.target for r in form.service.nodes[name].requirements)
    return frozenset(found)
