"""What deploying would do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

import msgspec

from ordito.app.carried_out import check_carried_out
from ordito.app.circumstances import check_choices, circumstances_of
from ordito.app.errors import Refused
from ordito.app.given_choices import GivenChoices
from ordito.app.given_inputs import GivenInputs
from ordito.app.inputs import bind_given
from ordito.app.inventory_file.as_service import hosts_as_service
from ordito.app.pinned_service import ReadFiles
from ordito.app.place import Place, relative_to
from ordito.app.plugins import plugins_of
from ordito.app.proposal import DEPLOY, Known, Proposal
from ordito.app.proposals.making import make_plan
from ordito.app.services import check_files, network, read_service
from ordito.app.spec.inputs import gather_inputs
from ordito.app.spec.reading import evaluation_of
from ordito.app.user_part import UserPart, new_user_part
from ordito.app.written_workflows import in_place, without_own
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.base.sensitive import is_sensitive
from ordito.ensemble.status import Status
from ordito.instances.static_values import check_static_values
from ordito.model.service import Service
from ordito.providers.pool.provider import NAME as POOL
from ordito.providers.pool.provider import PoolProvider
from ordito.work.plan import Plan

SERVICE_FILE = "service.yaml"
"""The service that is meant where none is named: the one in the ensemble's own directory."""


class DeployAsked(msgspec.Struct, frozen=True):
    """What to deploy: without ``service`` that of the ensemble. ``allow_large`` permits very many link operations of
    one requirement, ``fetch`` that what the service names by URLs is fetched; ``choices`` are made where the service
    leaves a choice, and what was chosen before holds until something else is. With ``force`` everything is carried out
    again, done or not. With ``reset_counts`` there are to be as many instances as the template asks for, whatever was
    scaled."""

    workflow: ClassVar[str] = DEPLOY
    makes_ensemble: ClassVar[bool] = True

    service: str = ""
    inputs: GivenInputs = GivenInputs()
    allow_large: bool = False
    fetch: bool = False
    choices: GivenChoices = GivenChoices()
    force: bool = False
    allow_changed: bool = False
    reset_counts: bool = False

    def to_keep(self, known: Known, proposal: Proposal) -> DeployAsked:
        """The same with values in the place of files of inputs, and paths as seen from the ensemble. An ensemble names
        its service itself."""
        layout = known.place.layout
        path = self.service or str(Path(known.place.shown) / SERVICE_FILE)
        return msgspec.structs.replace(
            self,
            service=relative_to(layout, path) if proposal.user_part is not None else "",
            inputs=GivenInputs(values=proposal.asked_inputs),
            choices=msgspec.structs.replace(
                self.choices,
                inventory=relative_to(layout, self.choices.inventory) if self.choices.inventory else "",
            ),
        )

    def from_kept(self, place: Place) -> DeployAsked:
        """What was kept, as seen from here."""
        inventory = self.choices.inventory
        return msgspec.structs.replace(
            self,
            service=place.path(self.service) if self.service else "",
            choices=msgspec.structs.replace(self.choices, inventory=place.path(inventory) if inventory else ""),
        )

    def propose(self, known: Known) -> Proposal:
        """What deploying would do. Raises ``InvalidDocument``, ``PlanRefused``, ``Refused`` and ``EnsembleError``."""
        with paused_collector():
            return _propose(self, known)


def _hosts(known: Known) -> Callable[[], Service] | None:
    """The hosts of the inventory as nodes that can be selected; None where there are none."""
    pool = plugins_of(known.place.layout, known.spec.inventory).providers.named(POOL)
    if not isinstance(pool, PoolProvider) or not pool.hosts:
        return None
    return lambda: hosts_as_service(pool, known.spec.inventory.file.shown)


def _propose(asked: DeployAsked, known: Known) -> Proposal:
    place, status = known.place, known.status
    diagnostics = Diagnostics()
    user, environment = known.spec.user, known.spec.environment
    path = _service_path(place, asked.service, user)
    evaluation = evaluation_of(place, diagnostics, environment)
    gathered = gather_inputs(environment, status.given, asked.inputs, evaluation, diagnostics)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    circumstances = circumstances_of(
        asked.choices, gathered.values, status.choices, diagnostics, final=True, hosts=_hosts(known)
    )
    read = read_service(path, diagnostics, network(asked.fetch), circumstances)
    check_choices(asked.choices, read.service, diagnostics)
    check_files(read, diagnostics, required=True)
    check_carried_out(read.service, diagnostics)
    # The template's own way of deploying may take inputs that the topology does not have.
    asked_values = gathered.asked
    gathered = without_own(gathered, read.service)
    bound = bind_given(read.service, gathered, diagnostics)
    if not diagnostics.has_errors:
        check_static_values(read.service, bound.inputs, diagnostics)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    made = make_plan(
        known,
        DEPLOY,
        read,
        bound.inputs,
        allow_large=asked.allow_large,
        force=asked.force,
        reset_counts=asked.reset_counts,
        choose=lambda service, options: in_place(service, options, DEPLOY, asked_values),
    )
    renews = made.plan.is_empty and bool(status.service) and made.measured != status.service
    if renews:
        diagnostics.note(
            "taken-over",
            "the service's files are not those that were deployed last, and nothing that exists changes by that: they"
            " are taken over, with what they say of workflows, policies, outputs, and of how things are removed",
            None,
        )
    is_new = not user.exists
    return Proposal(
        workflow=DEPLOY,
        read=read,
        whole=made.whole,
        plan=made.plan,
        snapshot=known.snapshot,
        inputs=bound.inputs,
        measured=made.measured,
        given={n: g for n, g in bound.given.items() if not is_new or is_sensitive(g.value)},
        changed_inputs=_changed(bound.inputs, status),
        user_part=new_user_part(place.layout, path, _open_ones(bound.asked)) if is_new else None,
        diagnostics=tuple(diagnostics.sorted()),
        unapproved=() if asked.allow_changed else made.plan.drifted,
        contents=made.contents,
        asked_inputs={**_only_given(made.plan, asked_values), **bound.asked},
        files=ReadFiles(user.files, tuple(asked.inputs.files)),
        renews=renews,
    )


def _only_given(plan: Plan, asked: Mapping[str, object]) -> dict[str, object]:
    """The inputs of the workflow that deploys which this command gave, evaluated."""
    return {name: value for scope in plan.scopes[:1] for name, value in scope.inputs.items() if name in asked}


def _service_path(place: Place, asked: str, user: UserPart) -> str:
    """The service to deploy. An ensemble deploys one service; another one needs the user's word in its file."""
    if user.exists and not user.service:
        raise Refused(
            "no-service",
            f"{place.manifest} names no service",
            'add it to what you wrote there, below "spec:", as in: service: service.yaml',
            next_words=("status",),
            purpose="see what exists",
        )
    if not user.service:
        beside = Path(place.shown) / SERVICE_FILE
        if asked or beside.is_file():
            # What `init` makes is deployed where it lies.
            return asked or str(beside)
        raise Refused(
            "no-service",
            f"no service is named, and {place.shown} is not an ensemble yet",
            "name the service",
            next_words=("deploy", "SERVICE"),
            purpose="SERVICE is a definitions file, or a folder that holds one",
        )
    written = user.service_path(place.layout, place.shown)
    if asked and not Path(asked).exists():
        # The reader says what is the matter with it.
        return asked
    if asked and not _is_same(asked, written):
        raise Refused(
            "other-service",
            f"this ensemble deploys {written}, not {asked}",
            f'to deploy the other one here, change "service" in {place.manifest}; '
            "to deploy both, give it a directory of its own with -e DIR",
        )
    return written


def _is_same(one: str, other: str) -> bool:
    """Whether two paths name the same service: the same file, or a file and the folder it is the service of."""
    first, second = Path(one).resolve(), Path(other).resolve()
    return second in {first, first.parent} or first == second.parent


def _changed(inputs: Mapping[str, object], status: Status) -> tuple[str, ...]:
    """The inputs whose values are not those that were deployed, by name; none where nothing was deployed."""
    if not status.service:
        return ()
    before = status.inputs
    return tuple(name for name, value in inputs.items() if name not in before or before[name] != value)


def _open_ones(inputs: Mapping[str, object]) -> dict[str, object]:
    """The inputs that may be written where everybody reads them; the others are remembered, sealed."""
    return {name: value for name, value in inputs.items() if not is_sensitive(value)}
