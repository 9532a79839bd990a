"""Proposals: what a command would do, as a plan with all that is needed to show it and to carry it out.

What may be asked of each workflow stands in `requests.py`, and how a plan comes of that in a file of its own in
`proposals/`. Who shows plans and who carries them out knows nothing else of workflows.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping

import msgspec

from ordito.app.inputs.inventory import NO_INVENTORY, HostInventory
from ordito.app.inputs.used_spec import UsedSpec, use_spec
from ordito.app.place import EnsembleState, Place
from ordito.app.requests import Request
from ordito.app.services.left_behind import ServiceWithOrphans
from ordito.app.services.pinned import PinnedService, ReadFiles
from ordito.app.services.read import ReadService
from ordito.base.diagnostics import Diagnostic, Diagnostics, InvalidDocument
from ordito.base.text import listed
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.pins import ChangedFiles, pinned_root
from ordito.ensemble.status import Status, known_forms
from ordito.instances.records import Snapshot
from ordito.model.choices import Choices
from ordito.model.service import Service
from ordito.planning.refused import PlanRefused
from ordito.work.plan import Plan
from ordito.work.records import GivenService, GivenValue
from ordito.work.workflows import workflow_of


class Grounds(msgspec.Struct, frozen=True):
    """What a plan is made from besides what exists: the digest of the service's files and those of each of them, by
    their places in its pin; all topology inputs; and what was chosen where the service leaves a choice."""

    measured: str
    contents: Mapping[str, str]
    inputs: Mapping[str, object]
    choices: Choices


def _any(_: Grounds) -> None:
    """Whatever a plan is made from is right."""


class PlanningContext(EnsembleState, frozen=True):
    """What is known when a proposal is made: the ensemble, and what the user's part says in the environment that is
    chosen (``spec``). ``examine`` looks at what the plan will be made from, and may raise ``Refused``."""

    spec: UsedSpec
    examine: Callable[[Grounds], None] = _any


def known_of(
    place: Place, snapshot: Snapshot, status: Status, environment: str | None, hosts: str | None = None
) -> PlanningContext:
    """What is known; ``environment`` is the one that a command names, None where it names none, "" for none at all,
    and ``hosts`` the inventory, None where it names none, "" for that of the environment.

    Raises ``InvalidDocument``, ``Refused`` and ``EnsembleError``.
    """
    return PlanningContext(place, snapshot, status, use_spec(place, snapshot, status, environment, hosts))


class Risks(msgspec.Struct, frozen=True):
    """The instances whose data a plan loses, and of which nobody has said yet that they may be. They are
    ``is_unforeseen`` where the command has not named all of them by itself: then it takes more than an answer."""

    lost: tuple[str, ...] = ()
    is_unforeseen: bool = False


class ProposedSource(msgspec.Struct, frozen=True):
    """The service that a plan is about, and where its files come from."""

    read: ReadService
    """The service as it was read."""
    whole: ServiceWithOrphans
    """The same with the nodes that it has lost and that still have instances."""
    measured: str
    """The digest of the files that the plan was made for."""
    contents: Mapping[str, str] = {}
    """The digest of each of these, by its place in the pin."""
    pinned: PinnedService | None = None
    """The service's pin, None where it is still to be made."""
    files: ReadFiles = ReadFiles()
    """Further files that were read."""
    earlier: Mapping[str, ReadService] = {}
    """Earlier forms of the service that were read for the plan, by the jobs that deployed them."""
    named: GivenService | None = None
    """The service that the ensemble is to remember in the place of the one that the user's part names."""
    user_part: bytes | None = None
    """The user's part of the ensemble's file, where the ensemble has none yet."""


class ProposedInputs(msgspec.Struct, frozen=True):
    """The topology inputs of a plan."""

    values: dict[str, object]
    """All of them, evaluated."""
    before: Mapping[str, object] = {}
    """Those of the last deployment."""
    given: dict[str, GivenValue] = {}
    """Those that are to be remembered."""
    changed: tuple[str, ...] = ()
    """The names of those that have other values than before."""
    asked: Mapping[str, object] = {}
    """The values that this command gave."""


class ProposedSetting(msgspec.Struct, frozen=True):
    """What a plan is carried out in."""

    environment: str = ""
    """The name of the environment, "" for none."""
    variables: dict[str, object] = {}
    """Those that the environment gives to operations, once the plan is to be carried out."""
    inventory: HostInventory = NO_INVENTORY
    """The hosts that there are."""
    on_host: int = 1
    """How many operations may run at one time on a host of which the plan says nothing."""


class ProposedJob(msgspec.Struct, frozen=True):
    """What the job that carries out a plan is besides its steps."""

    retries: str = ""
    """The job whose remaining steps these are, "" for none."""
    on_failure: str = "continue"
    """What a failure does where the command does not say it."""
    cause: str = ""
    """What began it where no command did."""
    told: dict[str, object] = {}
    """What is kept with it of what the command has said."""
    renews: bool = False
    """Whether it takes over the service's files, which are others than those that were deployed last, without steps."""
    completes: bool = False
    """Whether it completes the last attempt, which did not end well though nothing is left to be done."""
    back_to: int = 0
    """The number of the revision to which it goes back; 0 for all else."""


class Proposal(msgspec.Struct, frozen=True):
    """A plan with all that is needed to show it and to carry it out."""

    workflow: str
    """The name of the workflow."""
    plan: Plan
    """What would be done."""
    snapshot: Snapshot
    """What exists."""
    source: ProposedSource
    """The service that the plan is about."""
    inputs: ProposedInputs
    """The topology inputs."""
    setting: ProposedSetting = ProposedSetting()
    """What it is carried out in."""
    job: ProposedJob = ProposedJob()
    """What its job is besides its steps."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Warnings and notes."""
    unapproved: tuple[str, ...] = ()
    """The instances that are to be removed, were found to be other than they were made, and of which nobody has said
    yet that they may go all the same."""
    risks: Risks = Risks()
    """The instances whose data it would lose without anybody having said that they may be lost."""

    def with_job(self, **changed: object) -> Proposal:
        """The same with other fields of its job (``ProposedJob``)."""
        return msgspec.structs.replace(self, job=msgspec.structs.replace(self.job, **changed))

    def with_setting(self, **changed: object) -> Proposal:
        """The same with other fields of what it is carried out in (``ProposedSetting``)."""
        return msgspec.structs.replace(self, setting=msgspec.structs.replace(self.setting, **changed))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return self.plan.is_empty and not (self.job.renews or self.job.completes)

    @property
    def can_be_taken_back(self) -> bool:
        """Whether a job that fails can take back what it did: what only makes instances."""
        return workflow_of(self.workflow).describes or self.job.on_failure == "rollback"

    @property
    def grounds(self) -> Grounds:
        """What the plan is made from."""
        return Grounds(self.source.measured, self.source.contents, self.inputs.values, self.source.read.service.choices)

    @property
    def service(self) -> Service:
        """The service that the plan is about, with what it has left behind."""
        return self.source.whole.service

    @property
    def existing(self) -> list[str]:
        """The ids of the instances that there are before the plan is carried out."""
        return [i.id for i in self.snapshot.instances.values() if i.exists]

    @property
    def orphans(self) -> tuple[str, ...]:
        """The instances that exist and whose nodes are not in the service, by id."""
        nodes = self.service.nodes
        return tuple(i.id for i in self.snapshot.instances.values() if i.exists and i.node not in nodes)


Proposer = Callable[[Request, PlanningContext], Proposal | None]


def proposer(request: Request) -> Proposer:
    """What plans a request, and nothing else: it gives None where nothing was ever deployed that the request could be
    about, and raises what ``propose`` raises."""
    module = importlib.import_module(f"ordito.app.{request.planned_by}")
    found: Proposer = module.propose
    return found


def propose(request: Request, known: PlanningContext, plan_it: Proposer | None = None) -> Proposal | None:
    """The plan, with the environment that it is made in, and what is to be said of that; None where nothing was ever
    deployed that it could be about. Nothing is changed. ``plan_it`` plans in the place of who plans such requests.

    Raises ``InvalidDocument``, ``PlanRefused``, ``Refused`` and ``EnsembleError``.
    """
    if takes_changed_files(request):
        known = msgspec.structs.replace(known, place=msgspec.structs.replace(known.place, as_it_is=True))
    try:
        proposal = (plan_it or proposer(request))(request, known)
    except (InvalidDocument, PlanRefused) as error:
        # That another environment is worked in may be the very reason.
        error.diagnostics[:0] = known.spec.change()
        raise
    if proposal is None:
        return None
    changed = _changed_files(known) if known.place.as_it_is and not proposal.is_empty else ()
    found = (*known.spec.change(proposal.inputs.changed, empty=proposal.is_empty), *changed, *proposal.diagnostics)
    spec = known.spec
    proposal = proposal.with_setting(environment=spec.environment.name, inventory=spec.inventory)
    return msgspec.structs.replace(proposal, diagnostics=found)


def takes_changed_files(request: Request) -> bool:
    """Whether what is asked for goes on with files that were deployed and changed since: what removes everything, and
    what is forced."""
    return workflow_of(request.workflow).removes or bool(getattr(request, "force", False))


def pins_in_use(status: Status) -> tuple[str, ...]:
    """The digests of the pins that what exists was made from, the last one first."""
    forms = (form.service for form in known_forms(status).values())
    return tuple(dict.fromkeys(digest for digest in (status.service, *forms) if digest))


def _changed_files(known: PlanningContext) -> tuple[Diagnostic, ...]:
    """That files which were deployed are used as they are, though they were changed."""
    layout = known.place.layout
    found: list[str] = []
    for digest in pins_in_use(known.status):
        try:
            pinned_root(layout, digest)
        except ChangedFiles as error:
            found += [known.place.path(f"{layout.artifacts.name}/{digest}/{file}") for file in error.files]
        except EnsembleError:
            continue  # Whoever needs it says what is wrong.
    if not found:
        return ()
    count = len(found)
    message = (
        f"{'a file' if count == 1 else f'{count} files'} that {'was' if count == 1 else 'were'} deployed and changed"
        f" since {'is' if count == 1 else 'are'} used as {'it is' if count == 1 else 'they are'}: {listed(found, 3)}"
    )
    said = Diagnostics()
    said.warning("changed-files", message, None, hint="`ordito state renew` puts back what was deployed")
    return tuple(said.sorted())
