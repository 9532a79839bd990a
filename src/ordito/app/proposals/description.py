"""Planning `deploy` and `upgrade`, which bring the running system to a description."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from ordito.app.data_at_stake import may_be_lost, risked
from ordito.app.errors import Refused
from ordito.app.inputs.bound import BoundInputs, bind_given
from ordito.app.inputs.gathered import gather_inputs, with_secrets
from ordito.app.inputs.user_part import new_user_part
from ordito.app.inputs.variables import evaluation_of
from ordito.app.place import relative_to
from ordito.app.plugins import plugins_of
from ordito.app.proposal import PlanningContext, Proposal, ProposedInputs, ProposedJob, ProposedSource
from ordito.app.proposals.making import MadePlan, make_plan
from ordito.app.proposals.outputs_of_others import with_outputs_of_others
from ordito.app.proposals.part import with_part
from ordito.app.requests import DeployRequest, DescriptionRequest
from ordito.app.services.chosen import check_choices, circumstances_of
from ordito.app.services.existing_hosts import hosts_as_service, warn_of_unheeded
from ordito.app.services.files import check_files
from ordito.app.services.pinned import ReadFiles
from ordito.app.services.read import ReadService, network, read_service
from ordito.app.services.step_blocks import StepSources
from ordito.app.services.workflows import in_place, overriding, without_own
from ordito.app.unsupported import check_supported
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.base.options import recorded
from ordito.base.sensitive import is_sensitive
from ordito.ensemble.job_history import read_job
from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest import read_manifest
from ordito.ensemble.status import Status, is_complete
from ordito.instances.static_values import check_static_values
from ordito.model.service import Service
from ordito.planning.checks import check_operation_inputs
from ordito.planning.options import DataLoss, PlanOptions
from ordito.planning.refused import PlanRefused
from ordito.providers.pool.provider import NAME as POOL
from ordito.providers.pool.provider import PoolProvider
from ordito.work.options import ChangeOptions
from ordito.work.plan import Plan
from ordito.work.records import GivenService
from ordito.work.workflows import DEPLOY, workflow_of

SERVICE_FILES = ("service.yaml", "blueprint.yaml")
"""The default service: the first of these files in the ensemble's own directory."""


def service_beside(directory: str) -> Path:
    """The default service of an ensemble, whether it is there or not."""
    places = [Path(directory) / name for name in SERVICE_FILES]
    return next((place for place in places if place.is_file()), places[0])


class NamedService(msgspec.Struct, frozen=True):
    """The path of the wanted service, relative to the current directory, and what the ensemble remembers of it."""

    path: str
    given: GivenService | None = None


def propose(request: DescriptionRequest, known: PlanningContext) -> Proposal:
    """The proposal. Raises ``InvalidDocument``, ``PlanRefused``, ``Refused`` and ``EnsembleError``."""
    named = _to_deploy(request, known) if isinstance(request, DeployRequest) else _to_upgrade_to(request, known)
    with paused_collector():
        return _proposed(request, known, named)


class _Described(msgspec.Struct, frozen=True):
    """The wanted state: the service as it was read, its inputs, and the ``values`` of inputs that the command gives."""

    read: ReadService
    bound: BoundInputs
    values: Mapping[str, object]


def _described(
    request: DescriptionRequest, known: PlanningContext, named: NamedService, diagnostics: Diagnostics
) -> _Described:
    """Read the wanted service, with its inputs. Raises ``InvalidDocument`` and ``Refused``."""
    place, status, environment = known.place, known.status, known.spec.environment
    evaluation = evaluation_of(place, diagnostics, environment)
    gathered = gather_inputs(environment, status.given, request.inputs, evaluation, diagnostics)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    circumstances = circumstances_of(
        request.choices, gathered.values, status.choices, diagnostics, final=True, hosts=_hosts(known)
    )
    sources = StepSources(request.hooks.catalogs, request.hooks.lifecycle, str(place.layout.root))
    read = read_service(named.path, diagnostics, network(request.fetch), circumstances, sources)
    check_choices(request.choices, read.service, diagnostics)
    _check_replaced(request.changes, read.service, diagnostics)
    check_files(read, diagnostics, required=True)
    check_supported(read.service, diagnostics)
    # The template's own way of deploying may take inputs that the topology does not have.
    own = with_secrets(without_own(gathered, read.service), read.service.inputs, evaluation)
    own = with_outputs_of_others(own, read.service.inputs, str(place.layout.root), diagnostics)
    bound = bind_given(read.service, own, diagnostics, had=None if named.given else status.inputs)
    if not diagnostics.has_errors:
        check_static_values(read.service, bound.inputs, diagnostics)
        check_operation_inputs(read.service, bound.inputs, diagnostics)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    return _Described(read, bound, gathered.asked)


def _warn_of_steps(request: DescriptionRequest, known: PlanningContext, diagnostics: Diagnostics) -> None:
    """Warn if what runs has lifecycle steps of a file that its command named, and this command names none."""
    if request.hooks.lifecycle or not known.status.form:
        return
    record = read_job(known.place.layout, known.status.form)
    said = record.head.options.get("told") if record is not None else None
    if isinstance(said, Mapping) and (file := said.get("lifecycle")):
        diagnostics.warning(
            "steps-not-given",
            f"what runs has the lifecycle steps of {file}, but this command names no such file: they would be lost",
            None,
            hint=f"give --lifecycle {file} again, or put it beside the service as lifecycle.yaml",
        )


def _proposed(request: DescriptionRequest, known: PlanningContext, named: NamedService) -> Proposal:
    place, user = known.place, known.spec.user
    diagnostics = Diagnostics()
    if named.given is not None and not request.service:
        diagnostics.note(
            "remembered-service",
            f"the service is {named.path}, which upgrade was given; {place.manifest} names {user.written or 'none'}",
            None,
            hint=f"write it there, or upgrade to another one: it is forgotten when {place.manifest} names a new one",
        )
    _warn_of_steps(request, known, diagnostics)
    described = _described(request, known, named, diagnostics)
    try:
        if not isinstance(request, DeployRequest):
            _check_comparable(request, known, described.read.service)
        return _planned(request, known, named, described, diagnostics)
    except (Refused, PlanRefused) as refused:
        refused.public_inputs = frozenset(n for n, v in described.bound.asked.items() if not is_sensitive(v))
        raise


def _planned(
    request: DescriptionRequest,
    known: PlanningContext,
    named: NamedService,
    described: _Described,
    diagnostics: Diagnostics,
) -> Proposal:
    place, status, user = known.place, known.status, known.spec.user
    read, bound = described.read, described.bound
    may_lose = request.changes.may_lose

    def tells(service: Service, options: PlanOptions) -> PlanOptions:
        options = dataclasses.replace(options, data_loss=DataLoss(may_be_lost(may_lose, service, known.snapshot)))
        prunes = workflow_of(request.workflow).prunes
        return changing(options, request.changes, prunes, request.hooks.which, strict=request.hooks.strict)

    made = make_plan(
        known,
        request.workflow,
        read,
        bound.inputs,
        allow_large=request.allow_large,
        force=request.force,
        reset_counts=request.reset_counts,
        choose=lambda service, options: with_part(
            in_place(service, tells(service, options), request.workflow, described.values),
            request.part,
            service,
            known.snapshot,
        ),
    )
    providers = plugins_of(place.layout, known.spec.inventory).providers
    warn_of_unheeded(known.spec.inventory, providers, read, diagnostics)
    is_new = not user.exists or _is_untouched(place.layout, named.path)
    allowed = may_be_lost(may_lose, made.whole.service, known.snapshot)
    return Proposal(
        workflow=request.workflow,
        plan=made.plan,
        snapshot=known.snapshot,
        source=ProposedSource(
            read,
            made.whole,
            made.measured,
            made.contents,
            files=ReadFiles(user.files, tuple(request.inputs.files)),
            earlier=made.earlier,
            named=named.given,
            user_part=new_user_part(place.layout, named.path, _open_ones(bound.asked)) if is_new else None,
        ),
        inputs=_inputs(described, made.plan, status, are_written=is_new),
        job=_job(request, made, status, diagnostics),
        diagnostics=tuple(diagnostics.sorted()),
        unapproved=() if request.allow_changed else made.plan.summary.drifted,
        risks=risked(made.plan, known.snapshot, named=request.changes.replaced, allowed=allowed),
    )


def _inputs(described: _Described, plan: Plan, status: Status, *, are_written: bool) -> ProposedInputs:
    """The inputs of what is proposed; those that are written into `ensemble.yaml` need not be remembered."""
    bound = described.bound
    return ProposedInputs(
        bound.inputs,
        status.inputs,
        given={n: g for n, g in bound.given.items() if not are_written or is_sensitive(g.value)},
        changed=_changed(bound.inputs, status),
        asked={**_only_given(plan, described.values), **bound.asked},
    )


def _job(request: DescriptionRequest, made: MadePlan, status: Status, diagnostics: Diagnostics) -> ProposedJob:
    """What is proposed of the job besides its steps: whether one with nothing to do takes over changed files of the
    service, or forgets inputs, and whether it completes the last attempt."""
    told = recorded(request)
    if made.plan.summary.is_part:
        return ProposedJob(told=told)
    renews = made.plan.is_empty and bool(status.service) and made.measured != status.service
    if renews:
        diagnostics.note(
            "taken-over",
            "the service's files are not those that were deployed last, and nothing that exists changes by that: they"
            " are taken over, with what they say of workflows, policies, outputs, and of how things are removed",
            None,
        )
    completes = made.plan.is_empty and not renews and not is_complete(status)
    if completes:
        diagnostics.note(
            "attempt-completed",
            "the last attempt failed, but nothing is left to do: this completes the deployment",
            None,
        )
    forgets = made.plan.is_empty and any(name in status.given for name in request.inputs.forgotten)
    return ProposedJob(told=told, renews=renews or forgets, completes=completes)


def changing(
    options: PlanOptions, changes: ChangeOptions, prunes: str, which: str, *, strict: bool = False
) -> PlanOptions:
    """The options for planning about how running instances are changed: ``prunes`` says what happens by default to
    orphans; ``which`` and ``strict`` are those of ``HookOptions``."""
    return dataclasses.replace(
        options,
        changes=msgspec.structs.replace(changes, prune=changes.prune or prunes),
        hooking=msgspec.structs.replace(options.hooking, which=which, strict=strict),
    )


def _check_replaced(changes: ChangeOptions, service: Service, diagnostics: Diagnostics) -> None:
    """Raise ``InvalidDocument`` if a node to be replaced does not exist."""
    unknown = [name for name in changes.replaced if name not in service.nodes]
    for name in unknown:
        diagnostics.unknown("unknown-node", "node template", name, None, service.nodes, note="--replace names it")
    if unknown:
        raise InvalidDocument(diagnostics.sorted())


def _hosts(known: PlanningContext) -> Callable[[], Service] | None:
    """The hosts of the inventory as nodes that can be selected; None for none."""
    pool = plugins_of(known.place.layout, known.spec.inventory).providers.named(POOL)
    if not isinstance(pool, PoolProvider) or not pool.hosts:
        return None
    return lambda: hosts_as_service(pool, known.spec.inventory.file.shown)


def _only_given(plan: Plan, asked: Mapping[str, object]) -> dict[str, object]:
    """The evaluated inputs that this command gave for a deploying workflow of the template."""
    return {name: value for scope in plan.scopes[:1] for name, value in scope.inputs.items() if name in asked}


def is_same(one: str, other: str) -> bool:
    """Whether two paths name the same service: the same file, or a file and the folder whose service it is."""
    first, second = Path(one).resolve(), Path(other).resolve()
    return second in {first, first.parent} or first == second.parent


def _changed(inputs: Mapping[str, object], status: Status) -> tuple[str, ...]:
    """The names of the inputs whose values differ from the deployed ones; none if nothing was deployed."""
    if not status.service:
        return ()
    before = status.inputs
    return tuple(name for name, value in inputs.items() if name not in before or before[name] != value)


def _is_untouched(layout: Layout, service: str) -> bool:
    """Whether there is an ensemble that was only made for a service: nothing was deployed, and nobody has written
    anything into it yet. The first deployment writes it as it would have made it."""
    found = read_manifest(layout)
    return found is not None and not found.machine and found.user == new_user_part(layout, service, {})


def _open_ones(inputs: Mapping[str, object]) -> dict[str, object]:
    """The inputs that may be written in plain text; the others are remembered sealed."""
    return {name: value for name, value in inputs.items() if not is_sensitive(value)}


# Which service is meant: an ensemble deploys one, until its user or an upgrade names another.


def service_to_keep(request: DescriptionRequest, known: PlanningContext) -> str:
    """The path of the service that a saved plan must name, "" if the ensemble names it itself."""
    if known.spec.user.exists:
        return ""
    return request.service or str(service_beside(known.place.shown))


def _to_deploy(request: DescriptionRequest, known: PlanningContext) -> NamedService:
    """The service to deploy. An ensemble deploys one service; for another one the user must change its file, or use an
    upgrade."""
    place, user, asked = known.place, known.spec.user, request.service
    if user.exists and not user.service:
        raise Refused(
            "no-service",
            f"{place.manifest} names no service",
            'add it to what you wrote there, below "spec:", as in: service: service.yaml',
            next_words=("status",),
            purpose="see what exists",
        )
    if not user.service:
        beside = service_beside(place.shown)
        if asked or beside.is_file():
            # What `init` makes is deployed where it lies.
            return NamedService(asked or str(beside))
        raise Refused(
            "no-service",
            f"no service is named, and {place.shown} is not an ensemble yet",
            "name the service",
            next_words=("deploy", "SERVICE"),
            purpose="SERVICE is a definitions file, or a folder that contains one",
        )
    remembered = known.status.named if user.service != user.written else None
    current = user.service_path(place.layout, place.shown)
    if not asked and not Path(current).exists():
        by = f'"service" in {place.manifest} names it' if remembered is None else "an upgrade has named it"
        raise Refused("file-not-found", f"this ensemble deploys {current}, but there is no such file or folder", by)
    if not asked or is_same(asked, current):
        return NamedService(current, remembered)
    if not Path(asked).exists():
        # The reader says what is the matter with it.
        return NamedService(asked)
    exist = any(instance.exists for instance in known.snapshot.instances.values())
    written = user.written_path(place.layout, place.shown)
    if not exist and is_same(asked, written):
        # With nothing left of what it was upgraded to, the user's own word is as good.
        return NamedService(written)
    hint = f'to deploy the other one here, change "service" in {place.manifest}; '
    hint += "to deploy both, give it a directory of its own with -e DIR"
    raise Refused(
        "other-service",
        f"this ensemble deploys {current}, not {asked}",
        hint,
        next_words=("upgrade", asked) if exist else (),
        purpose="bring what runs here to that one",
    )


def _to_upgrade_to(request: DescriptionRequest, known: PlanningContext) -> NamedService:
    """The service to upgrade to."""
    place, user, asked = known.place, known.spec.user, request.service
    if not is_deployed(known):
        raise Refused(
            "not-deployed",
            f"nothing is deployed in {place.shown}, so there is nothing to upgrade",
            next_words=("deploy", asked) if asked else ("deploy",),
            purpose="deploy it",
        )
    remembered = known.status.named if user.service != user.written else None
    if not asked:
        if not user.service:
            raise Refused(
                "no-service",
                f"{place.manifest} names no service",
                'name the new one, or add it to what you wrote there, below "spec:", as in: service: service.yaml',
                next_words=("upgrade", "SERVICE"),
                purpose="SERVICE is a definitions file, or a folder that contains one",
            )
        return NamedService(user.service_path(place.layout, place.shown), remembered)
    if user.written and is_same(asked, user.written_path(place.layout, place.shown)):
        return NamedService(asked)
    return NamedService(asked, GivenService(relative_to(place.layout, asked), user.written))


def _check_comparable(request: DescriptionRequest, known: PlanningContext, service: Service) -> None:
    """Raise ``Refused`` if the template has a deploying workflow of its own, because what that does cannot be
    compared."""
    found = overriding(service, DEPLOY)
    if found is not None:
        raise Refused(
            "own-deploy",
            f'the template has a workflow "{found.name}" of its own, which deploys it: what it would change of'
            " what runs cannot be told",
            f'write it as "service" in {known.place.manifest}, and deploy' if request.service else "",
            next_words=("deploy",),
            purpose="let that workflow bring what runs to what the template says",
        )


def is_deployed(known: PlanningContext) -> bool:
    """Whether anything is deployed that could be upgraded."""
    if not known.status.service:
        return False
    last = known.status.last_job
    exist = any(instance.exists for instance in known.snapshot.instances.values())
    return exist or (last is not None and workflow_of(last.workflow).describes)
