"""Transform: before anything is replaced, check whether that is needed, and try to repair in place.

For each instance that is asked for: its ``check``; unless that says ok its ``heal``, and its check once more.
Everything else in the plan comes after a filter on the result, and is left out if that is ok.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from ordito.planning.draft import Draft
from ordito.planning.planned_instances import DraftStep, InstanceAction, PlannedInstance
from ordito.planning.probes import can_be_looked_at, look_at, probe
from ordito.work.plan import Action, Gate, StepCondition
from ordito.work.probes import CHECK, HEAL, maintaining

WHETHER = "whether"
"""The name of the step that decides whether an instance has to be replaced."""

KNOWN = "known"
"""The name of the step that decides whether the status of a host could be found out."""


def repair_first(draft: Draft) -> None:
    """Check and repair first, if every instance that is asked for can be checked or repaired; otherwise everything is
    replaced in any case."""
    chosen = [m for m in draft.members.values() if m.id in (draft.options.instances or ())]
    if draft.options.healing.reinstall or not all(can_be_repaired(draft, member) for member in chosen):
        _hosts_first(draft, {}, len(draft.steps))
        return
    draft.repairs_first = True
    for member in draft.members.values():
        if member.action is InstanceAction.REPLACE:
            member.reason += ", if not all that are to be healed are found to be ok"
    first = len(draft.steps)
    own = [number for number, step in enumerate(draft.steps) if step.action is not Action.JOIN]
    asked = {member.id: check_and_repair(draft, member) for member in chosen}
    found = list(asked.values())
    looks = [filter_not_ok(draft, member) for member in chosen]
    for last in found:
        for look in looks:
            draft.edge(last, look, draft.why("everything is tried before anything is replaced"))
    last, reason = looks[0], draft.why("only what could not be repaired is replaced")
    if len(looks) > 1:
        last = draft.join(WHETHER, reason, gate=Gate.ANY)
        for look in looks:
            draft.edge(look, last, reason)
    for number in own:
        step = draft.steps[number]
        step.gate = Gate.ALL
        draft.edge(last, number, reason)
    _hosts_first(draft, asked, first)


def _hosts_first(draft: Draft, asked: Mapping[str, int], first: int) -> None:
    """First find out whether the hosts that are replaced can be reached: on those that cannot, nothing is checked,
    repaired or taken down; and if one refuses the login nothing is done at all. ``asked`` are the instances that are
    asked for, each with the last step that checks it; ``first`` is the first of the steps that check and repair."""
    before = len(draft.steps)
    looks: dict[str, int] = {}
    for member in list(draft.members.values()):
        is_host = member.action is InstanceAction.REPLACE and member.template.is_compute and member.record.exists
        if not is_host or not can_be_looked_at(draft, member):
            continue
        if member.id not in asked or maintaining(member.template, CHECK) is not None:
            looks[member.id] = look_at(draft, member, "whether its host can be reached is found out first")
            make_optional(draft.steps[looks[member.id]])
    reason = draft.why("nothing is tried on a host that cannot be reached")
    for number, step in enumerate(draft.steps[:before]):
        place = step.runs_on or (draft.compute_of(step.owner) if step.action is Action.DELEGATE else "")
        if place in looks and step.after_failure:
            draft.edge(looks[place], number, reason)
            if step.non_blocking and not step.condition:
                step.condition = StepCondition.UNLESS_LOST
    looked_at = _looked_at(draft, asked, looks)
    if not (looks or looked_at):
        return
    known, reason = filter_known(draft, {**looks, **looked_at}), draft.why("what is not known to be gone is left alone")
    for number, step in enumerate(draft.steps[:before]):
        if step.action is not Action.JOIN and not (number >= first and step.owner in looked_at):
            step.gate = Gate.ALL
            draft.edge(known, number, reason)


def _looked_at(draft: Draft, asked: Mapping[str, int], looks: Mapping[str, int]) -> dict[str, int]:
    """The hosts that are asked for together with others, each with its own check: the results of the others do not
    count if a login is refused."""
    if len(asked) < 2:
        return {}
    hosts = (draft.members[i] for i in asked if i not in looks and draft.members[i].template.is_compute)
    return {m.id: asked[m.id] for m in hosts if can_be_looked_at(draft, m)}


def filter_known(draft: Draft, looks: Mapping[str, int]) -> int:
    """The step with which everything is left out if one of the checked hosts refuses the login, or its provider cannot
    be asked: what runs there must not be forgotten, and started a second time."""
    reason = draft.why("whether it was found out how the host is")
    found = []
    for instance, look in looks.items():
        member = draft.members[instance]
        call = draft.calls.nothing(member.template, "ordito", KNOWN)
        step = DraftStep(f"{instance}.ordito.{KNOWN}", Action.FILTER, instance, instance, call=call)
        step.after_failure, step.reason, step.condition = True, reason, StepCondition.IF_KNOWN
        found.append(draft.add(step))
        draft.edge(look, found[-1], reason)
    if len(found) == 1:
        return found[0]
    join = draft.join(KNOWN, reason, gate=Gate.ALL)
    for number in found:
        draft.edge(number, join, reason)
    return join


def can_be_repaired(draft: Draft, member: PlannedInstance) -> bool:
    """Whether an instance can be found to be ok, or be repaired; what is gone is created again in any case."""
    if member.is_lost:
        return False
    return any(maintaining(member.template, name) is not None for name in (CHECK, HEAL)) or can_be_looked_at(
        draft, member
    )


def check_and_repair(draft: Draft, member: PlannedInstance) -> int:
    """The steps that check an instance, and try to repair it; returns the last one's number."""
    checks = maintaining(member.template, CHECK) is not None or can_be_looked_at(draft, member)
    steps: list[int] = []
    if checks:
        steps.append(_step(draft, member, CHECK, "it is checked first"))
    if maintaining(member.template, HEAL) is not None:
        steps.append(_step(draft, member, HEAL, "it is repaired in place, if that can be"))
        if checks:
            draft.steps[steps[-1]].condition = StepCondition.UNLESS_OK
            steps.append(_step(draft, member, CHECK, "it is checked whether that has repaired it", again=True))
            draft.steps[steps[-1]].condition = StepCondition.UNLESS_OK
        else:
            draft.steps[steps[-1]].closes = True
    for before, after in pairwise(steps):
        draft.edge(before, after, draft.why("it is checked, repaired, and checked again"))
    return steps[-1]


def _step(draft: Draft, member: PlannedInstance, name: str, reason: str, *, again: bool = False) -> int:
    """A step that the job can do without: what it does not find out or repair is replaced."""
    number = probe(draft, member, name, reason)
    assert number is not None
    step = draft.steps[number]
    make_optional(step, is_check=name == CHECK)
    if again:
        step.id += ".again"
    return number


def make_optional(step: DraftStep, *, is_check: bool = True) -> None:
    step.optional = True
    step.non_blocking = is_check
    step.replaces = step.action is Action.DELEGATE


def filter_not_ok(draft: Draft, member: PlannedInstance) -> int:
    """The step that is left out if an instance is ok, with everything that follows."""
    call = draft.calls.nothing(member.template, "ordito", WHETHER)
    return draft.add(
        DraftStep(
            f"{member.id}.ordito.{WHETHER}",
            Action.FILTER,
            member.id,
            member.id,
            call=call,
            after_failure=True,
            reason=draft.why("whether it has to be replaced"),
            condition=StepCondition.UNLESS_OK,
        )
    )
