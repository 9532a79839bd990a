"""A running job, from its first step, or from where it was interrupted, to its files: here all its parts meet."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from ordito.app.conversation import Conversation
from ordito.app.inputs.inventory import HostInventory
from ordito.app.job.git_keeping import keeper_of
from ordito.app.job.hook_runs import hook_runs
from ordito.app.job.kept_events import KeptEvents
from ordito.app.job.operations import JobOperations
from ordito.app.job.report import AfterReport, CausesReport, FilesReport, JobReport, RollbackReport
from ordito.app.job.rollback import ToBase, leads_to_base, way_back
from ordito.app.place import place_of
from ordito.app.plugins import plugins_of
from ordito.app.requests import GIVEN_AGAIN, DescriptionRequest
from ordito.app.services.earlier_forms import EarlierForms
from ordito.app.services.left_behind import ServiceWithOrphans
from ordito.app.services.read import ReadService
from ordito.base.change_ids import ChangeIds
from ordito.base.clock import SystemClock
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import InvalidDocument
from ordito.base.masking import Masking, net
from ordito.base.options import from_record, words
from ordito.engine.driver import JobResult, run_job
from ordito.engine.ports import JobControl
from ordito.ensemble.backing import backing_of
from ordito.ensemble.done_hooks import attempts, done_in
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.git.keeper import ALWAYS
from ordito.ensemble.logs import JobLog, forget_old
from ordito.ensemble.owner import NOW, SUSPEND, Door, current_user
from ordito.ensemble.pins import changed_files
from ordito.ensemble.status import WELL, keep_outline
from ordito.ensemble.store import Ensemble
from ordito.instances.lifecycle import STOPS
from ordito.instances.outlining import outline_of
from ordito.instances.records import Snapshot
from ordito.instances.status import DEGRADED, effective_statuses
from ordito.operations.hook_runs import HookRuns
from ordito.operations.operations import FormedOperations, PlanOperations
from ordito.planning.decide import is_lacking
from ordito.planning.operation_steps import can_be_undone
from ordito.providers.registry import POOL
from ordito.source.nodes import Mapping as MappingNode
from ordito.work.events import StepFailed
from ordito.work.forms import form_after
from ordito.work.hooks import DoneHook
from ordito.work.invocation import Ending
from ordito.work.plan import Plan
from ordito.work.records import JobClosingRecord, JobHeader, Record, StepProcessRecord
from ordito.work.rollback import WayBack
from ordito.work.targets import HOST, HostTarget, Unreachable
from ordito.work.workflows import workflow_of

OUT_OF_REACH = frozenset({Ending.UNREACHABLE, Ending.LOST})


class CancelLimits(msgspec.Struct, frozen=True):
    """When a job is cancelled automatically: after ``timeout`` seconds, or before anything starts."""

    timeout: float | None = None
    cancelled: bool = False
    by: str = ""
    """Who has cancelled it before anything starts."""


NO_LIMITS = CancelLimits()


class JobSubject(msgspec.Struct, frozen=True):
    """What a job is about: the service, also with orphans, the folder of its pinned files, and earlier deployed
    versions."""

    read: ReadService
    whole: ServiceWithOrphans
    root: str
    forms: EarlierForms


class RunningJob:
    """A job that is about to run, or to be resumed; ``limits`` say when it is cancelled automatically."""

    def __init__(
        self,
        ensemble: Ensemble,
        header: JobHeader,
        plan: Plan,
        subject: JobSubject,
        limits: CancelLimits,
        inventory: HostInventory,
    ) -> None:
        self._ensemble = ensemble
        self._limits = limits
        self._layout = ensemble.layout
        self._header = header
        self._plan = plan
        self._read = subject.read
        self._whole = whole = subject.whole
        self._service = whole.service
        self._root = subject.root
        self._forms = subject.forms
        self._inventory = inventory
        self._plugins = plugins_of(ensemble.layout, inventory, header.ensemble)
        self._outline = outline_of(whole.service, whole.nodes)
        self._events = KeptEvents(ensemble.layout, header, plan, ensemble.snapshot)

    def run(
        self,
        change_ids: ChangeIds,
        conversation: Conversation,
        records: tuple[Record, ...] | None,
        *,
        commit: str = "",
    ) -> JobReport:
        """Run the steps, then write the files and commit them. Raises ``JobSuspended`` where the job was asked to stay
        unfinished, and ``EnsembleError``."""
        operations = JobOperations(
            self._ensemble, self._header, self._whole, self._root, self._forms, self._plugins
        ).of(self._plan)
        keep_outline(self._layout, self._header.id, self._outline)
        canceller = Canceller(conversation, self._limits.timeout)
        self._plugins.remember(self._header.ensemble, self._ensemble.snapshot)
        with contextlib.closing(self._events) as events:
            if records is not None:
                events.catch_up(self._ensemble.journal, records)
                events.resume(records, SystemClock().now())
            if backing_of(self._layout).is_store:
                self._ensemble.journal.tell_with(events.coming)
            result = asyncio.run(self._run(operations, change_ids, conversation, canceller, records))
            untold = events.end(self._ensemble.journal)
        self._look_back()
        told = self._header.options.told
        commit = ALWAYS if self._ensemble.is_shared else commit
        keeper = keeper_of(self._layout, self._header, self._service.name, commit)
        with paused_collector():
            kept = self._ensemble.close_job(self._effective, keeper, self._plan)
        forget_old(self._layout)
        self._plugins.close()
        return JobReport(
            job=result.job,
            workflow=self._header.workflow,
            status=result.status,
            seconds=result.seconds,
            counts=result.counts,
            failures=result.failed,
            warnings=result.warnings,
            rollback=RollbackReport(result.rollback, result.remains, result.again),
            files=FilesReport(kept, self._keep_crashes(result), self._changed_files(), untold),
            after=AfterReport(
                # The outputs of what is deployed now: after a rollback that is not what this job was to deploy.
                outputs=self._ensemble.status.outputs,
                left=sum(instance.exists for instance in self._ensemble.snapshot.instances.values()),
                is_untouched=self._is_untouched(),
                lacks=result.status == DEGRADED and self._lacks(),
            ),
            causes=CausesReport(
                timed_out=canceller.timed_out and result.status == "cancelled",
                handled=result.handled,
                locked=locked_hosts(result.failed, self._plan, self._ensemble.snapshot, self._inventory),
                gone=tuple(failed for failed in result.failed if self._is_gone(failed)),
                stands=self._what_stands(result),
            ),
            written=self._plan.overlaps,
            given=words(from_record(DescriptionRequest, told), GIVEN_AGAIN),
        )

    def _lacks(self) -> bool:
        """Whether an instance works although something optional has failed."""
        snapshot = self._ensemble.snapshot
        if any(is_lacking(record) for record in snapshot.instances.values()):
            return True
        sources = (snapshot.instances.get(link.source) for link in snapshot.links.values() if link.failed)
        return any(record is not None and record.local == DEGRADED for record in sources)

    def _is_gone(self, failed: StepFailed) -> bool:
        """Whether an instance that could not be stopped was removed from the records. Instances of a host that was
        given up do not count: the warning about the host names them."""
        record = self._ensemble.snapshot.instances.get(failed.instance)
        is_stop = failed.operation.rpartition(".")[2] in STOPS and failed.outcome.ending not in OUT_OF_REACH
        return is_stop and not (record is not None and record.exists)

    def _what_stands(self, result: JobResult) -> tuple[str, ...]:
        """The ids of the lifecycle steps that a rollback would undo, if a job to another version is incomplete and was
        not rolled back."""
        if result.rollback or result.status in WELL or not leads_to_base(self._header):
            return ()
        with contextlib.suppress(EnsembleError):
            found = (done for done in attempts(self._layout).done if can_be_undone(done))
            return tuple(dict.fromkeys(done.hook.id for done in found))
        return ()

    def _is_untouched(self) -> bool:
        """Whether the former version is still deployed, and not the one of the job."""
        return workflow_of(self._header.workflow).revises and self._ensemble.status.form != self._header.id

    async def _run(
        self,
        operations: FormedOperations | PlanOperations,
        change_ids: ChangeIds,
        conversation: Conversation,
        canceller: Canceller,
        records: tuple[Record, ...] | None,
    ) -> JobResult:
        if self._limits.cancelled:
            canceller.control.request_cancel(at_once=True, by=self._limits.by)
        header, snapshot, plugins = self._header, self._ensemble.snapshot, self._plugins
        async with plugins.connected():
            with (
                JobLog(self._layout.log(header.id), self._ensemble.journal.keep_log) as log,
                Door(self._layout, header.id) as door,
                canceller.listening(door),
            ):
                result = await run_job(
                    header,
                    self._plan,
                    operations,
                    snapshot,
                    executors=plugins.executors,
                    providers=plugins.providers,
                    journal=self._ensemble.journal,
                    clock=SystemClock(),
                    change_ids=change_ids,
                    listeners=[conversation.listener()],
                    output_log=log,
                    control=canceller.control,
                    resume=records,
                    way_back=self._way_back,
                    different=self._different,
                    tells_inputs=conversation.wants_inputs,
                    hands=plugins.hands,
                    hooks=self._hooks(operations.masking),
                    recorded=self._events,
                )
                await plugins.leave(header.ensemble, header.id, self._hosts_before(operations, records or ()))
                return result

    def _hosts_before(
        self, operations: FormedOperations | PlanOperations, records: Sequence[Record]
    ) -> list[HostTarget]:
        """The hosts on which the job ran something before it was interrupted, as far as they are still known."""
        steps = {record.step for record in records if isinstance(record, StepProcessRecord)}
        found: dict[str, HostTarget] = {}
        for compute in {self._plan.steps[index].runs_on for index in steps if index < len(self._plan.steps)}:
            with contextlib.suppress(Unreachable):
                if (target := operations.target_of(compute)) is not None:
                    found[target.name] = target
        return list(found.values())

    def _hooks(self, masking: Masking) -> HookRuns | None:
        """The port that runs lifecycle steps, if there may be any."""
        plan, header = self._plan, self._header
        if not (plan.hooks or plan.undone or header.options.on_failure == "rollback"):
            return None
        place, ensemble = place_of(str(self._layout.root)), self._ensemble
        return hook_runs(
            place,
            header,
            plan,
            self._service,
            ensemble.snapshot,
            masking=masking,
            counts=ensemble.status.counts,
            root=self._root,
        )

    def _look_back(self) -> None:
        """Load the service that is deployed after the job, if that is not the job's own: the job was rolled back, or
        has changed nothing."""
        header, closing = self._header, self._ensemble.journal.last_record()
        if not isinstance(closing, JobClosingRecord) or not workflow_of(header.workflow).revises:
            return
        form = form_after(header, closing.rollback, is_untouched=closing.is_untouched)
        if form == header.id:
            return
        with contextlib.suppress(EnsembleError, InvalidDocument):
            known = self._forms.read(form).service.nodes
            # What is not there any more is nobody's worry: what required it does so no more.
            existing = {record.node for record in self._ensemble.snapshot.instances.values() if record.exists}
            service = self._forms.whole(form, self._whole, header.inputs, self._root, existing)
            self._outline = outline_of(service, [name for name in service.nodes if name not in known])
            keep_outline(self._layout, header.id, self._outline)

    def _way_back(self) -> WayBack:
        if leads_to_base(self._header):
            return self._to_base().way_back()
        new = frozenset(instance.id for instance in self._plan.records.new)
        return way_back(
            self._layout,
            self._plugins,
            self._read,
            self._whole,
            self._ensemble.snapshot,
            self._header,
            new,
            forms=self._forms,
            done=self._done(),
        )

    def _done(self) -> tuple[DoneHook, ...]:
        """The lifecycle steps that a rollback undoes: those of the job, and if it leads to the last complete revision,
        also those of earlier attempts since then."""
        before = attempts(self._layout).done if leads_to_base(self._header) else ()
        return done_in(self._header.id, self._plan, self._ensemble.journal.records(), before)

    def _different(self) -> tuple[str, ...]:
        return self._to_base().different() if leads_to_base(self._header) else ()

    def _to_base(self) -> ToBase:
        return ToBase(
            place_of(str(self._layout.root)),
            self._plugins,
            self._header,
            self._read,
            self._whole,
            self._forms,
            self._ensemble.snapshot,
            self._ensemble.status,
            self._done,
            self._plan.records.absent,
        )

    def _effective(self, snapshot: Snapshot) -> Mapping[str, str]:
        return effective_statuses(self._outline, snapshot)

    def _changed_files(self) -> tuple[str, ...]:
        """The files of the pinned service that were changed while the job ran: root may write to all of them."""
        digest, since = self._header.service, self._header.began
        with contextlib.suppress(EnsembleError):
            folder = f"{self._layout.artifacts.name}/{digest}"
            return tuple(f"{folder}/{file.place}" for file in changed_files(self._layout, digest, since))
        return ()

    def _keep_crashes(self, result: JobResult) -> str:
        """Write details about faults of executors and providers to a file; returns its path."""
        if not result.crashes:
            return ""
        path = self._layout.private / f"crash-{result.job}.txt"
        path.write_text(net().text("\n\n".join(f"{crash.step}\n{crash.report}" for crash in result.crashes)))
        return str(path)


# Hosts of the inventory that let nobody in, and where it stands by what they are tried.

CREDENTIALS = ("identity", "password")


def locked_hosts(
    failures: Iterable[StepFailed], plan: Plan, snapshot: Snapshot, inventory: HostInventory
) -> dict[str, str]:
    """The hosts of the pool that refused the login, each with the place of its key or password in the inventory. A host
    that does not answer is included only if an instance keeps it because there is no other."""
    refused = {failed.step: failed.instance for failed in failures if failed.outcome.refused}
    if not refused:
        return {}
    places = {step.id: step.runs_on for step in plan.steps if step.id in refused}
    found: dict[str, str] = {}
    for step, instance in refused.items():
        host = snapshot.attributes.get(places.get(step) or instance, {}).get(HOST)
        if isinstance(host, dict) and host.get("provider") == POOL:
            name = str(host.get("id", ""))
            found.setdefault(name, place_of_credentials(inventory, name))
    return found


def place_of_credentials(inventory: HostInventory, host: str) -> str:
    """The place of the key or password of a host, as ``FILE:LINE``: in the host's entry, else in the defaults; if
    neither has one, the place of the host."""
    section = inventory.sections.get(POOL)
    own = section.entries.get(host) if section is not None else None
    if section is None or own is None:
        return inventory.file.shown
    for entries in (own.values if isinstance(own, MappingNode) else {}, section.defaults):
        for name in CREDENTIALS:
            if name in entries and (span := entries[name].span) is not None:
                return f"{span.source.name}:{span.line}"
    return f"{own.span.source.name}:{own.span.line}"


# What cancels a running job: the user's interrupts, a request from another process, and the end of the time that the
# command was given.

GRACE = 10.0
"""Seconds for which running steps may go on after the timeout of the command."""


class Canceller:
    """Passes requests to cancel to the job, and tells the conversation of them. ``timed_out`` says whether the timeout
    has passed."""

    def __init__(self, conversation: Conversation, timeout: float | None) -> None:
        self.control = JobControl()
        self.timed_out = False
        self._conversation = conversation
        self._timeout = timeout

    @contextmanager
    def listening(self, door: Door) -> Iterator[None]:
        """Listen for requests inside of the ``with`` statement, in which an event loop runs."""
        loop = asyncio.get_running_loop()
        timers: list[asyncio.TimerHandle] = []
        if self._timeout is not None:
            timers.append(loop.call_later(self._timeout, self._time_is_over))
            timers.append(loop.call_later(self._timeout + GRACE, self._grace_is_over))
        if door.handle >= 0:
            loop.add_reader(door.handle, self._asked_at, door)
        try:
            with self._conversation.cancelling(lambda: _soon(loop, self._interrupted)):
                yield
        finally:
            for timer in timers:
                timer.cancel()
            if door.handle >= 0:
                loop.remove_reader(door.handle)

    def _interrupted(self) -> None:
        self._cancel("", at_once=False, by=current_user())

    def _asked_at(self, door: Door) -> None:
        for request in door.requests():
            if request.what == SUSPEND:
                self.control.suspend()
                continue
            why = f"asked by {request.by or 'another command'}"
            self._cancel(why, at_once=request.what == NOW, by=request.by)

    def _time_is_over(self) -> None:
        # What somebody has cancelled before is not cancelled by the clock.
        self.timed_out = not self.control.requests
        self._cancel(f"{self._timeout:g} seconds are over", at_once=False)

    def _grace_is_over(self) -> None:
        self._cancel(f"{GRACE:g} seconds more are over", at_once=True)

    def _cancel(self, why: str, *, at_once: bool, by: str = "") -> None:
        """``why`` is "" for an interrupt of the user; without ``by`` nobody has asked."""
        if self.control.requests < 2 and not (why and not at_once and self.control.requests):
            self.control.request_cancel(at_once=at_once, by=by, because="" if by else why)
            self._conversation.cancel_asked(self.control.requests, why)


def _soon(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    # A signal may come right when the loop has ended: then there is nothing left to cancel.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(callback)
