"""Records: what the journal holds about a job, so that nothing is lost when the process dies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from ordito.instances.records import Delta
from ordito.model.choices import Choices
from ordito.work.hooks import HookResult
from ordito.work.invocation import Outcome, Started
from ordito.work.options import JobOptions
from ordito.work.plan import Plan


class JobSources(msgspec.Struct, frozen=True, omit_defaults=True):
    """The files that a job was made from, where they are."""

    origin: str = ""
    """The folder of which the service's pin is a copy, "" for none."""

    named: tuple[str, ...] = ()
    """The files in it that the service names."""

    others: dict[str, str] = {}
    """The absolute paths of further files (an archive, files with values of inputs), each with a mark that tells
    whether it was written to since: not a digest, from which secrets could be guessed."""

    definite: tuple[str, ...] = ()
    """Those of them that are part of what is deployed, like the service's own files: the archive, and files that are
    merged into `ensemble.yaml`."""


class GivenValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """The value of a topology input that came with a command and is remembered by the ensemble."""

    value: object

    over: object = None
    """What the user's part of the ensemble said of this input then, None for nothing: the value is valid as long as
    that says the same."""

    environment: str = ""
    """The environment in which it is valid, "" for none."""


class GivenService(msgspec.Struct, frozen=True, omit_defaults=True):
    """The service that `upgrade` was given and that is remembered by the ensemble."""

    path: str
    """As seen from the ensemble."""

    over: str = ""
    """The service that the user's part of the ensemble named then: this one is valid as long as that names the same."""


class LeftBehind(msgspec.Struct, frozen=True, omit_defaults=True):
    """Orphans: nodes that were removed from the template while instances of them existed, and how they were
    deployed."""

    nodes: tuple[str, ...]

    main: str
    """The entry definitions file of their pinned service."""

    inputs: dict[str, object] = {}
    """The evaluated inputs."""

    choices: Choices = Choices()
    """What was chosen."""


class Form(msgspec.Struct, frozen=True, omit_defaults=True):
    """A service as some job has deployed it. Forms are known by the id of that job."""

    service: str
    """The digest of its pinned files."""

    main: str
    """Its entry definitions file."""

    inputs: dict[str, object] = {}
    """Its evaluated inputs."""

    choices: Choices = Choices()
    """What was chosen."""

    given: dict[str, GivenValue] = {}
    """The inputs that were remembered then."""

    named: GivenService | None = None
    """The service that was remembered then."""

    environment: str = ""
    """The environment that it worked in."""

    revision: int = 0
    """The number of the revision that the job has made, 0 if it did not succeed."""


class Deploys(Protocol):
    """What says how a service was deployed, or is to be: a job's header, the status of an ensemble."""

    @property
    def service(self) -> str:
        """The digest of the pinned files."""

    @property
    def main(self) -> str:
        """The entry definitions file."""

    @property
    def inputs(self) -> dict[str, object]:
        """The evaluated inputs."""

    @property
    def choices(self) -> Choices:
        """What was chosen."""

    @property
    def given(self) -> dict[str, GivenValue]:
        """The inputs to remember."""

    @property
    def named(self) -> GivenService | None:
        """The service to remember."""

    @property
    def environment(self) -> str:
        """The environment that it is in."""


NO_CHOICES = Choices()


def form_of(found: Deploys, revision: int = 0) -> Form:
    """The form in a header or a status; ``revision`` is its number."""
    form = Form(
        found.service,
        found.main,
        found.inputs,
        given=found.given,
        named=found.named,
        environment=found.environment,
        revision=revision,
    )
    # What says nothing is left out where this is written only if it is the default itself.
    return form if found.choices == NO_CHOICES else msgspec.structs.replace(form, choices=found.choices)


class AskedBy(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who asked for a job through a server."""

    by: str = ""
    """Who asked, "" where it did not come through a server."""

    origin: str = ""
    """The id of the plan that the job carries out: no other job has the same."""

    approved: tuple[str, ...] = ()
    """Who approved that plan."""


NOBODY = AskedBy()


class JobHeader(msgspec.Struct, frozen=True, omit_defaults=True):
    """The first record of a job."""

    id: str

    workflow: str

    service: str
    """The digest of the pinned service."""

    main: str
    """Its entry definitions file."""

    began: float
    """Seconds since the epoch."""

    inputs: dict[str, object] = {}
    """The evaluated topology inputs."""

    options: JobOptions = JobOptions()
    """How the job runs."""

    machine: str = ""

    user: str = ""

    asked: AskedBy = NOBODY
    """Who asked for it through a server, if that was so."""

    ticks: int = 1
    """The number of consecutive ticks whose changeIds the job has reserved, its own first (see ``base.change_ids``)."""

    given: dict[str, GivenValue] = {}
    """The inputs that the ensemble is to remember."""

    choices: Choices = Choices()
    """What was chosen if the service leaves a choice."""

    left: dict[str, LeftBehind] = {}
    """Nodes that earlier forms of the service had and this one does not have, by the digest of the pinned service that
    they come from."""

    sources: JobSources = JobSources()
    """The files that it was made from."""

    environment: str = ""
    """The environment that it works in, "" for none."""

    variables: dict[str, object] = {}
    """The variables that it gives to every operation, texts that may be sensitive."""

    retries: str = ""
    """The job whose remaining steps this one carries out, "" for none."""

    cause: str = ""
    """What began it, if no command did: a trigger, and the event that it heard."""

    hosts: str = ""
    """The inventory that it works with, as seen from the ensemble, "" for none."""

    hosts_given: bool = False
    """A command has named that inventory, so that it is remembered."""

    ensemble: str = ""
    """The id of the deployment, "" if the job needs none."""

    forms: dict[str, Form] = {}
    """The earlier forms of the service that the plan needs, and those of instances, by their ids."""

    current: str = ""
    """The form of the instances whose record names none, when the job began."""

    base: str = ""
    """The last form that was deployed completely, to which a rollback leads; "" if there is none."""

    named: GivenService | None = None
    """The service that the ensemble is to remember instead of the one that the user's part names."""

    @property
    def form(self) -> Form:
        """The form that the job deploys, or works with."""
        return form_of(self)


class StepStartedRecord(msgspec.Struct, frozen=True, tag="started", omit_defaults=True):
    """A step was started. From here until its end it is in doubt if the process dies."""

    step: int

    at: float

    attempt: int = 1

    change: str = ""
    """The changeId that its end will have."""

    delta: Delta | None = None
    """What its start changes (node state, status)."""

    warnings: tuple[str, ...] = ()
    """What deserves attention."""

    inputs: Mapping[str, object] = {}
    """The inputs of the operation as they may be shown, if the workflow keeps them."""


class StepProcessRecord(msgspec.Struct, frozen=True, tag="process", omit_defaults=True):
    """The process of a started step."""

    step: int
    started: Started


class StepRetryRecord(msgspec.Struct, frozen=True, tag="retrying", omit_defaults=True):
    """An attempt of a step failed, and another one follows; until then nothing of the step runs, and it is not in
    doubt."""

    step: int

    at: float

    attempt: int

    outcome: Outcome

    due: float
    """When the next attempt begins, in seconds since the epoch."""

    change: str = ""

    delta: Delta | None = None
    """The attributes that the attempt has set by itself."""


class StepFinishedRecord(msgspec.Struct, frozen=True, tag="finished", omit_defaults=True):
    """A step ended."""

    step: int

    at: float

    outcome: Outcome

    change: str = ""
    """Its changeId, "" for no-ops."""

    delta: Delta | None = None
    """What it changes."""

    no_op: bool = False

    attempt: int = 1
    """The number of its last attempt."""

    because: str = ""
    """Why it was not needed: then it has succeeded without having run."""

    inputs: Mapping[str, object] = {}
    """The inputs of an operation that does nothing; those of others are recorded when they start."""

    hook: HookResult | None = None
    """What a lifecycle step was carried out with, and its result."""


class StepSkippedRecord(msgspec.Struct, frozen=True, tag="skipped", omit_defaults=True):
    """A step will not be run, and why."""

    step: int
    at: float
    because: str


class RollbackRecord(msgspec.Struct, frozen=True, tag="rollback", omit_defaults=True):
    """The job has failed, and is rolled back from here on."""

    at: float

    first: int
    """The first step of its plan that belongs to the rollback."""

    first_edge: int
    """The first edge that does."""

    remains: tuple[str, ...] = ()
    """What cannot be rolled back, for people."""

    gone: tuple[str, ...] = ()
    """The instances that must not exist in the end."""

    delta: Delta | None = None
    """The instances that are created again."""


class CancelRecord(msgspec.Struct, frozen=True, tag="cancel", omit_defaults=True):
    """The job is asked to end: nothing new starts from here on."""

    at: float

    by: str = ""
    """Who asks, "" for nobody: its time is over."""

    now: bool = False
    """Whether what runs is ended."""

    because: str = ""
    """Why, where nobody asks."""


class JobClosingRecord(msgspec.Struct, frozen=True, tag="closing", omit_defaults=True):
    """All steps are decided; from here on only files are written."""

    at: float

    status: str
    """The status of the job."""

    outputs: dict[str, object] = {}

    rollback: str = ""
    """"complete" or "incomplete" if the job was rolled back."""

    remains: tuple[str, ...] = ()
    """What was not rolled back then."""

    handled: bool = False
    """Each failure was followed by steps of the workflow for that case, and these succeeded."""

    is_untouched: bool = False
    """It failed, or was cancelled, before any operation of a resource changed anything: what was deployed before
    still is."""

    delta: Delta | None = None
    """What the end itself changes (see ``work.forms``)."""

    again: tuple[str, ...] = ()
    """The instances that were replaced meanwhile, without what they had held."""


ROLLED_BACK = "complete"
NOT_ROLLED_BACK = "incomplete"


Record = (
    StepStartedRecord
    | StepProcessRecord
    | StepRetryRecord
    | StepFinishedRecord
    | StepSkippedRecord
    | RollbackRecord
    | CancelRecord
    | JobClosingRecord
)


class Journal(Protocol):
    """Where records go; a job's first is its header with the plan."""

    def open(self, header: JobHeader, plan: Plan, delta: Delta) -> None:
        """Begin a job durably; ``delta`` holds the new instances that the plan makes."""

    def extend(self, plan: Plan, record: RollbackRecord) -> None:
        """Begin to roll the job back, in the current turn: ``plan`` is its plan with the steps for that."""

    def append(self, record: Record) -> None:
        """Add a record to the current turn."""

    def commit(self) -> None:
        """Make all records of the turn durable at once."""
