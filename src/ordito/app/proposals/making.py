"""From a service that was read to a plan of a workflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import msgspec

from ordito.app.plan_options import plan_options
from ordito.app.plugins import plugins_of
from ordito.app.proposal import Grounds, PlanningContext, Proposal
from ordito.app.proposals.hooking import for_workflow, hooking_of
from ordito.app.proposals.missing_providers import refuse_missing_providers
from ordito.app.proposals.provider_forecast import foresee
from ordito.app.services.earlier_forms import EarlierForms
from ordito.app.services.left_behind import ServiceWithOrphans, whole_service, with_removed
from ordito.app.services.pinned import PinnedService, main_in_pin, measured_files, read_pinned
from ordito.app.services.read import ReadService
from ordito.ensemble.status import current_form, deployed_form, known_forms
from ordito.model.service import Service
from ordito.planning.keep import kept_behind
from ordito.planning.options import Deployed, PlanOptions
from ordito.planning.workflows import plan
from ordito.work.plan import Plan
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
        read=read,
        whole=made.whole,
        plan=made.plan,
        snapshot=known.snapshot,
        inputs=status.inputs,
        measured=made.measured,
        contents=made.contents,
        pinned=PinnedService(status.service, status.main, read.package.root),
        given=status.given,
        named=status.named,
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
