"""Proposals: what a command would do, as a plan with everything that is needed to show it and to carry it out.

The requests of workflows are in `requests.py`, and each workflow has a file in `proposals/` that plans its request.
Code that shows plans or carries them out knows nothing else of workflows.
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
    """What a plan is made from besides what exists."""

    measured: str
    """The digest of the service's files together."""

    contents: Mapping[str, str]
    """The digest of each file, by its path in the pin."""

    inputs: Mapping[str, object]
    """All topology inputs."""

    choices: Choices
    """What was chosen where the service leaves a choice."""


def _any(_: Grounds) -> None:
    """Accept everything."""


class PlanningContext(EnsembleState, frozen=True):
    """What is known when a proposal is made: the ensemble, and the user's part in the chosen environment (``spec``).
    ``examine`` is called with what the plan will be made from, and may raise ``Refused``."""

    spec: UsedSpec
    examine: Callable[[Grounds], None] = _any


def known_of(
    place: Place, snapshot: Snapshot, status: Status, environment: str | None, hosts: str | None = None
) -> PlanningContext:
    """The context of a command; ``environment`` is the one that it names (None if it names none, "" for no
    environment), ``hosts`` the inventory (None if it names none, "" for that of the environment).

    Raises ``InvalidDocument``, ``Refused`` and ``EnsembleError``.
    """
    return PlanningContext(place, snapshot, status, use_spec(place, snapshot, status, environment, hosts))


class Risks(msgspec.Struct, frozen=True):
    """The instances whose data a plan loses, without permission so far. ``is_unforeseen`` says that the command has not
    named all of them itself: then confirming is not enough."""

    lost: tuple[str, ...] = ()
    is_unforeseen: bool = False


class ProposedSource(msgspec.Struct, frozen=True):
    """The service of a plan, and where its files come from."""

    read: ReadService
    """The service as it was read."""
    whole: ServiceWithOrphans
    """The same with orphans: nodes that it has lost and that still have instances."""
    measured: str
    """The digest of the files for which the plan was made."""
    contents: Mapping[str, str] = {}
    """The digest of each of these, by its path in the pin."""
    pinned: PinnedService | None = None
    """The pin of the service, None if it is still to be made."""
    files: ReadFiles = ReadFiles()
    """Further files that were read."""
    earlier: Mapping[str, ReadService] = {}
    """Earlier deployed versions of the service that were read for the plan, by the jobs that deployed them."""
    named: GivenService | None = None
    """The service that the ensemble remembers instead of the one that the user's part names."""
    user_part: bytes | None = None
    """The user's part for an ensemble that has none yet."""


class ProposedInputs(msgspec.Struct, frozen=True):
    """The topology inputs of a plan."""

    values: dict[str, object]
    """All of them, evaluated."""
    before: Mapping[str, object] = {}
    """Those of the last deployment."""
    given: dict[str, GivenValue] = {}
    """Those that are remembered."""
    changed: tuple[str, ...] = ()
    """The names of those that have other values than before."""
    asked: Mapping[str, object] = {}
    """The values that this command gave."""


class ProposedSetting(msgspec.Struct, frozen=True):
    """The surroundings in which a plan is carried out."""

    environment: str = ""
    """The name of the environment, "" for none."""
    variables: dict[str, object] = {}
    """The variables that the environment gives to operations; set when the plan is to be carried out."""
    inventory: HostInventory = NO_INVENTORY
    """The hosts that there are."""
    on_host: int = 1
    """How many operations may run at one time on a host, by default."""


class ProposedJob(msgspec.Struct, frozen=True):
    """The job that carries out a plan, apart from its steps."""

    retries: str = ""
    """The job whose remaining steps these are, "" for none."""
    on_failure: str = "continue"
    """What a failure causes, by default."""
    cause: str = ""
    """What has caused it, if it was not a command."""
    told: dict[str, object] = {}
    """The options of the command that are recorded with it."""
    renews: bool = False
    """Whether it takes over changed files of the service without steps."""
    completes: bool = False
    """Whether it completes the last attempt, which failed although nothing is left to do."""
    back_to: int = 0
    """The number of the revision to which it goes back; 0 if it does not."""


class Proposal(msgspec.Struct, frozen=True):
    """A plan with everything that is needed to show it and to carry it out."""

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
    """The surroundings in which it is carried out."""
    job: ProposedJob = ProposedJob()
    """Its job, apart from the steps."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Warnings and notes."""
    unapproved: tuple[str, ...] = ()
    """The instances to be removed that were found to be changed, without permission so far."""
    risks: Risks = Risks()
    """The instances whose data it would lose without permission."""

    def with_job(self, **changed: object) -> Proposal:
        """The same with other fields of its job (``ProposedJob``)."""
        return msgspec.structs.replace(self, job=msgspec.structs.replace(self.job, **changed))

    def with_setting(self, **changed: object) -> Proposal:
        """The same with other fields of its setting (``ProposedSetting``)."""
        return msgspec.structs.replace(self, setting=msgspec.structs.replace(self.setting, **changed))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return self.plan.is_empty and not (self.job.renews or self.job.completes)

    @property
    def can_be_taken_back(self) -> bool:
        """Whether a failed job can take back what it did: a plan that only creates instances."""
        return workflow_of(self.workflow).describes or self.job.on_failure == "rollback"

    @property
    def grounds(self) -> Grounds:
        """What the plan is made from."""
        return Grounds(self.source.measured, self.source.contents, self.inputs.values, self.source.read.service.choices)

    @property
    def service(self) -> Service:
        """The service of the plan, with orphans."""
        return self.source.whole.service

    @property
    def existing(self) -> list[str]:
        """The ids of the instances that exist before the plan is carried out."""
        return [i.id for i in self.snapshot.instances.values() if i.exists]

    @property
    def orphans(self) -> tuple[str, ...]:
        """The instances whose nodes are not in the service, by id."""
        nodes = self.service.nodes
        return tuple(i.id for i in self.snapshot.instances.values() if i.exists and i.node not in nodes)


Proposer = Callable[[Request, PlanningContext], Proposal | None]


def proposer(request: Request) -> Proposer:
    """The function that plans a request: it returns None if nothing was ever deployed that the request could be about,
    and raises what ``propose`` raises."""
    module = importlib.import_module(f"ordito.app.{request.planned_by}")
    found: Proposer = module.propose
    return found


def propose(request: Request, known: PlanningContext, plan_it: Proposer | None = None) -> Proposal | None:
    """The proposal for a request, with its environment and the warnings about that; None if nothing was ever deployed
    that it could be about. Changes nothing. ``plan_it`` replaces the function that plans such requests.

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
    """Whether a request goes on even if deployed files were changed since: one that removes everything, and one with
    ``force``."""
    return workflow_of(request.workflow).removes or bool(getattr(request, "force", False))


def pins_in_use(status: Status) -> tuple[str, ...]:
    """The digests of the pins that existing instances were made from, the last one first."""
    forms = (form.service for form in known_forms(status).values())
    return tuple(dict.fromkeys(digest for digest in (status.service, *forms) if digest))


def _changed_files(known: PlanningContext) -> tuple[Diagnostic, ...]:
    """The warning that deployed files are used although they were changed."""
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
