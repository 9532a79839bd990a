"""The workflows: each is a tuple of transforms that are applied to a draft, one after the other.

A transform reads the draft and changes it, and reports what is wrong with the service as diagnostics; after a transform
that has found errors no other runs, save the checks that only look. Nothing here has an effect on anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import msgspec

from ordito.base.diagnostics import Severity
from ordito.base.suggest import nearest
from ordito.instances.records import Snapshot
from ordito.model.service import Service
from ordito.planning.adopt import adopt, forget, forget_leftovers, form
from ordito.planning.cascade import cascade
from ordito.planning.chains import install_chains, stages, uninstall_chains
from ordito.planning.checks import (
    check_called_inputs,
    check_capabilities,
    check_dependencies,
    check_executors,
    check_existing,
    check_interpreters,
    check_references,
    check_requirements,
)
from ordito.planning.choose_instances import all_instances, choose_instances
from ordito.planning.choose_moved import choose_restarted, choose_started, choose_stopped
from ordito.planning.counts import counts
from ordito.planning.decide import decide, decide_begun
from ordito.planning.draft import Draft
from ordito.planning.freeze import freeze
from ordito.planning.imperative import actions, preconditions, stay, there_are, written
from ordito.planning.in_turn import in_turn, takes_turns, warn_of_no_turns
from ordito.planning.keep import keep, refuse_replaced
from ordito.planning.kept_attributes import warn_of_kept_attributes
from ordito.planning.links import links, unlinks
from ordito.planning.lossy_steps import check_lossy
from ordito.planning.mapped import mapped
from ordito.planning.notify_peers import notify_peers
from ordito.planning.options import PlanOptions, Turns
from ordito.planning.part import all_of_part, check_part, is_about_part, left_out, taken_along, with_needed
from ordito.planning.phases import phases, removal_phases, without_steps
from ordito.planning.placement import check_placement
from ordito.planning.probes import ask_first, existing, looking
from ordito.planning.reduce import reduce
from ordito.planning.refused import PlanRefused
from ordito.planning.repair import repairing, say_unrepaired
from ordito.planning.roll_back import choose_made, take_back
from ordito.planning.run_operation import run_operation, run_waits
from ordito.planning.scaling import scale_instances
from ordito.planning.second_pass import second_pass
from ordito.planning.skip_done import skip_done
from ordito.planning.stop_first import stop_first
from ordito.planning.undo_hooks import undo_hooks
from ordito.planning.waits import install_waits, uninstall_waits
from ordito.planning.widening import widening
from ordito.work.plan import Change, Plan
from ordito.work.workflows import ALIASES, workflow_of

Transform = Callable[[Draft], None]

ROLLBACK_OF_JOB = "rollback of a job"
"""The rollback of a job that has failed; no command asks for it by name."""

UNDOING = "undoing of lifecycle steps"
"""The plan for a job of which nothing but lifecycle steps can be rolled back."""

LAYING: tuple[Transform, ...] = (
    check_dependencies,
    install_chains,
    uninstall_chains,
    links,
    unlinks,
    skip_done,
    stop_first,
    mapped,
    install_waits,
    uninstall_waits,
    stages,
)
"""From the actions of the instances to their steps, if a part of what exists is taken down and up again."""

REPAIR = repairing(LAYING)

TO_A_DESCRIPTION: tuple[Transform, ...] = (
    check_requirements,
    check_references,
    check_existing,
    counts,
    check_capabilities,
    choose_instances,
    decide,
    cascade,
    second_pass,
    refuse_replaced,
    check_part,
    check_placement,
    REPAIR,
    install_chains,
    uninstall_chains,
    links,
    unlinks,
    skip_done,
    forget_leftovers,
    adopt,
    stop_first,
    ask_first,
    mapped,
    install_waits,
    uninstall_waits,
    in_turn,
    stages,
    form,
    forget,
    notify_peers,
    say_unrepaired,
    phases,
    check_lossy,
    undo_hooks,
    warn_of_kept_attributes,
    Draft.end_stages,
    reduce,
)
"""Bringing what exists to what a service says: the same for deploying and upgrading."""

GOING_BACK = tuple(transform for transform in TO_A_DESCRIPTION if transform is not REPAIR)
"""Only what has gone wrong is undone; anything else that is broken is left for the next deployment to repair."""

WORKFLOWS: Mapping[str, tuple[Transform, ...]] = {
    "deploy": TO_A_DESCRIPTION,
    "upgrade": TO_A_DESCRIPTION,
    "rollback": GOING_BACK,
    "undeploy": (
        check_requirements,
        all_of_part,
        keep,
        uninstall_chains,
        unlinks,
        skip_done,
        ask_first,
        mapped,
        uninstall_waits,
        stages,
        removal_phases,
        check_lossy,
        reduce,
    ),
    "stop": (
        check_requirements,
        choose_stopped,
        uninstall_chains,
        unlinks,
        skip_done,
        mapped,
        uninstall_waits,
        stages,
        notify_peers,
        reduce,
    ),
    "start": (
        check_requirements,
        choose_started,
        check_dependencies,
        install_chains,
        links,
        skip_done,
        stop_first,
        mapped,
        install_waits,
        stages,
        notify_peers,
        reduce,
    ),
    "restart": (
        check_requirements,
        choose_restarted,
        *LAYING,
        notify_peers,
        reduce,
    ),
    "heal": (check_requirements, widening(LAYING), notify_peers, reduce),
    "scale": (
        check_requirements,
        scale_instances,
        check_capabilities,
        decide_begun,
        check_placement,
        *LAYING,
        notify_peers,
        reduce,
    ),
    "check": (check_requirements, existing, looking("check"), install_waits, notify_peers, reduce),
    "discover": (check_requirements, existing, looking("discover"), install_waits, notify_peers, reduce),
    "tell": (check_requirements, existing, notify_peers, reduce),
    "run": (check_requirements, existing, run_operation, run_waits, check_called_inputs, notify_peers, reduce),
    ROLLBACK_OF_JOB: (
        check_requirements,
        choose_made,
        install_chains,
        uninstall_chains,
        unlinks,
        take_back,
        skip_done,
        mapped,
        uninstall_waits,
        stages,
        undo_hooks,
        reduce,
    ),
    UNDOING: (check_requirements, existing, undo_hooks, reduce),
}
"""By name, in the order in which they are applied."""

WRITTEN: tuple[Transform, ...] = (
    check_requirements,
    there_are,
    preconditions,
    written,
    check_called_inputs,
    notify_peers,
    reduce,
)
"""A workflow of the template, by its own name."""

TRIGGERED: tuple[Transform, ...] = (check_requirements, there_are, actions, check_called_inputs, notify_peers, reduce)
"""The actions of a trigger."""

OVERRIDDEN: Mapping[str, tuple[Transform, ...]] = {
    "deploy": (
        check_requirements,
        check_references,
        check_existing,
        counts,
        check_capabilities,
        choose_instances,
        stay,
        preconditions,
        written,
        check_called_inputs,
        notify_peers,
        without_steps,
        reduce,
    ),
    "undeploy": (check_requirements, all_instances, keep, preconditions, written, without_steps, reduce),
}
"""Workflows of the template that replace normative ones (§7.1)."""

GOES_ON = frozenset(
    {
        check_requirements,
        check_references,
        check_existing,
        counts,
        check_capabilities,
        choose_instances,
        scale_instances,
        decide,
    }
)
"""Transforms after which others can look for more errors, even if they have found some themselves."""


def plan(
    workflow: str,
    service: Service,
    snapshot: Snapshot,
    inputs: Mapping[str, object],
    options: PlanOptions,
) -> Plan:
    """The plan of a workflow for a service, from what exists; equal arguments give equal plans.

    Where ``options.written`` names a workflow of the template, that one is planned: under a name of its own, or instead
    of a normative one. With ``options.acting`` the actions of a trigger are planned.

    Raises ``PlanRefused`` with every reason against it, and ``ValueError`` for an unknown workflow.
    """
    name = ALIASES.get(workflow, workflow)
    transforms = _transforms(name, options)
    if transforms is None:
        near = nearest(name, WORKFLOWS)
        raise ValueError(f'there is no workflow "{workflow}"' + (f', did you mean "{near[0]}"?' if near else ""))
    if not is_about_part(options, workflow_of(name)):
        return _planned(name, transforms, service, snapshot, inputs, replace(options, part=None))
    partial = _planned(name, transforms, service, snapshot, inputs, options)
    try:
        whole = _planned(name, transforms, service, snapshot, inputs, replace(options, part=None))
    except PlanRefused:
        return _of_part(partial)
    more = left_out(partial, whole)
    if not more:
        return whole
    # What is as it is wanted need not be said to be in the form in which it was.
    lagging = {change.instance for change in (*partial.changes, *more)}
    older = {name: form for name, form in partial.records.older.items() if name in lagging}
    records = msgspec.structs.replace(partial.records, older=older)
    return _of_part(msgspec.structs.replace(partial, records=records), more)


def _of_part(plan: Plan, left_out: tuple[Change, ...] = ()) -> Plan:
    summary = msgspec.structs.replace(plan.summary, is_part=True, left_out=left_out)
    return msgspec.structs.replace(plan, summary=summary)


def _planned(
    name: str,
    transforms: tuple[Transform, ...],
    service: Service,
    snapshot: Snapshot,
    inputs: Mapping[str, object],
    options: PlanOptions,
) -> Plan:
    """The plan of a workflow, as ``plan`` returns it, for all of the service or a part."""
    if options.part is not None and workflow_of(name).forms:
        options = replace(options, part=with_needed(options.part, service, snapshot))
    draft = _drafted(name, transforms, service, snapshot, inputs, options)
    if draft.rolls and _has_cycle(draft):
        # What nobody has asked to take turns need not.
        draft = _drafted(name, transforms, service, snapshot, inputs, replace(options, turns=Turns(by_itself=False)))
    if _has_cycle(draft) and takes_turns(draft):
        # What has to go down all at once cannot take turns: then everything goes down before anything comes up.
        draft = _drafted(name, transforms, service, snapshot, inputs, replace(options, turns=Turns(never=True)))
        warn_of_no_turns(draft)
    check_interpreters(draft)
    if not draft.diagnostics.has_errors:
        check_executors(draft)
    errors = [d for d in draft.diagnostics.sorted() if d.severity is Severity.ERROR]
    if errors or draft.refusals.has_errors:
        # What is refused of instances that run holds up no other transform, so that everything is seen at once.
        words, purpose = draft.way_out if not errors and len(draft.refusals) == 1 else ((), "")
        changes = () if errors else freeze(draft).changes
        raise PlanRefused([*errors, *draft.refusals.sorted()], changes, more_words=words, purpose=purpose)
    return freeze(draft)


def _drafted(
    name: str,
    transforms: tuple[Transform, ...],
    service: Service,
    snapshot: Snapshot,
    inputs: Mapping[str, object],
    options: PlanOptions,
) -> Draft:
    while True:
        draft = Draft(name, service, snapshot, inputs, options)
        for transform in transforms:
            if draft.diagnostics.has_errors and transform not in GOES_ON:
                break
            transform(draft)
        more = taken_along(draft) if options.part is not None and workflow_of(name).forms else None
        if not more or options.part is None:
            return draft
        # What goes down with the part belongs to it: it comes up as it is wanted.
        part = msgspec.structs.replace(options.part, instances=options.part.instances | more)
        options = replace(options, part=with_needed(part, service, snapshot))


def _has_cycle(draft: Draft) -> bool:
    return any(d.code == "plan-cycle" for d in draft.diagnostics)


def _transforms(name: str, options: PlanOptions) -> tuple[Transform, ...] | None:
    """What makes the plan of a workflow; None if there is no such workflow."""
    if options.acting.trigger:
        return TRIGGERED
    return OVERRIDDEN.get(name, WRITTEN) if options.written.name else WORKFLOWS.get(name)
