"""What is handed to an executor, what comes back, and the ports through which it goes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from ordito.work.inventory import OperationSubject
from ordito.work.needs import ImplementationNeeds
from ordito.work.targets import HostTarget

SCRATCH = "ordito-scratch:/"
"""Stands, at the beginning of a path or inside a value, for the operation's own scratch folder and a ``/``.

Where that folder is, only the executor knows. It replaces every occurrence of this text in ``environment``, ``large``
and ``FilePlacement.path`` by the folder's absolute path followed by ``/``, right before it starts the operation.
"""


class FilePlacement(msgspec.Struct, frozen=True):
    """A file of the service that an operation wants at a certain place while it runs (``get_artifact``, §4.8.1).

    ``file`` is relative to ``Invocation.root`` (or an absolute URL). ``path`` is where the copy goes: absolute, or
    beginning with ``SCRATCH``, or "" for ``SCRATCH`` followed by the file's own relative path; folders are made as
    needed, and a file that is a folder is copied with everything in it. ``remove`` says whether the copy is removed
    when the operation has ended, well or not. ``own`` marks the copy that an operation has for itself because a
    variable names the artifact: it lies in the scratch folder, may be written to, and stays as long as a process of the
    operation does. Where the file is not there, or is large, there is none, or a link (``executors/copies.py``).
    """

    file: str
    path: str = ""
    remove: bool = False
    own: bool = False


class Helpers(msgspec.Struct, frozen=True):
    """Programs that an operation finds where it runs, those in the folder ``helpers`` of a bundled ``profile``: its
    ``bin`` is first in PATH, its ``lib`` first in PYTHONPATH. Scripts in Python have the ``NAMES`` of its module
    ``names`` as their own, "" for none. They need ``python3``."""

    profile: str
    names: str = ""


class Launch(msgspec.Struct, frozen=True):
    """How a script is started, where that is not for the executor to say: ``arguments`` are its words, ``prefix`` the
    words of the command that is given its path instead of its interpreter, ``folder`` the working directory, "" for the
    scratch folder."""

    arguments: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    folder: str = ""


class Invocation(msgspec.Struct, frozen=True):
    """One operation to run, ready to go: nothing in it needs the model any more.

    ``job`` and ``step`` identify it (the pair is handed to the process, so that everything it leaves behind can be
    found again), ``attempt`` counts from 1. ``root`` is the absolute path of the service's pinned tree, ``artifact``
    and ``dependencies`` are relative to it. ``environment`` is complete: nothing of the orchestrator's own
    environment is added save the basic variables every process needs. ``large`` holds variables that did not fit
    the environment. ``outputs`` are the variables wanted back. ``timeout`` is in seconds. ``host`` is the instance
    on which it runs, "" for the orchestrator, and ``target`` how that is reached, None for this machine. ``files`` are
    copies to make in this order before the operation starts; those marked so are removed after it, also when it fails.
    ``data`` is what the processor of a workflow is given, ``needs`` what else the artifact needs, None for nothing,
    ``subject`` whom the operation is for, for executors that understand more than texts. ``documents`` are texts that
    it finds in files which nobody else can read and which go when it has ended, by the variables that name them.
    ``helpers`` are programs that it needs, ``launch`` says how it is started.
    """

    job: str
    step: str
    attempt: int
    processor: str
    root: str
    artifact: str
    environment: dict[str, str]
    dependencies: tuple[str, ...] = ()
    large: dict[str, str] = {}
    outputs: tuple[str, ...] = ()
    timeout: float | None = None
    host: str = ""
    files: tuple[FilePlacement, ...] = ()
    data: Mapping[str, object] | None = None
    target: HostTarget | None = None
    needs: ImplementationNeeds | None = None
    subject: OperationSubject | None = None
    documents: Mapping[str, str] = {}
    helpers: Helpers | None = None
    launch: Launch = Launch()


class Ending(StrEnum):
    """How an operation ended. ``UNREACHABLE``: it was never started, because its host could not be reached. ``LOST``:
    the connection to its host was lost while it was at work, and nobody knows how it ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"
    NOT_STARTED = "not started"
    UNREACHABLE = "unreachable"
    LOST = "lost"
    BY_HAND = "skipped by hand"


class Evidence(StrEnum):
    """How the end of a step was found out that was running when a job was interrupted."""

    SEEN = ""
    """Nothing had to be found out: its end was seen."""

    CHECK = "check"
    """By what the check of its instance reports."""

    RESULT = "result"
    """By the result that the operation has left behind."""


# Every step is asked several times whether it succeeded, and an enum's members cost a look-up each.
_SUCCEEDED, _BY_HAND = Ending.SUCCEEDED, Ending.BY_HAND


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one operation ended and what it gave.

    ``changed`` is what the operation reported about having modified the instance, None if it did not say;
    ``status`` a status it reported, ``done`` whether an in-doubt operation is done. ``message`` is one line for
    people, ``tail`` the last lines it printed. ``seconds`` is the running time. ``refused`` says of one that could not
    be reached that its host is there and lets nobody in, or cannot be tried at all: waiting does not help. ``found``
    says by what a good end was found after an interruption: how long it ran nobody knows. ``attributes`` are values
    that the operation has set by itself, however it ended, by SELF, SOURCE or TARGET and name; None removes one.
    ``again`` are the seconds after which it asks to be tried again, negative for the usual time, None where it does not
    ask; ``final`` says that trying it again does not help.
    """

    ending: Ending
    exit_code: int | None = None
    outputs: dict[str, object] = {}
    changed: bool | None = None
    status: str = ""
    done: bool | None = None
    message: str = ""
    tail: tuple[str, ...] = ()
    seconds: float = 0.0
    refused: bool = False
    found: Evidence = Evidence.SEEN
    attributes: Mapping[str, Mapping[str, object]] = {}
    again: float | None = None
    final: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether the operation did what it should, or somebody did it in its place."""
        ending = self.ending
        return ending is _SUCCEEDED or ending is _BY_HAND


class Started(msgspec.Struct, frozen=True, omit_defaults=True):
    """The process of an operation, with what is needed to find that very process again after a crash: process id, its
    start time in clock ticks since boot, boot id, host name, and the scratch slot it uses."""

    pid: int
    start_time: int
    boot: str
    machine: str
    slot: str = ""


class Printed(msgspec.Struct, frozen=True):
    """A piece of output of an operation, as it came (bytes that end anywhere)."""

    data: bytes


Progress = Started | Printed | Outcome
"""What an executor tells about one step; the outcome comes last."""


class InDoubt(msgspec.Struct, frozen=True):
    """An attempt at a step that was started before a crash. ``started`` is None if the crash came before the process
    was recorded. ``outputs`` are the variables wanted back, ``processor`` is what has carried it out. ``record`` is the
    number of the journal's record that says that it began, negative for none, and ``assumed`` what may be assumed of it
    (``OperationCall.in_doubt``)."""

    job: str
    step: str
    attempt: int
    started: Started | None = None
    outputs: tuple[str, ...] = ()
    target: HostTarget | None = None
    processor: str = ""
    record: int = -1
    assumed: str = ""


class Epoch(msgspec.Struct, frozen=True):
    """By whom an ensemble is held that several machines work on: whoever takes it has a higher ``number``. Epochs of
    different ``ensemble`` ids say nothing of each other: an ensemble gets another one where it is moved."""

    number: int
    worker: str
    ensemble: str = ""


class Hold(Protocol):
    """How this process holds an ensemble that others may take over. Executors ask it before they start anything, and
    about operations of other machines."""

    @property
    def epoch(self) -> Epoch:
        """By whom it is held, and since when."""

    @property
    def is_sure(self) -> bool:
        """Whether operations may be started now: nobody else can have taken it over."""

    @property
    def is_guarded(self) -> bool:
        """Whether a guard ends what is at work on this machine once this process and its worker are gone."""

    async def be_sure(self) -> None:
        """Wait until operations may be started. Where somebody else has taken it over, this process ends."""

    async def is_elsewhere(self, doubt: InDoubt) -> bool:
        """Whether an operation ran in the home of another worker."""

    async def ask(self, doubt: InDoubt) -> Outcome | None:
        """How an operation has ended that ran elsewhere, as ``Executor.settle`` finds it out: in the home of the worker
        that ran it, by whoever works there now. Where nobody does for too long it has ended ``LOST``."""


class Executor(Protocol):
    """Runs operations somewhere. ``batch_key`` says what may be handed over together (default: the step alone)."""

    def accepts(self, processor_kinds: Sequence[str], protocol: str = "") -> bool:
        """Whether this executor processes an implementation artifact of these types (the type and its ancestors) on
        hosts that are reached by a protocol, "" for this machine."""

    def batch_key(self, invocation: Invocation) -> str:
        """Invocations with equal keys may be run as one batch."""

    def run(self, batch: Sequence[Invocation]) -> AsyncIterator[tuple[str, Progress]]:
        """Run a batch; yield (step id, progress) as it happens, an outcome for each step at the end of it."""

    async def cancel(self, step: str) -> None:
        """End a running step's processes; its outcome then says that it was cancelled."""

    async def settle(self, doubt: InDoubt) -> Outcome | None:
        """After a crash: end the processes of a started step that still run, and tell how this attempt ended if that is
        known. A step whose host cannot be reached has ended ``LOST``: it must not run again before that is known."""

    def close(self) -> None:
        """Remove what is kept for ``settle``; called when the outcomes of the job are in its files."""
