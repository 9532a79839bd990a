"""From a service that was read to a plan of a workflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.app.inputs.inventory import InventoryFile
from ordito.app.plan_options import plan_options
from ordito.app.plugins import plugins_of
from ordito.app.proposal import Grounds, PlanningContext, Proposal, ProposedInputs, ProposedSource
from ordito.app.proposals.provider_forecast import foresee
from ordito.app.services.earlier_forms import EarlierForms
from ordito.app.services.left_behind import ServiceWithOrphans, whole_service, with_removed
from ordito.app.services.pinned import PinnedService, main_in_pin, measured_files, read_pinned
from ordito.app.services.read import ReadService
from ordito.app.services.step_blocks import in_pin
from ordito.base.text import listed
from ordito.ensemble.done_hooks import attempts
from ordito.ensemble.layout import Layout
from ordito.ensemble.pins import Pinned
from ordito.ensemble.status import current_form, deployed_form, known_forms, stable_form
from ordito.instances.records import Snapshot
from ordito.model.service import Service
from ordito.planning.keep import kept_behind
from ordito.planning.options import Deployed, Hooking, PlanOptions
from ordito.planning.workflows import plan
from ordito.work.hooks import Block, Transition
from ordito.work.plan import Action, Plan
from ordito.work.providing import Providers, recorded_provider
from ordito.work.records import Form
from ordito.work.workflows import workflow_of


class MadePlan(msgspec.Struct, frozen=True):
    """A plan, the digest of the files that it was made for and those of each of them, and the service with what it has
    left behind. ``earlier`` are the earlier forms of it that were read for that."""

    plan: Plan
    measured: str
    contents: Mapping[str, str]
    whole: ServiceWithOrphans
    earlier: Mapping[str, ReadService] = {}


def _as_told(_: Service, options: PlanOptions) -> PlanOptions:
    """Nothing more is to be said."""
    return options


def make_plan(  # noqa: PLR0913  (one for each thing that a command may say)
    known: PlanningContext,
    workflow: str,
    read: ReadService,
    inputs: Mapping[str, object],
    *,
    allow_large: bool = False,
    force: bool = False,
    instances: frozenset[str] | None = None,
    include_protected: bool = False,
    include_unmanaged: bool = False,
    reset_counts: bool = False,
    choose: Callable[[Service, PlanOptions], PlanOptions] = _as_told,
) -> MadePlan:
    """The plan of a workflow; the words are those of ``PlanOptions``, save that with ``reset_counts`` no number of
    instances is kept that was set by scaling. What needs the whole service to be known is said by ``choose``. Raises
    ``PlanRefused``, ``Refused`` and ``EnsembleError``, and what choosing raises."""
    measured = measured_files(known.place.layout, read)
    known.examine(Grounds(measured.digest, measured.contents, inputs, read.service.choices))
    left = with_removed(read.service, known.snapshot, known.status)
    whole = whole_service(known.place, read.service, left, measured.root)
    told = options_of(known, whole, measured.digests)
    forms = EarlierForms(known.place, known_forms(known.status), current_form(known.status))
    own = Form(measured.digest, main_in_pin(known.place.layout, measured), dict(inputs), read.service.choices)
    # What goes back to a revision removes all that it did not have.
    describes = workflow_of(workflow).describes
    behind = kept_behind(whole.service, known.snapshot, whole.nodes) if describes else frozenset()
    options = replace(
        told,
        allow_large=allow_large,
        force=force,
        kept_behind=behind,
        deployed=lambda: _deployed(forms),
        forms=forms.of_plan(own),
        instances=instances,
        include_protected=include_protected,
        include_unmanaged=include_unmanaged,
        kept={} if reset_counts else told.kept,
        hooking=for_workflow(hooking_of(known.place.layout, read, measured, whole.blocks), known, workflow),
    )
    made = plan(workflow, whole.service, known.snapshot, inputs, choose(whole.service, options))
    plugins = plugins_of(known.place.layout, known.spec.inventory)
    refuse_missing_providers(plugins.providers, known.snapshot, made, known.spec.inventory.file)
    foresee(plugins, whole.service, known.snapshot, made, inputs, known.status.ensemble)
    return MadePlan(made, measured.digest, measured.contents, whole, forms.known)


def read_deployed(known: PlanningContext) -> ReadService:
    """The service as it was deployed last. Raises ``InvalidDocument`` and ``EnsembleError``."""
    return read_pinned(known.place, deployed_form(known.status))


def for_deployed(known: PlanningContext, workflow: str, read: ReadService, made: MadePlan) -> Proposal:
    """A proposal about the service as it was deployed last, from a plan for it."""
    status = known.status
    return Proposal(
        workflow=workflow,
        plan=made.plan,
        snapshot=known.snapshot,
        source=ProposedSource(
            read,
            made.whole,
            made.measured,
            made.contents,
            PinnedService(status.service, status.main, read.package.root),
            named=status.named,
        ),
        inputs=ProposedInputs(status.inputs, given=status.given),
    )


def options_of(known: PlanningContext, whole: ServiceWithOrphans, digests: Mapping[str, str]) -> PlanOptions:
    """What planning is told besides a service; ``digests`` are those of the files that it names itself."""
    plugins = plugins_of(known.place.layout, known.spec.inventory)
    return replace(plan_options(known.place.layout, plugins, whole, digests), kept=known.status.kept)


def _deployed(forms: EarlierForms) -> Deployed | None:
    """What was deployed last; None for nothing, and where its files are not there any more: it is only asked in order
    to say what has changed."""
    former = forms.former(forms.current) if forms.current else None
    return Deployed(former.service, former.inputs, former.digests) if former is not None else None


# Whether all are at hand that have made what a plan is about.

MOST_NAMED = 5


def refuse_missing_providers(providers: Providers, snapshot: Snapshot, plan: Plan, file: InventoryFile) -> None:
    """See that who has made a host is still there, where something is to be done with it or on it: an inventory that is
    not there any more says nothing of hosts, and they must not be taken for lost. Raises ``Refused``."""
    touched = dict.fromkeys(s.instance if s.action is Action.DELEGATE else s.runs_on for s in plan.steps)
    missing: dict[str, list[str]] = {}
    for name in touched:
        maker = recorded_provider(snapshot.attributes.get(name, {}))
        if maker and providers.named(maker) is None:
            missing.setdefault(maker, []).append(name)
    for maker, made in missing.items():
        was = "was" if len(made) == 1 else "were"
        where = f"{file.shown} says nothing of it" if file.path is not None else "there is no inventory now"
        raise Refused(
            "no-provider",
            f'{listed(made, MOST_NAMED)} {was} made by the provider "{maker}", and {where}',
            "put back the inventory with which they were made, or name it: --hosts FILE; nothing was done. What is gone"
            " for good can be taken out of the records: state rm",
            next_words=("status",),
            purpose="see what is recorded",
        )


# What a plan is told of lifecycle steps: which blocks they run, and where they will lie in the pin of the service.


def hooking_of(layout: Layout, read: ReadService, pinned: Pinned, left: Mapping[str, Block]) -> Hooking:
    """The blocks of a service's steps, as they lie in its pin; ``left`` are those of the steps about what it has left
    behind."""
    prefix = Path(pinned.root).relative_to(layout.artifacts / pinned.digest).as_posix()
    own = in_pin(read.steps.blocks, pinned.digest, prefix)
    return Hooking(blocks={**left, **own}, files=named_files(read, pinned))


def named_files(read: ReadService, pinned: Pinned) -> dict[str, dict[str, str]]:
    """The digests of the files and folders of a service that the config of its steps names, by step and path."""
    return {step: {path: pinned.digests[path] for path in paths} for step, paths in read.steps.paths.items()}


def for_workflow(hooking: Hooking, known: PlanningContext, workflow: str) -> Hooking:
    """The same as a plan of a workflow is told it: which transition that is, and what was done in earlier attempts at
    it. Raises ``EnsembleError``."""
    made = workflow_of(workflow)
    if not (made.describes or made.removes) or not hooking.blocks:
        return hooking
    transition = Transition.DELETE
    if made.describes:
        transition = Transition.UPGRADE if stable_form(known.status, known.snapshot) else Transition.INSTALL
    found = attempts(known.place.layout)
    return msgspec.structs.replace(hooking, transition=transition, done=found.done, since=found.since)
