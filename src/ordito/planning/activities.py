"""Lists of activities as steps of a plan: what workflow steps and the actions of triggers have in common (§3.6.23).

The activities of a list follow each other; each happens at every instance, or every pair, of its target at the same
time, and the next begins when it has ended well at all of them. What inlines a workflow ends with that workflow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Protocol

import msgspec

from ordito.base.suggest import nearest
from ordito.instances.lifecycle import DELETES, Side
from ordito.instances.records import link_id
from ordito.instances.states import DELETED
from ordito.model.imperative import Activity
from ordito.model.operation import Operation, interface_named
from ordito.model.service import STANDARD, NodeTemplate
from ordito.planning.chains import in_sequence, set_states
from ordito.planning.draft import Draft
from ordito.planning.implemented import where_run
from ordito.planning.links import pair_step, was_begun
from ordito.planning.mapped_inputs import refuse_of_caller, warn_of_unused, workflow_inputs
from ordito.planning.operation_sequence import Where
from ordito.planning.pairing import Pairing
from ordito.planning.planned_instances import DraftStep, PlannedInstance
from ordito.planning.spots import ActivitySpot, spots_of
from ordito.work.activities import Written
from ordito.work.plan import Action, Gate, Scope
from ordito.work.workflow_progress import NOTHING_CARRIED, Carried

NO_FILTERS: Mapping[str, Sequence[int]] = {}


class ActivitySetting(msgspec.Struct, frozen=True):
    """Where a list of activities stands, and what it is about.

    ``name`` begins the ids of its steps, ``holder`` is its place in the service (see ``work.activities``). ``target``,
    ``requirement`` and ``operation_host`` are what a workflow step says ("" for a target where all is inlined).
    ``scope`` is the index of the inputs that ``get_input`` finds first, -1 for none. ``reason`` is why its steps run.
    With ``after_failure`` what follows a failure runs too; with ``filtered`` the step has a filter. Where they
    ``may_be_left_out`` the step before the first is one that may be, and then nothing of them runs. ``depth`` is the
    number of workflows around them, ``entered`` why the first of them waits for what comes before ("" within a step),
    ``carried`` what an earlier job has carried out of them, ``wanted`` are the
    outputs of these workflows. ``first`` is the place of the first activity in what ``holder`` holds.
    """

    name: str
    holder: Written
    target: str = ""
    requirement: str = ""
    operation_host: str = ""
    scope: int = -1
    reason: str = ""
    entered: str = ""
    after_failure: bool = False
    filtered: bool = False
    may_be_left_out: bool = False
    depth: int = 0
    carried: Carried = NOTHING_CARRIED
    first: int = 0
    wanted: tuple[str, ...] = ()


class Woven(msgspec.Struct, frozen=True):
    """Activities in a draft: all ``steps`` that may fail, and the ``end``: what follows them waits for it."""

    steps: tuple[int, ...]
    end: int


class Inlines(Protocol):
    """Weaves the steps of a workflow that an activity names, between ``begin`` and what it gives."""

    def __call__(
        self,
        activity: Activity,
        number: int,
        setting: ActivitySetting,
        spots: Sequence[ActivitySpot],
        begin: int,
        filters: Mapping[str, Sequence[int]],
    ) -> Woven:
        """Weave them."""


def is_delete(node: NodeTemplate, operation: Operation) -> bool:
    """Whether an operation is the one that removes instances of a node."""
    interface = node.interfaces.get(operation.interface)
    return operation.name in DELETES and interface is not None and STANDARD in interface.kinds


class StepIds:
    """The ids of a plan's steps: each is used once."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """The id itself, or with a number behind it where it is in use."""
        count = self._used[wanted] = self._used.get(wanted, 0) + 1
        return wanted if count == 1 else self.take(f"{wanted}.{count}")


class Weaver:
    """Weaves activities into a draft; ``inlines`` does so with workflows. All of one plan share ``names``."""

    def __init__(self, draft: Draft, inlines: Inlines, names: StepIds) -> None:
        self._draft = draft
        self._inlines = inlines
        self._names = names
        self._removed: dict[str, DraftStep] = {}
        self._in_order = draft.why("activities of a step follow each other")
        self._filtered = draft.why("a filter decides where an activity happens")
        self._at_all = draft.why("an activity has ended when it has at every instance")

    def weave(
        self,
        setting: ActivitySetting,
        activities: Sequence[Activity],
        begin: int,
        filters: Mapping[str, Sequence[int]] = NO_FILTERS,
    ) -> Woven:
        """Weave activities, the first of which waits for the step ``begin``. ``filters`` are the filter steps that
        decide, by instance and link, whether activities happen there."""
        if setting.target in self._draft.service.substituted:
            return self._on_stand_in(setting, activities, begin, filters)
        return self._on_instances(setting, activities, begin, filters)

    def _on_instances(
        self, setting: ActivitySetting, activities: Sequence[Activity], begin: int, filters: Mapping[str, Sequence[int]]
    ) -> Woven:
        draft = self._draft
        spots: tuple[ActivitySpot, ...] = ()
        if setting.target:
            spots = spots_of(draft, setting.target, setting.requirement, setting.operation_host)
        self._warn_of_no_place(setting, activities, spots)
        steps: list[int] = []
        if setting.filtered:
            filters = self._filters(setting, spots, begin, filters)
            steps += [number for found in filters.values() for number in found]
        end = begin
        for number, activity in enumerate(activities, setting.first):
            if activity.kind == "inline":
                around = setting if end == begin else msgspec.structs.replace(setting, entered="")
                woven = self._inlines(activity, number, around, spots, end, filters)
                steps += woven.steps
                end = woven.end
                continue
            if activity.kind == "delegate":
                self._check_delegated(setting, activity)
            lasts: list[int] = []
            for spot in spots:
                if self._was_left_out(setting, filters.get(spot.id, ())):
                    continue
                made = self._at(setting, activity, number, spot)
                if made:
                    entered = self._entered(setting)
                    if filters and setting.may_be_left_out and end != begin:
                        draft.edge(begin, made[0], entered)
                    why = entered if end == begin else self._in_order
                    self._after(made[0], end, filters.get(spot.id, ()), why, gated=setting.may_be_left_out)
                    self._carry(setting, made)
                    steps += made
                    lasts.append(made[-1])
            end = self._joined(setting, activity, lasts, end, guarded=bool(filters))
        return Woven(tuple(steps), end)

    def _warn_of_no_place(
        self, setting: ActivitySetting, activities: Sequence[Activity], spots: Sequence[ActivitySpot]
    ) -> None:
        if not spots and any(a.kind != "inline" for a in activities):
            what = f'the links of "{setting.requirement}" of' if setting.requirement else "instances of"
            message = f'"{setting.name}" does nothing: there are no {what} "{setting.target}"'
            self._draft.diagnostics.warning("no-instance", message, None)

    def output_steps(
        self, setting: ActivitySetting, spots: Sequence[ActivitySpot], name: str, before: int
    ) -> list[int]:
        """A step at each place that writes an output of a workflow, once that workflow has ended."""
        draft, found = self._draft, []
        why = draft.why("the outputs of a workflow are written at its end")
        for spot in spots:
            step = self._step(setting, spot, name, self._call(spot, "output", name), why)
            step.action, step.written = Action.OUTPUT, setting.holder
            number = draft.add(step)
            self._after(number, before, (), why, gated=setting.may_be_left_out)
            found.append(number)
        return found

    def _was_left_out(self, setting: ActivitySetting, filters: Sequence[int]) -> bool:
        """Whether an earlier job has found that a place does not pass its filters."""
        left_out = setting.carried.left_out
        return bool(left_out) and any(self._draft.steps[number].id in left_out for number in filters)

    def _carry(self, setting: ActivitySetting, steps: Sequence[int]) -> None:
        """Have steps that an earlier job has carried out only keep the order. Steps that handle a failure are not among
        them: they are planned again."""
        if setting.carried.done and not setting.may_be_left_out:
            for number in steps:
                step = self._draft.steps[number]
                step.done |= step.id in setting.carried.done

    # ------------------------------------------------------------------------- nodes that topologies stand for

    def _on_stand_in(
        self, setting: ActivitySetting, activities: Sequence[Activity], begin: int, filters: Mapping[str, Sequence[int]]
    ) -> Woven:
        """Activities on a node that is substituted by a topology: what an operation is mapped to there (§3.8.12), and
        states of everything inside."""
        draft, name, end = self._draft, setting.target, begin
        inside = msgspec.structs.replace(setting, target="")
        steps: list[int] = []
        if setting.filtered:
            self._refuse_on_stand_in(f'"{setting.name}" has a filter about "{name}"', activities[0], name)
        for number, activity in enumerate(activities, setting.first):
            about = [msgspec.structs.replace(inside, first=number)]
            if activity.kind == "set_state":
                nodes = draft.service.substituted[name].nodes
                about = [msgspec.structs.replace(about[0], target=node) for node in nodes]
            elif activity.kind != "inline":
                found = self._mapped(inside, activity, number, name)
                if found is None:
                    continue
                activity, about = found[1], [found[0]]
            woven = [self.weave(one, [activity], end, filters) for one in about]
            steps += [step for part in woven for step in part.steps]
            if len(woven) == 1:
                end = woven[0].end
            else:
                gate = Gate.ALL if setting.may_be_left_out else Gate.NONE
                join = draft.join(
                    f"{setting.name}.{number}", self._at_all, after_failure=setting.after_failure, gate=gate
                )
                for part in woven:
                    draft.edge(part.end, join, self._at_all)
                end = join
        return Woven(tuple(steps), end)

    def _mapped(
        self, setting: ActivitySetting, activity: Activity, number: int, name: str
    ) -> tuple[ActivitySetting, Activity] | None:
        """What an operation of such a node is mapped to, as an activity and where that is; None with a diagnostic."""
        draft, substituted = self._draft, self._draft.service.substituted[name]
        found = interface_named(substituted.template.interfaces, activity.interface)
        target = substituted.operations.get(f"{found.name}.{activity.operation}") if found is not None else None
        if target is None or activity.kind != "call_operation":
            self._refuse_on_stand_in(f'{activity.name} of "{name}" is mapped to nothing', activity, name)
            return None
        if isinstance(target, tuple):
            node, interface, operation = target
            called = Activity(
                "call_operation", f"{interface}.{operation}", interface, operation, activity.inputs, activity.span
            )
            refuse_of_caller(draft, activity, name, ".".join(target))
            return msgspec.structs.replace(setting, target=node, first=number), called
        warn_of_unused(draft, activity, name, target)
        given = workflow_inputs(draft, substituted.template, found, activity.operation, target, activity.inputs)
        place = (*setting.holder, str(number)) if activity.inputs else ()
        if given or place:
            draft.scopes.append(Scope(target, given, place, setting.scope, name))
            setting = msgspec.structs.replace(setting, scope=len(draft.scopes) - 1)
        return msgspec.structs.replace(setting, first=0), Activity("inline", target)

    def _refuse_on_stand_in(self, what: str, activity: Activity, name: str) -> None:
        substituted = self._draft.service.substituted[name]
        self._draft.diagnostics.error(
            "unknown-operation",
            f"{what}, and {substituted.file} stands for that node",
            activity.span,
            hint=f"name what is inside: {', '.join(substituted.nodes)}",
        )

    def filter_steps(
        self,
        setting: ActivitySetting,
        filters: ActivitySetting,
        spots: Sequence[ActivitySpot],
        begin: int,
        *,
        gated: bool,
    ) -> dict[str, list[int]]:
        """A step at each place that evaluates whether a condition holds there; ``filters`` holds the condition."""
        draft, found, condition = self._draft, {}, filters.holder
        why, entered = draft.why(filters.reason), self._entered(setting)
        for spot in spots:
            step = self._step(filters, spot, "filter", self._call(spot, "step", "filter"), why)
            step.action, step.written = Action.FILTER, condition
            number = draft.add(step)
            self._after(number, begin, (), entered, gated=gated)
            self._carry(setting, [number])
            found[spot.id] = [number]
        return found

    def _filters(
        self, setting: ActivitySetting, spots: Sequence[ActivitySpot], begin: int, before: Mapping[str, Sequence[int]]
    ) -> dict[str, list[int]]:
        gated = setting.may_be_left_out or bool(before)
        filtering = ActivitySetting(setting.name, setting.holder, reason=f"the filter of {setting.reason}")
        found = self.filter_steps(setting, filtering, spots, begin, gated=gated)
        for spot in spots:
            for number in before.get(spot.id, ()):
                self._draft.edge(number, found[spot.id][0], self._filtered)
        return found

    def _entered(self, setting: ActivitySetting) -> int:
        """Why the first activity waits for what comes before it."""
        return self._draft.why(setting.entered) if setting.entered else self._in_order

    def _after(self, number: int, before: int, filters: Sequence[int], why: int, *, gated: bool) -> None:
        step = self._draft.steps[number]
        if gated or filters:
            step.gate = Gate.ALL
        self._draft.edge(before, number, why)
        for one in filters:
            self._draft.edge(one, number, self._filtered)

    def _joined(
        self, setting: ActivitySetting, activity: Activity, lasts: list[int], before: int, *, guarded: bool
    ) -> int:
        """The step that stands for the end of an activity at every place; what is left out by a filter has ended."""
        if not lasts:
            return before
        if len(lasts) == 1 and not guarded:
            return lasts[0]
        gate = Gate.ALL if setting.may_be_left_out and not guarded else Gate.NONE
        name = f"{setting.name}.{activity.name}"
        join = self._draft.join(name, self._at_all, after_failure=setting.after_failure, gate=gate)
        for last in lasts:
            self._draft.edge(last, join, self._at_all)
        return join

    # ------------------------------------------------------------------------------------------- one activity, once

    def _at(self, setting: ActivitySetting, activity: Activity, number: int, spot: ActivitySpot) -> list[int]:
        """The steps of an activity at one place, each after the one before; none where there is nothing to do."""
        if activity.kind == "delegate":
            return self._delegate(setting, activity, spot)
        why = self._draft.why(setting.reason)
        if activity.kind == "set_state":
            call = self._call(spot, "set_state", activity.name)
            step = self._step(setting, spot, self._draft.calls.all[call].name, call, why)
            step.action, step.leave = Action.SET_STATE, activity.name
            return [self._draft.add(step)]
        found = interface_named(spot.owner.interfaces, activity.interface)
        operation = found.operations.get(activity.operation) if found is not None else None
        if operation is None:
            self._refuse(activity, spot)
            return []
        called = self._draft.calls.of_activity(
            spot.owner,
            spot.side,
            operation,
            activity,
            (*setting.holder, str(number)),
            setting.scope,
            setting.wanted,
        )
        step = self._step(setting, spot, self._draft.calls.all[called].name, called, why)
        step.runs_on = self._runs_on(setting, operation, spot)
        if self._draft.workflow.removes and spot.side is Side.NODE and is_delete(spot.near.template, operation):
            step.leave = DELETED
        return [self._draft.add(step)]

    def _step(self, setting: ActivitySetting, spot: ActivitySpot, name: str, call: int, why: int) -> DraftStep:
        source = spot.far if spot.side is Side.TARGET and spot.far is not None else spot.near
        return DraftStep(
            self._names.take(f"{setting.name}.{spot.id}.{name}"),
            Action.CALL,
            source.id,
            spot.near.id,
            spot.far.id if spot.far is not None else "",
            spot.link,
            call,
            after_failure=setting.after_failure,
            reason=why,
        )

    def _call(self, spot: ActivitySpot, interface: str, name: str) -> int:
        return self._draft.calls.bare(spot.owner, spot.side, interface, name)

    def _runs_on(self, setting: ActivitySetting, operation: Operation, spot: ActivitySpot) -> str:
        """Where an operation runs: as the step says, else as for the lifecycle."""
        node = spot.near.template
        is_own = spot.side is Side.NODE and setting.target in self._draft.service.nodes
        if is_own and setting.operation_host:
            operation = msgspec.structs.replace(operation, operation_host=setting.operation_host)
        interface = node.interfaces.get(operation.interface) if spot.side is Side.NODE else None
        where = where_run(operation, node, spot.side, lifecycle=interface is not None and STANDARD in interface.kinds)
        if where is Where.ORCHESTRATOR:
            return ""
        return self._draft.runs_on(where, spot.near.id, spot.far.id if spot.far is not None else "")

    def _delegate(self, setting: ActivitySetting, activity: Activity, spot: ActivitySpot) -> list[int]:
        """The workflow of a single node: what its provider does, or the operations of its own lifecycle."""
        draft, member = self._draft, spot.near
        name = DELEGATED.get(activity.name)
        if name is None or not isinstance(spot.owner, NodeTemplate):
            return []
        again = member.id in self._removed
        if name == DEPLOYS:
            numbers = deploys(draft, member, after_failure=setting.after_failure, again=again)
        else:
            numbers = undeploys(draft, member, after_failure=setting.after_failure)
        why = draft.why(setting.reason)
        steps = [draft.steps[number] for number in numbers]
        for step in steps:
            step.id = self._names.take(f"{setting.name}.{step.id}")
            step.reason, step.counts = why, True
        if steps and name == UNDEPLOYS:
            self._removed[member.id] = steps[-1]
        elif steps and again:
            # It is as new then, whatever is left of it.
            self._removed.pop(member.id).replaces = steps[0].replaces = steps[-1].replaces = True
        return numbers

    def _check_delegated(self, setting: ActivitySetting, activity: Activity) -> None:
        near = nearest(activity.name, DELEGATED)
        hint = f'did you mean "{near[0]}"?' if near else f"there are {DEPLOYS} and {UNDEPLOYS}"
        if setting.requirement:
            message = f'"{activity.name}" is delegated to a relationship'
            self._draft.diagnostics.error("unknown-workflow", message, activity.span, hint="delegate to a node")
        elif activity.name not in DELEGATED:
            message = f'"{activity.name}" is delegated to "{setting.target}", and nothing that provides it does that'
            self._draft.diagnostics.error("unknown-workflow", message, activity.span, hint=hint)
        elif activity.inputs:
            message = f'what is delegated to "{setting.target}" takes no inputs'
            self._draft.diagnostics.warning("unused-inputs", message, activity.span)

    def _refuse(self, activity: Activity, spot: ActivitySpot) -> None:
        known = [f"{i.name}.{o}" for i in spot.owner.interfaces.values() for o in i.operations]
        near = nearest(activity.name, known)
        self._draft.diagnostics.error(
            "unknown-operation",
            f'{spot.id} has no operation "{activity.name}"',
            activity.span,
            hint=f'did you mean "{near[0]}"?' if near else "",
        )


# The workflow of a single node: what its provider does, or the operations of its own lifecycle, with its links to what
# it requires.


DEPLOYS, UNDEPLOYS = "deploy", "undeploy"
DELEGATED = {DEPLOYS: DEPLOYS, "install": DEPLOYS, UNDEPLOYS: UNDEPLOYS, "uninstall": UNDEPLOYS}
"""The workflows of single nodes, by their names and by other words for them."""


def deploys(draft: Draft, member: PlannedInstance, *, after_failure: bool, again: bool) -> list[int]:
    """The steps that create an instance and link it, in order. What the record shows as done is not done again, since a
    provider would create the node a second time; with ``again``, because the plan has removed it before, everything is
    done."""
    record, sequence = member.record, draft.sequences.making(member.template)
    done = record.applied if record.exists and record.created and not again else {}
    entries = tuple(e for e in sequence.install if e.key not in done)
    chain = in_sequence(draft, member, entries, form=draft.forms.own, after_failure=after_failure) if entries else []
    return _finished(draft, chain, list(_links(draft, member, again=again)), pairs_first=False)


def _links(draft: Draft, member: PlannedInstance, *, again: bool) -> Iterator[int]:
    pairing, node = Pairing(draft), member.template.name
    for pairs in draft.sequences.making(member.template).link:
        relationship = pairs.relationship
        for target in pairing.wanted(member, relationship):
            link = draft.snapshot.links.get(link_id(relationship.key, node, member.id, target.id))
            done = link.applied if link is not None and not again else {}
            for entry in pairs.entries:
                if entry.key not in done:
                    yield pair_step(draft, member, target, relationship, entry)


def undeploys(draft: Draft, member: PlannedInstance, *, after_failure: bool) -> list[int]:
    """The steps that undo the links of an instance and remove it, in order."""
    form = draft.falling(member)
    pairing, sequence = Pairing(draft), form.sequences.removing(form.service.nodes[member.template.name])
    undone: list[int] = []
    for pairs in sequence.unlink:
        for target in reversed(pairing.targets(member, pairs.relationship)):
            if was_begun(draft, member, target, pairs):
                undone += [pair_step(draft, member, target, pairs.relationship, e) for e in pairs.entries]
    for number in undone:
        draft.steps[number].after_failure = after_failure
    chain = in_sequence(draft, member, sequence.uninstall, form=form, after_failure=after_failure)
    return _finished(draft, chain, undone, pairs_first=True)


def _finished(draft: Draft, chain: list[int], pairs: list[int], *, pairs_first: bool) -> list[int]:
    """The operations of an instance, which follow each other already, and those of its pairs, with the states that they
    pass through."""
    order = draft.why("the order of the lifecycle")
    numbers = [*pairs, *chain] if pairs_first else [*chain, *pairs]
    own = set(chain)
    for before, after in pairwise(numbers):
        if before not in own or after not in own:
            draft.edge(before, after, order)
    steps = [draft.steps[number] for number in numbers]
    if steps:
        steps[0].opens, steps[-1].closes = True, True
        set_states(steps)
    return numbers
