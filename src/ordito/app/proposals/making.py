"""Making a plan of a workflow from a service that was read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.app.inputs.inventory import InventoryFile
from ordito.app.plan_options import plan_options
from ordito.app.plugins import Plugins, plugins_of
from ordito.app.proposal import Grounds, PlanningContext, Proposal, ProposedInputs, ProposedSource
from ordito.app.services.earlier_forms import EarlierForms
from ordito.app.services.left_behind import ServiceWithOrphans, whole_service, with_removed
from ordito.app.services.pinned import PinnedService, main_in_pin, measured_files, read_pinned
from ordito.app.services.read import ReadService
from ordito.app.services.step_blocks import in_pin
from ordito.base.diagnostics import Diagnostics
from ordito.base.sensitive import revealed
from ordito.base.text import listed
from ordito.ensemble.done_hooks import attempts
from ordito.ensemble.layout import Layout
from ordito.ensemble.pins import Pinned
from ordito.ensemble.status import current_form, deployed_form, known_forms, stable_form
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.instances.lifecycle import PROVIDE, UNPROVIDE
from ordito.instances.records import Snapshot
from ordito.model.service import NodeTemplate, Service
from ordito.operations.delegating import anti_affinity
from ordito.planning.keep import kept_behind
from ordito.planning.options import Deployed, Hooking, PlanOptions, RemovalOptions
from ordito.planning.refused import PlanRefused
from ordito.planning.workflows import plan
from ordito.work.hooks import Block, Transition
from ordito.work.plan import Action, Plan
from ordito.work.providing import Delegation, Foresees, Providers, ProviderVerb, recorded_provider, recorded_with
from ordito.work.records import Deploys, Form
from ordito.work.workflows import workflow_of


class MadePlan(msgspec.Struct, frozen=True):
    """A plan, the digest of the files for which it was made, together (``measured``) and of each (``contents``), and
    the service with orphans. ``earlier`` are the earlier deployed versions that were read for it."""

    plan: Plan
    measured: str
    contents: Mapping[str, str]
    whole: ServiceWithOrphans
    earlier: Mapping[str, ReadService] = {}


def _as_told(_: Service, options: PlanOptions) -> PlanOptions:
    """Add nothing to the options."""
    return options


KEPT = RemovalOptions()
"""What undeploying keeps is kept."""


def make_plan(  # noqa: PLR0913  (one for each thing that a command may say)
    known: PlanningContext,
    workflow: str,
    read: ReadService,
    inputs: Mapping[str, object],
    *,
    allow_large: bool = True,
    force: bool = False,
    instances: frozenset[str] | None = None,
    removal: RemovalOptions = KEPT,
    reset_counts: bool = False,
    choose: Callable[[Service, PlanOptions], PlanOptions] = _as_told,
) -> MadePlan:
    """The plan of a workflow; the keyword arguments are those of ``PlanOptions``, and with ``reset_counts`` numbers of
    instances that scaling has set are not kept. Very large plans are refused only to those who may ask for more than
    there is, and can say ``--allow-large``. ``choose`` sets the options that need the whole service. Raises
    ``PlanRefused``, ``Refused`` and ``EnsembleError``, and what ``choose`` raises."""
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
        orphans=msgspec.structs.replace(told.orphans, kept=behind),
        deployed=lambda: _deployed(forms),
        forms=forms.of_plan(own),
        instances=instances,
        removal=removal,
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


def pinned_source(form: Deploys, read: ReadService, made: MadePlan) -> ProposedSource:
    """The service of a plan whose files are pinned already: those of a deployed version (``form``)."""
    pinned = PinnedService(form.service, form.main, read.package.root)
    return ProposedSource(read, made.whole, made.measured, made.contents, pinned, named=form.named)


def for_deployed(known: PlanningContext, workflow: str, read: ReadService, made: MadePlan) -> Proposal:
    """A proposal about the service as it was deployed last, from a plan for it."""
    status = known.status
    return Proposal(
        workflow=workflow,
        plan=made.plan,
        snapshot=known.snapshot,
        source=pinned_source(status, read, made),
        inputs=ProposedInputs(status.inputs, given=status.given),
    )


def options_of(known: PlanningContext, whole: ServiceWithOrphans, digests: Mapping[str, str]) -> PlanOptions:
    """The options for planning besides the service; ``digests`` are those of the files that it names itself."""
    plugins = plugins_of(known.place.layout, known.spec.inventory)
    return replace(plan_options(known.place.layout, plugins, whole, digests), kept=known.status.kept)


def _deployed(forms: EarlierForms) -> Deployed | None:
    """What was deployed last; None for nothing, or if its files no longer exist: it is only needed to say what has
    changed."""
    former = forms.former(forms.current) if forms.current else None
    return Deployed(former.service, former.inputs, former.digests) if former is not None else None


# Whether all are at hand that have made what a plan is about.

MOST_NAMED = 5


def refuse_missing_providers(providers: Providers, snapshot: Snapshot, plan: Plan, file: InventoryFile) -> None:
    """Raise ``Refused`` if the provider of a host is missing that the plan uses: without its inventory nothing is known
    of the host, which must not be taken for lost."""
    touched = dict.fromkeys(s.instance if s.action is Action.DELEGATE else s.runs_on for s in plan.steps)
    missing: dict[str, list[str]] = {}
    for name in touched:
        maker = recorded_provider(snapshot.attributes.get(name, {}))
        if maker and providers.named(maker) is None:
            missing.setdefault(maker, []).append(name)
    for maker, made in missing.items():
        was = "was" if len(made) == 1 else "were"
        where = f"{file.shown} does not have it" if file.path is not None else "there is no inventory now"
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
    """The blocks of a service's steps, as they are in its pin; ``left`` are those of steps about orphans."""
    prefix = Path(pinned.root).relative_to(layout.artifacts / pinned.digest).as_posix()
    own = in_pin(read.steps.blocks, pinned.digest, prefix)
    return Hooking(blocks={**left, **own}, files=named_files(read, pinned))


def named_files(read: ReadService, pinned: Pinned) -> dict[str, dict[str, str]]:
    """The digests of the files and folders of a service that the config of its steps names, by step and path."""
    return {step: {path: pinned.digests[path] for path in paths} for step, paths in read.steps.paths.items()}


def for_workflow(hooking: Hooking, known: PlanningContext, workflow: str) -> Hooking:
    """The lifecycle steps for the plan of a workflow: which transition it is, and what earlier attempts have done.
    Raises ``EnsembleError``."""
    made = workflow_of(workflow)
    if not (made.describes or made.removes) or not hooking.blocks:
        return hooking
    transition = Transition.DELETE
    if made.describes:
        transition = Transition.UPGRADE if stable_form(known.status, known.snapshot) else Transition.INSTALL
    found = attempts(known.place.layout)
    return msgspec.structs.replace(hooking, transition=transition, done=found.done, since=found.since)


# What a plan is to make is asked for before anything runs: whether there is a host for each Compute, say.


def foresee(
    plugins: Plugins, service: Service, snapshot: Snapshot, plan: Plan, inputs: Mapping[str, object], ensemble: str
) -> None:
    """Raise ``PlanRefused`` if a provider says that it cannot make what a plan asks of it."""
    by_provider: dict[str, list[Delegation]] = {}
    foreseeing = {p.name: f for p in plugins.providers.all if (f := _foresees(p)) is not None}
    if not foreseeing:
        return
    asking, going = _Asking(service, snapshot, plan, inputs, ensemble), frozenset(_delegated(plan, UNPROVIDE))
    for instance in _delegated(plan, PROVIDE):
        asked = asking.of(instance)
        attributes = {} if instance in going else snapshot.attributes.get(instance, {})
        provider = plugins.providers.for_instance(asked.node, asked.kinds, attributes)
        if provider is not None and provider.name in foreseeing:
            by_provider.setdefault(provider.name, []).append(asked)
    diagnostics = Diagnostics()
    for name, asked_of in by_provider.items():
        problems = foreseeing[name].foresee(asked_of, going, recorded_with(name, snapshot))
        _report(service, asked_of, problems, diagnostics)
    if diagnostics.has_errors:
        raise PlanRefused(diagnostics.sorted())


def _foresees(provider: object) -> Foresees | None:
    return provider if isinstance(provider, Foresees) else None


def _report(
    service: Service, asked: Sequence[Delegation], problems: Mapping[str, str], diagnostics: Diagnostics
) -> None:
    """Report what cannot be made; instances of one node with the same reason are reported together."""
    alike: dict[tuple[str, str], list[str]] = {}
    for one in asked:
        if one.instance in problems:
            alike.setdefault((one.node, problems[one.instance]), []).append(one.instance)
    for (node, why), instances in alike.items():
        more = f" (and {len(instances) - 1} more of {node})" if len(instances) > 1 else ""
        diagnostics.error(
            "no-free-host",
            f"there is no host for {instances[0]}{more}: {why}",
            service.nodes[node].span,
            hint="add a host to the inventory, ask for less, or make fewer instances; `ordito hosts list` shows who"
            " has which",
        )


def _delegated(plan: Plan, operation: str) -> Iterator[str]:
    for step in plan.steps:
        if step.action is Action.DELEGATE and plan.calls[step.call].operation == operation:
            yield step.instance


class _Asking:
    """The requests to providers for instances, as far as they are known before anything runs."""

    def __init__(
        self, service: Service, snapshot: Snapshot, plan: Plan, inputs: Mapping[str, object], ensemble: str
    ) -> None:
        self._service = service
        self._nodes = {i.id: i.node for i in (*snapshot.instances.values(), *plan.records.new)}
        self._static = Evaluator(service, Snapshot(), inputs)
        self._apart = anti_affinity(service)
        self._ensemble = ensemble
        self._properties: dict[str, Mapping[str, object]] = {}

    def of(self, instance: str) -> Delegation:
        node = self._service.nodes[self._nodes[instance]]
        if node.name not in self._properties:
            self._properties[node.name] = self._known(node)
        return Delegation(
            instance,
            node.kinds,
            ProviderVerb.CREATE,
            node=node.name,
            properties=self._properties[node.name],
            metadata=node.metadata,
            apart=self._apart.get(node.name, frozenset()),
            ensemble=self._ensemble,
        )

    def _known(self, node: NodeTemplate) -> dict[str, object]:
        """The properties that are known before anything runs, those of capabilities as ``capability::name``."""
        written = dict(node.properties)
        for capability in node.capabilities.values():
            written |= {f"{capability.name}::{name}": value for name, value in capability.properties.items()}
        found: dict[str, object] = {}
        for name, value in written.items():
            try:
                data = self._static.evaluate(value, Context(node=node.name))
            except EvaluationError:
                continue
            if not isinstance(data, Nothing):
                found[name] = revealed(data)
        return found
