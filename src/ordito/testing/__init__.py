"""Helpers for tests of services, executors, providers, and blocks of lifecycle steps.

There are two ways. ``MemoryEnsemble`` runs workflows of a service in memory, with a fake clock and given executors:
with the same plans and engine as `ordito deploy`, but without processes or files. ``temporary_ensemble`` makes a real
ensemble in a folder of its own, with the real executors, and undeploys everything at the end. Nothing else of Ordito
imports this module, and it needs no test framework.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import weakref
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from ordito.app.errors import Refused
from ordito.app.inputs.gathered import read_given
from ordito.app.job.report import JobReport
from ordito.app.output import OutputRequest, output
from ordito.app.proposal import Proposal
from ordito.app.requests import DeployRequest, GivenInputs, Request, UndeployRequest
from ordito.app.services.read import ReadService, read_service
from ordito.app.workflow_run import WorkflowRequest
from ordito.app.workflow_run import run_workflow as carry_out
from ordito.authoring.block_test import BlockTest, BlockTestRequest, test_block
from ordito.authoring.blocks import BlocksRequest
from ordito.base.change_ids import ChangeIds
from ordito.base.diagnostics import Diagnostic, Diagnostics, InvalidDocument
from ordito.engine.driver import run_job
from ordito.engine.messages import Counts
from ordito.ensemble.store import read_ensemble
from ordito.instances.records import Delta, Instance, Snapshot
from ordito.model.inputs import bind_inputs
from ordito.model.service import COMPUTE, Service
from ordito.operations.operations import PlanOperations
from ordito.planning.options import Abilities, Goal, Maker, PlanOptions, Scaling
from ordito.planning.workflows import plan
from ordito.work.events import Event, Listener, StepFailed
from ordito.work.invocation import Ending, Executor, InDoubt, Invocation, Outcome, Printed, Progress, Started
from ordito.work.options import JobOptions
from ordito.work.plan import Plan
from ordito.work.providing import Delegation, Provided, Provider, ProviderFinding, Providers
from ordito.work.records import JobHeader, Record, RollbackRecord
from ordito.work.targets import HostTarget
from ordito.work.workflows import DEPLOY

BEGINNING = 1_800_000_000.0
"""The time, in seconds since the epoch, at which a fake clock begins."""


class FakeClock:
    """A clock that advances by ``step`` seconds whenever ``now`` is called, and by ``advance``."""

    def __init__(self, seconds: float = BEGINNING, step: float = 1.0) -> None:
        self.seconds = seconds
        self.step = step

    def now(self) -> float:
        """Seconds since the epoch."""
        self.seconds += self.step
        return self.seconds

    def monotonic(self) -> float:
        """Seconds since some moment; calling it does not advance the clock."""
        return self.seconds

    def advance(self, seconds: float) -> None:
        """Advance the clock."""
        self.seconds += seconds


# ----------------------------------------------------------------------------------------------------------- executors

Answer = Outcome | Mapping[str, object] | Callable[[Invocation], "Outcome | Mapping[str, object]"]
"""How an operation ends: an outcome, the outputs of a success, or a function that returns one of these."""


def succeeds(outputs: Mapping[str, object] | None = None, *, changed: bool | None = None) -> Outcome:
    """The outcome of an operation that succeeds; ``changed`` is what it reports about having modified its instance."""
    return Outcome(Ending.SUCCEEDED, exit_code=0, outputs=dict(outputs or {}), changed=changed)


def fails(exit_code: int = 1, message: str = "") -> Outcome:
    """The outcome of an operation that fails."""
    return Outcome(Ending.FAILED, exit_code=exit_code, message=message or f"exit code {exit_code}")


def unreachable(message: str = "the host does not answer") -> Outcome:
    """The outcome of an operation that was never started, because its host could not be reached."""
    return Outcome(Ending.UNREACHABLE, message=message)


class RecordingExecutor:
    """An executor that runs nothing: it records what it was asked to run, and gives prepared answers.

    The keys of ``answers`` are ids of steps, as ``web_1.Standard.start``, or patterns, as ``*.start``; the first that
    fits counts. A list has one answer for each call, the last one for all further calls. A step without an answer
    succeeds, and each wanted output is a text with the output's name.
    """

    def __init__(self, answers: Mapping[str, Answer | Sequence[Answer]] | None = None) -> None:
        self._answers = {name: list(a) if isinstance(a, list | tuple) else [a] for name, a in (answers or {}).items()}
        self.calls: list[Invocation] = []
        """What it was asked to run, in order, with the environment in which operations find their inputs."""
        self.cancelled: list[str] = []
        """The ids of the steps that were cancelled."""

    @property
    def steps(self) -> list[str]:
        """The ids of the steps that it was asked to run, in order."""
        return [invocation.step for invocation in self.calls]

    def call(self, step: str) -> Invocation:
        """The latest call of a step. Raises ``LookupError`` if there was none."""
        for invocation in reversed(self.calls):
            if invocation.step == step:
                return invocation
        raise LookupError(f"{step} was not run; these were: {', '.join(self.steps) or 'none'}")

    def accepts(self, processor_kinds: Sequence[str], protocol: str = "") -> bool:
        """True for everything, everywhere."""
        return True

    def batch_key(self, invocation: Invocation) -> str:
        """A key of its own for each invocation."""
        return invocation.step

    async def run(self, batch: Sequence[Invocation]) -> AsyncIterator[tuple[str, Progress]]:
        """Answer."""
        for invocation in batch:
            self.calls.append(invocation)
            yield invocation.step, Started(len(self.calls), 0, "none", "none")
            await asyncio.sleep(0)
            yield invocation.step, self._answer(invocation)

    async def cancel(self, step: str) -> None:
        """Remember it."""
        self.cancelled.append(step)

    async def settle(self, doubt: InDoubt) -> Outcome | None:
        """None: nothing is known of a step that was running when a job was interrupted."""
        return None

    def close(self) -> None:
        """Does nothing."""

    def _answer(self, invocation: Invocation) -> Outcome:
        found = next((a for name, a in self._answers.items() if fnmatchcase(invocation.step, name)), None)
        if found is None:
            return succeeds({name: name for name in invocation.outputs})
        answer = found.pop(0) if len(found) > 1 else found[0]
        given: Any = answer(invocation) if callable(answer) else answer
        return given if isinstance(given, Outcome) else succeeds(given)


class Ran(msgspec.Struct, frozen=True):
    """How an executor ran one operation."""

    outcome: Outcome
    """How it ended."""
    printed: str
    """What it printed."""


def run_operation(  # noqa: PLR0913  (what an operation is given)
    executor: Executor,
    folder: str | Path,
    artifact: str,
    environment: Mapping[str, str] | None = None,
    *,
    kind: str = "tosca.artifacts.Implementation.Bash",
    outputs: Collection[str] = (),
    target: HostTarget | None = None,
    timeout: float | None = 60.0,
) -> Ran:
    """Let an executor run one operation by itself: the ``artifact`` of a ``folder``, with these variables.

    ``kind`` is the type of the artifact, ``outputs`` are the names of the wanted outputs, ``target`` is the host on
    which it runs, None for this machine, and ``timeout`` is in seconds. Raises ``LookupError`` if the executor does not
    accept such an artifact.
    """
    protocol = "" if target is None else target.protocol
    if not executor.accepts((kind,), protocol):
        raise LookupError(f"the executor accepts no {kind}" + (f" on hosts reached by {protocol}" if protocol else ""))
    invocation = Invocation(
        "job",
        "node_1.Standard.create",
        1,
        kind,
        str(Path(folder).resolve()),
        artifact,
        dict(environment or {}),
        outputs=tuple(outputs),
        timeout=timeout,
        target=target,
    )

    async def collect() -> Ran:
        printed = b""
        async for _, progress in executor.run([invocation]):
            if isinstance(progress, Printed):
                printed += progress.data
            elif isinstance(progress, Outcome):
                return Ran(progress, printed.decode("utf-8", "replace"))
        raise LookupError("the executor did not report how the operation ended")

    try:
        return asyncio.run(collect())
    finally:
        executor.close()


class _MadeHere:
    """The provider of Computes that no other provider makes: each is this machine."""

    name, protocol = "memory", ""

    def provides(self, kinds: Sequence[str]) -> bool:
        return COMPUTE in kinds

    async def create(self, asked: Delegation) -> Provided:
        return Provided({"public_address": "127.0.0.1", "private_address": "127.0.0.1"})

    async def delete(self, asked: Delegation) -> bool:
        return True

    async def look(self, asked: Delegation) -> ProviderFinding:
        return ProviderFinding("ok")

    def target(self, instance: str, attributes: Mapping[str, object]) -> HostTarget | None:
        return None


# ----------------------------------------------------------------------------------------------------------- in memory


class MemoryJournal:
    """The journal of a job in memory. ``records`` has only what was committed."""

    def __init__(self, records: Collection[Record] = ()) -> None:
        self.records: list[Record] = list(records)
        self.opened: Delta | None = None
        self.turns: list[int] = []
        self._pending: list[Record] = []

    def open(self, header: JobHeader, plan: Plan, delta: Delta) -> None:
        """Begin."""
        self.opened = delta

    def extend(self, plan: Plan, record: RollbackRecord) -> None:
        """Continue with the steps of a rollback."""
        self.plan = plan
        self.append(record)

    def append(self, record: Record) -> None:
        """Add a record to the current turn."""
        self._pending.append(record)

    def commit(self) -> None:
        """End the turn."""
        self.records.extend(self._pending)
        self.turns.append(len(self.records))
        self._pending.clear()


class MemoryRun(msgspec.Struct, frozen=True):
    """How a workflow ran in memory."""

    ensemble: MemoryEnsemble
    """The ensemble after it."""
    status: str
    """``ok``, ``degraded`` or ``failed``."""
    counts: Counts
    """The numbers of steps by how they ended."""
    plan: Plan
    """The plan."""
    events: tuple[Event, ...]
    """Its events, in order: those of `--json`."""
    failures: tuple[StepFailed, ...] = ()
    """The steps that failed, each with its outcome."""


class MemoryEnsemble:
    """A deployment of a service in memory.

    ``service`` is the path of a definitions file, of a folder that contains one or of an archive, or the text of a
    definitions file; ``inputs`` are those of the topology. ``executors`` run the operations, by default one
    ``RecordingExecutor``, and ``providers`` make nodes; Computes that none of them makes exist at once. Raises
    ``InvalidDocument`` if the service or an input is not valid.
    """

    def __init__(
        self,
        service: str | Path,
        inputs: Mapping[str, object] | None = None,
        *,
        executors: Sequence[Executor] = (),
        providers: Sequence[Provider] = (),
    ) -> None:
        self.executors = tuple(executors) or (RecordingExecutor(),)
        self.clock = FakeClock()
        self.snapshot = Snapshot()
        """All records: instances, links and attributes."""
        if _is_text(service):
            folder = tempfile.mkdtemp(prefix="ordito-test-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            service = _write(Path(folder) / "service", str(service))
        read = _read(service)
        self.service = read.service
        """The service, resolved."""
        self._root = read.package.root
        self.inputs = _bound(self.service, inputs or {})
        self._providers = Providers((*providers, _MadeHere()))
        self._jobs = 0

    def plan(
        self, workflow: str = DEPLOY, *, about: Collection[str] = (), scale: Mapping[str, int] | None = None
    ) -> Plan:
        """What a workflow would do now. ``about`` names the instances for workflows that are not about all, such as
        `heal`, `stop` or `check`; ``scale`` has the numbers of instances for `scale`. Raises ``PlanRefused``."""
        return plan(workflow, self.service, self.snapshot, self.inputs, self._options(about, scale or {}))

    def run(
        self,
        workflow: str = DEPLOY,
        *,
        about: Collection[str] = (),
        scale: Mapping[str, int] | None = None,
        options: JobOptions | None = None,
    ) -> MemoryRun:
        """Plan a workflow as ``plan`` does, and carry it out. Raises ``PlanRefused``."""
        made = self.plan(workflow, about=about, scale=scale)
        self._jobs += 1
        job = f"A6BKKQCN{self._jobs << 12:04x}"
        events: list[Event] = []
        header = JobHeader(job, workflow, "digest", "service.yaml", self.clock.now(), options=options or JobOptions())
        result = asyncio.run(
            run_job(
                header,
                made,
                PlanOperations(self.service, self.snapshot, made, self.inputs, root=self._root, job=job),
                self.snapshot,
                executors=self.executors,
                providers=self._providers,
                journal=MemoryJournal(),
                clock=self.clock,
                change_ids=ChangeIds(job),
                listeners=[_remembering(events)],
                tells_inputs=True,
            )
        )
        return MemoryRun(self, result.status, result.counts, made, tuple(events), result.failed)

    @property
    def instances(self) -> Mapping[str, Instance]:
        """The instances that exist, by id, each with its ``state`` and its status (``local``)."""
        return {i.id: i for i in self.snapshot.instances.values() if i.exists}

    def attributes(self, instance: str) -> Mapping[str, object]:
        """The recorded attributes of an instance."""
        return self.snapshot.attributes.get(instance, {})

    def _options(self, about: Collection[str], scale: Mapping[str, int]) -> PlanOptions:
        def accepts(kinds: Sequence[str], protocol: str = "") -> bool:
            return any(executor.accepts(kinds, protocol) for executor in self.executors)

        def maker(node: str, kinds: Sequence[str]) -> Maker:
            found = self._providers.of(node, kinds)
            return Maker() if found is None else Maker(found.name, found.protocol)

        return PlanOptions(
            Abilities(accepts=accepts, accepts_on=accepts, provides=self._providers.provides, maker=maker),
            instances=frozenset(about) if about else None,
            scaling=Scaling(tuple(Goal(node, count) for node, count in scale.items())),
        )


def run_workflow(
    service: str | Path,
    workflow: str = DEPLOY,
    inputs: Mapping[str, object] | None = None,
    *,
    executor: Executor | None = None,
) -> MemoryRun:
    """Run one workflow in memory, of a service of which nothing exists yet. The result has the ``ensemble``, on which
    further workflows can be run."""
    return MemoryEnsemble(service, inputs, executors=(executor,) if executor is not None else ()).run(workflow)


def _is_text(service: str | Path) -> bool:
    return isinstance(service, str) and "\n" in service


def _write(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "service.yaml").write_text(text, encoding="utf-8")
    return folder


def _read(service: str | Path) -> ReadService:
    """The service at a path. Raises ``InvalidDocument``."""
    diagnostics = Diagnostics()
    read = read_service(str(service), diagnostics)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    return read


def _bound(service: Service, inputs: Mapping[str, object]) -> dict[str, object]:
    diagnostics = Diagnostics()
    values = read_given(_given(inputs), diagnostics)
    bound: dict[str, object] = dict(bind_inputs(service, values, diagnostics))
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    return bound


def _given(inputs: Mapping[str, object]) -> GivenInputs:
    return GivenInputs(values=dict(inputs))


# ------------------------------------------------------------------------------------------------------------- on disk


def _remembering(events: list[Event]) -> Listener:
    def listen(event: Event) -> None:
        events.append(event)

    return listen


class Agreeing:
    """A conversation for use cases in tests: it agrees to every plan, and records what it is told."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        """The events of jobs."""
        self.diagnostics: list[Diagnostic] = []
        """Warnings and notes about documents."""

    def found(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Remember."""
        self.diagnostics.extend(diagnostics)

    def warn(self, text: str) -> None:
        """Nobody listens."""

    def approve(self, proposal: Proposal) -> bool:
        """Yes."""
        return True

    def confirm(self, intent: str, lines: Sequence[str], *, asks: bool = True) -> bool:
        """Yes."""
        return True

    @property
    def wants_inputs(self) -> bool:
        """Yes."""
        return True

    def listener(self) -> Listener:
        """Remember."""
        return _remembering(self.events)

    def cancelling(self, cancel: Callable[[], None]) -> AbstractContextManager[None]:
        """Nobody cancels."""
        return nullcontext()

    def cancel_asked(self, times: int, why: str) -> None:
        """Nobody cancels."""


class TemporaryEnsemble:
    """An ensemble on disk for a test, as `ordito -e DIR` makes it. ``temporary_ensemble`` makes one."""

    def __init__(self, directory: Path, service: str) -> None:
        self.directory = directory
        """The ensemble's directory."""
        self.events: list[Event] = []
        """The events of its jobs, in order."""
        self._service = service

    def deploy(self, inputs: Mapping[str, object] | None = None) -> JobReport | None:
        """Deploy the service; None if there was nothing to do. Raises ``InvalidDocument``, ``PlanRefused`` and
        ``Refused``."""
        return self.run(DeployRequest("" if self._is_made else self._service, inputs=_given(inputs or {})))

    def undeploy(self) -> JobReport | None:
        """Remove everything; None if there was nothing to do."""
        return self.run(UndeployRequest())

    def run(self, request: Request, options: JobOptions | None = None) -> JobReport | None:
        """Carry out a request of any workflow (`ordito.app.requests`), without asking; None if there was nothing to do.
        Raises ``Refused`` and the like where the command would refuse."""
        listener = Agreeing()
        asked = WorkflowRequest(str(self.directory), request, options or JobOptions())
        report = carry_out(asked, listener).report
        self.events += listener.events
        return report

    @property
    def instances(self) -> Mapping[str, Instance]:
        """The instances that exist, by id, each with its ``state`` and its status (``local``)."""
        if not self._is_made:
            return {}
        with read_ensemble(self.directory) as ensemble:
            return {i.id: i for i in ensemble.snapshot.instances.values() if i.exists}

    def attributes(self, instance: str) -> Mapping[str, object]:
        """The recorded attributes of an instance."""
        with read_ensemble(self.directory) as ensemble:
            return dict(ensemble.snapshot.attributes.get(instance, {}))

    @property
    def outputs(self) -> Mapping[str, object]:
        """The outputs of the topology, evaluated now."""
        return output(OutputRequest(str(self.directory))).outputs

    @property
    def _is_made(self) -> bool:
        return (self.directory / "ensemble.yaml").exists()


def run_block(
    catalog: str | Path,
    name: str,
    config: Mapping[str, object] | None = None,
    *,
    undo: bool = False,
    root: str | Path = ".",
    lines: list[str] | None = None,
) -> BlockTest:
    """Carry out a block of a catalogue once, as a lifecycle step would, in a folder of its own, and undo it afterwards
    if that is asked for. It really does what it does.

    Args:
        catalog: The file or folder of the catalogue.
        name: The block, ``name@version#Type`` or a part of it that names one block.
        config: What the step would say, as plain data; it is checked against the types that the block declares.
        undo: Whether it is undone afterwards.
        root: The folder in which files are that the config names.
        lines: What it prints is added here, without secrets.

    Returns:
        How ``execute`` and ``undo`` ended, each with its ``outputs``.

    Raises:
        InvalidDocument: The catalogue or the config is wrong.
        Refused: There is no such block, or it cannot be tested or undone.
    """
    printed: list[bytes] = []
    where = BlocksRequest(catalogs=(str(catalog),))
    request = BlockTestRequest(where, name, _given(config or {}), undo=undo, root=str(root))
    tested = test_block(request, printed.append)
    if lines is not None:
        lines += b"".join(printed).decode(errors="replace").splitlines()
    return tested


@contextmanager
def temporary_ensemble(service: str | Path, inputs: Mapping[str, object] | None = None) -> Iterator[TemporaryEnsemble]:
    """An ensemble of a service (a path, or a text as in ``MemoryEnsemble``) in a folder of its own.

    It is deployed at once if ``inputs`` are given, if only ``{}``. At the end everything that exists is undeployed, and
    the folder is removed. If something could not be undeployed, ``Refused`` says so, and the folder stays.
    """
    folder = Path(tempfile.mkdtemp(prefix="ordito-test-"))
    if _is_text(service):
        service = _write(folder / "service", str(service))
    ensemble = TemporaryEnsemble(folder / "ensemble", str(service))
    try:
        if inputs is not None:
            ensemble.deploy(inputs)
        yield ensemble
    finally:
        report = ensemble.undeploy() if ensemble.instances else None
        if report is not None and report.failures:
            failed = ", ".join(f"{f.step}: {f.outcome.message}" for f in report.failures)
            raise Refused("left-behind", f"the test has left something in {folder}: {failed}")
        shutil.rmtree(folder)
