"""Planning `rollback`: changing what runs into an earlier revision, and undoing what lifecycle steps have done
since."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import msgspec

from ordito.app.data_at_stake import may_be_lost, risked
from ordito.app.errors import Refused
from ordito.app.proposal import PlanningContext, Proposal, ProposedInputs, ProposedJob
from ordito.app.proposals.description import changing
from ordito.app.proposals.making import make_plan, pinned_source
from ordito.app.requests import RollbackRequest
from ordito.app.rollback_target import RollbackTarget, made_again_since, target_of
from ordito.app.services.pinned import read_pinned
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import Diagnostics
from ordito.base.options import recorded
from ordito.base.text import listed
from ordito.ensemble.pins import pinned_root
from ordito.ensemble.revisions import TO
from ordito.ensemble.status import current_form, is_complete, known_forms
from ordito.instances.records import Snapshot
from ordito.model.service import Service
from ordito.planning.operation_steps import can_be_undone
from ordito.planning.options import PlanOptions
from ordito.planning.undo_hooks import why_not_undone
from ordito.work.forms import is_same
from ordito.work.hooks import DoneHook
from ordito.work.options import EARLY, NO_STEPS, ChangeOptions
from ordito.work.plan import Plan
from ordito.work.workflows import ROLLBACK

REMOVED_FIRST = ChangeOptions(prune=EARLY)

MOST_NAMED = 5


def propose(request: RollbackRequest, known: PlanningContext) -> Proposal:
    """The plan: an upgrade to what was deployed then, without lifecycle steps, in which what came since is removed
    first.

    Raises ``Refused``, ``InvalidDocument``, ``PlanRefused`` and ``EnsembleError``, also if what was deployed then can
    no longer be read.
    """
    target = target_of(known, request.revision)
    if target.lost and not request.without_steps:
        raise _would_lack(known, target)
    for root in {done.hook.block.root for done in target.done if can_be_undone(done)} - {""}:
        # What undoes is known to be there before anything begins.
        pinned_root(known.place.layout, root)
    _check_environment(known, target)
    with paused_collector():
        return _proposed(request, known, target)


def _proposed(request: RollbackRequest, known: PlanningContext, target: RollbackTarget) -> Proposal:
    form = target.form
    read = read_pinned(known.place, form)
    choose = going_back(target.done, request.changes)
    made = make_plan(known, ROLLBACK, read, form.inputs, choose=choose)
    refuse_unknown_undo(made.plan, target.done)
    warnings = list(_not_taken_back(made.plan, target, made_again_since(known, target)))
    if request.strict and warnings:
        raise Refused(
            "not-taken-back",
            f"not all can be taken back: {listed([w.message for w in warnings], MOST_NAMED, between='; ')}",
            "without --strict, everything else is taken back",
        )
    allowed = may_be_lost(request.may_lose, made.whole.service, known.snapshot) | _begun_since(target, known.snapshot)
    risks = risked(made.plan, known.snapshot, named=(), allowed=allowed)
    deployed = known_forms(known.status).get(current_form(known.status))
    return Proposal(
        workflow=ROLLBACK,
        plan=made.plan,
        snapshot=known.snapshot,
        source=pinned_source(form, read, made),
        inputs=ProposedInputs(form.inputs, known.status.inputs, form.given),
        job=ProposedJob(
            told={**recorded(request), **recorded(ChangeOptions(may_lose=made.plan.summary.losing)), TO: target.job},
            renews=made.plan.is_empty and not is_same(deployed, form),
            completes=made.plan.is_empty and not is_complete(known.status),
            back_to=target.number,
        ),
        diagnostics=tuple(warnings),
        unapproved=() if request.allow_changed else made.plan.summary.drifted,
        risks=risks,
    )


def _begun_since(target: RollbackTarget, snapshot: Snapshot) -> frozenset[str]:
    """The instances that were made by incomplete jobs that are taken back: they are removed without asking, as in an
    automatic rollback."""
    records = snapshot.instances.values() if target.began else ()
    return frozenset(record.id for record in records if record.created >= target.began)


def going_back(
    done: tuple[DoneHook, ...], changes: ChangeOptions = REMOVED_FIRST
) -> Callable[[Service, PlanOptions], PlanOptions]:
    """The options for planning a rollback: ``done`` are the lifecycle steps to be undone, in the order in which they
    ran, and ``changes`` says how running instances are changed."""

    def choose(_: Service, options: PlanOptions) -> PlanOptions:
        told = changing(options, changes, EARLY, NO_STEPS)
        return dataclasses.replace(told, hooking=msgspec.structs.replace(told.hooking, done=done, undoes=True))

    return choose


def without_steps(service: Service, options: PlanOptions) -> PlanOptions:
    """The options for planning the same without undoing any lifecycle step."""
    told = going_back(())(service, options)
    return dataclasses.replace(told, hooking=msgspec.structs.replace(told.hooking, undoes=False))


def _would_lack(known: PlanningContext, target: RollbackTarget) -> Refused:
    """Why a rollback would leave a service without the effects of its lifecycle steps (an upgrade runs them), "" if it
    would not."""
    one = len(target.lost) == 1
    steps = listed([f'"{step}"' for step in target.lost], MOST_NAMED)
    user = known.spec.user
    user = msgspec.structs.replace(user, service=user.written).with_given(target.form.named)
    return Refused(
        "undone-since",
        f"lifecycle {'step' if one else 'steps'} {steps} of revision {target.number} {'was' if one else 'were'} undone"
        f" since, and a rollback runs none: what runs then would lack what {'it' if one else 'they'} did",
        "an upgrade to the service of that revision runs lifecycle steps; --without-steps goes back without them",
        next_words=("upgrade", user.service_path(known.place.layout, known.place.shown)),
        purpose="upgrade to that service again",
    )


def refuse_unknown_undo(plan: Plan, done: tuple[DoneHook, ...]) -> None:
    """Raise ``Refused`` if a lifecycle step should be undone, and the block that does it is no longer known."""
    undone = {one.change for one in plan.undone}
    missing = [one for one in done if can_be_undone(one) and one.change not in undone]
    if missing:
        why = [f'"{one.hook.id}": {why_not_undone(one, is_to_base=True)}' for one in missing]
        said = listed(why, MOST_NAMED, between="; ")
        raise Refused(
            "not-taken-back",
            f"what lifecycle steps did cannot be undone: {said}",
            "restore the ensemble's folders artifacts and jobs from git",
        )


def _check_environment(known: PlanningContext, target: RollbackTarget) -> None:
    """Raise ``Refused`` for another environment than that of the revision: the variables of operations would differ."""
    wanted, chosen = target.form.environment, known.spec.environment.name
    if wanted == chosen:
        return
    named = f'the environment "{wanted}"' if wanted else "no environment"
    raise Refused(
        "other-environment",
        f"revision {target.number} was deployed in {named}, but this is " + (f'"{chosen}"' if chosen else "none"),
        f'give --env "{wanted}"',
    )


def _not_taken_back(plan: Plan, target: RollbackTarget, made: tuple[str, ...]) -> Diagnostics:
    """Warnings about what the rollback cannot restore; ``made`` are the instances that were replaced since."""
    found = Diagnostics()
    for step in target.lost:
        said = f'lifecycle step "{step}", which was carried out for revision {target.number}, has been undone since'
        found.warning("undone-since", f"{said}, and a rollback runs none", None)
    for one in target.done:
        if not can_be_undone(one):
            why = why_not_undone(one, is_to_base=True)
            said = f'what lifecycle step "{one.hook.id}" did (job {one.job}) stays: its block {why}'
            found.warning("not-undone", said, None)
    anew = [change.instance for change in plan.changes if change.symbol in {"+", "-/+"}]
    if anew:
        single = len(anew) == 1
        said = f"{listed(anew, MOST_NAMED)} {'is' if single else 'are'} created again"
        found.warning("made-again", f"{said}: what {'it' if single else 'they'} held is not restored", None)
    leaving = {*anew, *(change.instance for change in plan.changes if change.symbol == "-")}
    gone = [name for name in made if name not in leaving]
    if gone:
        single = len(gone) == 1
        said = f"{listed(gone, MOST_NAMED)} {'was' if single else 'were'} removed and created again since revision"
        held = f"what {'it' if single else 'they'} held then is not restored"
        found.warning("made-again", f"{said} {target.number}: {held}", None)
    return found
