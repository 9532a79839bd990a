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
    """The files that a job was made from, where they lay: ``origin`` is the folder of which the service's pin is a copy
    ("" for none), ``named`` the places in it of the files that the service names, ``others`` the absolute paths of
    further files (an archive, files with values of inputs) with what tells whether they were written to since: not
    their digests, from which secrets could be guessed. ``definite`` are those of them that are as much a part of what
    is deployed as the service's own files: the archive, and files that are merged into `ensemble.yaml`."""

    origin: str = ""
    named: tuple[str, ...] = ()
    others: dict[str, str] = {}
    definite: tuple[str, ...] = ()


class GivenValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """A topology input's value that came with a command and is remembered by the ensemble.

    It wins for as long as the user's part of the ensemble says of this input what it said then, ``over`` (None for
    nothing), and in that ``environment`` only ("" for none).
    """

    value: object
    over: object = None
    environment: str = ""


class GivenService(msgspec.Struct, frozen=True, omit_defaults=True):
    """The service that `upgrade` was given and that is remembered by the ensemble: its ``path``, as seen from the
    ensemble. It wins for as long as the user's part of the ensemble names the one that it named then, ``over``."""

    path: str
    over: str = ""


class LeftBehind(msgspec.Struct, frozen=True, omit_defaults=True):
    """Nodes that the template has lost while instances of them existed, and how they were deployed: the entry
    definitions file of their pinned service, its evaluated inputs, and what was chosen."""

    nodes: tuple[str, ...]
    main: str
    inputs: dict[str, object] = {}
    choices: Choices = Choices()


class Form(msgspec.Struct, frozen=True, omit_defaults=True):
    """A service as some job has deployed it: the digest of its pinned files, its entry definitions file, its evaluated
    inputs, and what was chosen. Forms are known by the id of that job.

    ``given`` are the inputs that were remembered then, ``named`` the service, ``environment`` the one that it worked
    in, and ``revision`` is the number of the revision that the job has made, 0 where it did not end well.
    """

    service: str
    main: str
    inputs: dict[str, object] = {}
    choices: Choices = Choices()
    given: dict[str, GivenValue] = {}
    named: GivenService | None = None
    environment: str = ""
    revision: int = 0


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
    """The form that something says; ``revision`` is the number of the one that it is."""
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


class JobHeader(msgspec.Struct, frozen=True, omit_defaults=True):
    """The first record of a job.

    ``service`` is the digest of the pinned service, ``main`` its entry definitions file, ``inputs`` the evaluated
    topology inputs, ``given`` those of them that the ensemble is to remember, ``choices`` what was chosen
    where the service leaves a choice, ``sources`` the files it was made from, ``options`` how the job runs,
    ``environment`` the name of the one it works in, "" for none, and ``variables`` those that it gives to every
    operation, texts that may be sensitive. ``began``
    is seconds since the epoch. ``ticks`` is the number of consecutive ticks whose changeIds the job has reserved, its
    own first (see ``base.change_ids``). ``left`` are nodes that earlier forms of the service had and this one has not,
    by the digest of the pinned service that they come from. ``retries`` is the job whose remaining steps this one
    carries out, "" for none; ``cause`` says what began it where no command did: a trigger, and the event that it heard.
    ``hosts`` is the inventory that it works with, as seen from the ensemble, "" for none; ``hosts_given`` whether a
    command has named it, so that it is remembered.
    ``ensemble`` is the id of the deployment, "" where the job needs none.
    ``forms`` are earlier forms of the service that the plan speaks of, or in which instances are, by their ids.
    ``current`` is the one that instances were in when the job began whose record names none, ``base`` the last one that
    was deployed completely, to which a rollback leads; "" where there is none. ``named`` is the service that the
    ensemble is to remember in the place of the one that the user's part names.
    """

    id: str
    workflow: str
    service: str
    main: str
    began: float
    inputs: dict[str, object] = {}
    options: JobOptions = JobOptions()
    machine: str = ""
    user: str = ""
    ticks: int = 1
    given: dict[str, GivenValue] = {}
    choices: Choices = Choices()
    left: dict[str, LeftBehind] = {}
    sources: JobSources = JobSources()
    environment: str = ""
    variables: dict[str, object] = {}
    retries: str = ""
    cause: str = ""
    hosts: str = ""
    hosts_given: bool = False
    ensemble: str = ""
    forms: dict[str, Form] = {}
    current: str = ""
    base: str = ""
    named: GivenService | None = None

    @property
    def form(self) -> Form:
        """The form that the job deploys, or works with."""
        return form_of(self)


class StepStartedRecord(msgspec.Struct, frozen=True, tag="started", omit_defaults=True):
    """A step was started; from here until its end it is in doubt if the process dies. ``change`` is the changeId that
    its end will bear, ``delta`` what starting changes (node state, status), ``warnings`` what deserves attention.
    ``inputs`` are those of the operation as they may be shown, where the workflow has them kept."""

    step: int
    at: float
    attempt: int = 1
    change: str = ""
    delta: Delta | None = None
    warnings: tuple[str, ...] = ()
    inputs: Mapping[str, object] = {}


class StepProcessRecord(msgspec.Struct, frozen=True, tag="process", omit_defaults=True):
    """The process of a started step."""

    step: int
    started: Started


class StepRetryRecord(msgspec.Struct, frozen=True, tag="retrying", omit_defaults=True):
    """An attempt of a step failed with this outcome, and another is to follow ``due`` seconds after the epoch. Until
    then nothing of the step runs, and it is not in doubt."""

    step: int
    at: float
    attempt: int
    outcome: Outcome
    due: float
    change: str = ""


class StepFinishedRecord(msgspec.Struct, frozen=True, tag="finished", omit_defaults=True):
    """A step ended with this outcome; ``change`` is its changeId ("" for no-ops), ``delta`` what it changes, and
    ``attempt`` the number of its last attempt. One that turned out not to be needed has succeeded without having run:
    ``because`` says why. ``inputs`` are those of an operation that does nothing, as those of others are when they
    start. ``hook`` is what a lifecycle step was carried out with, and what came of it."""

    step: int
    at: float
    outcome: Outcome
    change: str = ""
    delta: Delta | None = None
    no_op: bool = False
    attempt: int = 1
    because: str = ""
    inputs: Mapping[str, object] = {}
    hook: HookResult | None = None


class StepSkippedRecord(msgspec.Struct, frozen=True, tag="skipped", omit_defaults=True):
    """A step will not be run, and why."""

    step: int
    at: float
    because: str


class RollbackRecord(msgspec.Struct, frozen=True, tag="rollback", omit_defaults=True):
    """The job has failed, and what it did is rolled back from here on: by the steps of its plan from ``first`` on, with
    the edges from ``first_edge`` on. ``remains`` is what they cannot take back, for people; ``gone`` are the instances
    that are not to be there in the end. ``delta`` holds those that are to be made again."""

    at: float
    first: int
    first_edge: int
    remains: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    delta: Delta | None = None


class JobClosingRecord(msgspec.Struct, frozen=True, tag="closing", omit_defaults=True):
    """All steps are decided; from here on only files are written. ``status`` is the job's status. ``rollback`` is
    "complete" or "incomplete" where what the job did was rolled back, ``remains`` then what was not, and ``again`` are
    instances that were removed and made again meanwhile, without what they had held. The failures of a job that was
    ``handled`` had something in the workflow that was there for them, and was done well. One that
    ``is_untouched`` has failed, or was cancelled, before any operation of a resource changed anything: what was
    deployed before still is. ``delta`` is what the end itself changes (see ``work.forms``)."""

    at: float
    status: str
    outputs: dict[str, object] = {}
    rollback: str = ""
    remains: tuple[str, ...] = ()
    handled: bool = False
    is_untouched: bool = False
    delta: Delta | None = None
    again: tuple[str, ...] = ()


ROLLED_BACK = "complete"
NOT_ROLLED_BACK = "incomplete"


Record = (
    StepStartedRecord
    | StepProcessRecord
    | StepRetryRecord
    | StepFinishedRecord
    | StepSkippedRecord
    | RollbackRecord
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
