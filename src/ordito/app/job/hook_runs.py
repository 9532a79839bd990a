"""Running the lifecycle steps of a job, with the pinned copies of their blocks and of the service."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ordito.app.place import Place
from ordito.app.services.pinned import read_pinned
from ordito.base.diagnostics import InvalidDocument
from ordito.base.masking import Masking
from ordito.blocks.conditions.evaluator import evaluate, referenced
from ordito.blocks.conditions.parser import parse
from ordito.blocks.conditions.trees import ConditionFailed, NotACondition
from ordito.ensemble.done_hooks import attempts
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.replay import rebuild
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Snapshot
from ordito.model.service import Service
from ordito.operations.hook_contexts import DeployedBefore, HookContexts, RemembersRemoved, nothing_removed
from ordito.operations.hook_runs import HookRuns
from ordito.work.hooks import Block, Decided, Moment, Transition
from ordito.work.plan import Plan
from ordito.work.records import JobHeader


def _removed(place: Place, header: JobHeader, plan: Plan, snapshot: Snapshot) -> RemembersRemoved:
    """Gives the snapshot before anything was removed, for lifecycle steps that come after a removal: the one at the
    beginning of the job, or, if something was removed before (the job is resumed, or an earlier attempt has removed
    it), the one that the records of earlier jobs give."""
    if not any((hook.transition, hook.moment) == (Transition.DELETE, Moment.AFTER) for hook in plan.hooks):
        return nothing_removed
    began = attempts(place.layout).since or header.id
    if not any(not i.exists and i.last_config_change >= began for i in snapshot.instances.values()):
        there = snapshot.copy()
        return lambda: there

    @cache
    def recorded() -> Snapshot | None:
        with contextlib.suppress(EnsembleError):
            earlier = sum(job < began for job in place.layout.job_ids())
            return rebuild(place.layout, first=earlier).snapshot
        return None

    return recorded


def hook_runs(  # noqa: PLR0913  (what a job is)
    place: Place,
    header: JobHeader,
    plan: Plan,
    service: Service,
    snapshot: Snapshot,
    *,
    masking: Masking,
    counts: Mapping[str, int],
    root: str,
) -> HookRuns:
    """The port that runs the lifecycle steps of a job; ``root`` is the absolute folder of its pinned service,
    ``counts`` are the wanted numbers of instances of nodes for which the plan has none."""
    evaluator = Evaluator(service, snapshot, header.inputs, root=root)

    def before() -> DeployedBefore | None:
        form = header.forms.get(header.base)
        if form is None:
            return None
        try:
            read = read_pinned(place, form)
        except (EnsembleError, InvalidDocument):
            return None  # Its files are not there any more, so nothing is known of it.
        return DeployedBefore(read.service, form.inputs)

    def folder_of(block: Block) -> str:
        return str(Path(place.layout.artifacts, block.root, block.folder)) if block.root else root

    return HookRuns(
        plan,
        evaluator,
        HookContexts(
            evaluator, lambda: {**counts, **plan.counts.wanted}, before, _removed(place, header, plan, snapshot)
        ),
        masking,
        job=header.id,
        root=root,
        pins=str(place.layout.artifacts),
        folder_of=folder_of,
        decides=decide,
        variables=header.variables,
    )


# Conditions of lifecycle steps, decided for who carries them out.


def decide(text: str, context: Mapping[str, object]) -> Decided:
    """Decide a condition, given as text, in a context that has all names with which its paths may begin."""
    try:
        tree = parse(text)
    except NotACondition as wrong:
        return Decided(problem=_said(wrong.message, wrong.hint))
    values = referenced(tree, context)
    try:
        return Decided(holds=evaluate(tree, context), values=values)
    except ConditionFailed as failed:
        return Decided(problem=_said(failed.message, failed.hint), values=values)


def _said(message: str, hint: str) -> str:
    return f"{message} ({hint})" if hint else message
