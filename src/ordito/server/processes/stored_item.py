"""An item of a store, as a runner of a worker carries it out: under the lease that the runner has taken already.

Its request is a work item, as JSON. The job of it bears its id, so an item gives at most one: whoever comes after a
runner that was killed goes on with that job, or sees that it has ended.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from contextlib import closing
from pathlib import Path

import msgspec

from ordito.app.stores import prepared
from ordito.app.surroundings import Surroundings, around, enter
from ordito.app.unattended import carry_out
from ordito.app.work_items import SEALED_FOR, PlanItem, ResumeItem
from ordito.app.workflow_run import AlreadyBegun
from ordito.cluster.connecting import StoreConnection
from ordito.cluster.holding import ForkedWorker
from ordito.cluster.keys import PoolKey
from ordito.cluster.store import Store
from ordito.cluster.stored import StoredEnsemble, StoredName
from ordito.cluster.trees import Trees
from ordito.cluster.worker_runner import Cancel, HeldItem, ItemEnd, Suspend
from ordito.engine.ports import JobSuspended
from ordito.ensemble.files import write_whole
from ordito.ensemble.journal_database import Fenced
from ordito.ensemble.layout import Layout
from ordito.ensemble.logs import retain
from ordito.ensemble.owner import CANCEL, NOW, SUSPEND, ask
from ordito.ensemble.store import read_ensemble
from ordito.results.failure import EXPECTED, Failure, Trouble
from ordito.results.item_outcome import ItemOutcome
from ordito.server.packages import bring_package, package_path
from ordito.server.processes.calls import StoredTask
from ordito.server.processes.runner import plain, trouble_of
from ordito.source.opening import use_sent

PAUSE = 0.1
"""Seconds between two attempts to ask a job that is about to begin."""

_ITEM: msgspec.json.Decoder[StoredTask | PlanItem | ResumeItem] = msgspec.json.Decoder(
    StoredTask | PlanItem | ResumeItem
)


def run(held: HeldItem) -> ItemEnd:
    """Carry an item out, see ``RunItem``; its outcome is an ``ItemOutcome`` as JSON."""
    store = Store(held.task.address)
    worker = ForkedWorker(held.tenure.worker, held.tenure.epoch, held.may_launch, is_guarded=held.task.is_guarded)
    name = StoredName(*store.ensemble_name(held.tenure.ensemble))
    key = PoolKey(held.task.key)
    directory = prepared(StoredEnsemble(store, name, worker, key, _leave, patience=math.inf), held.home)
    # What a request names lies beside the files of its ensemble.
    os.chdir(directory)
    item = _item(held, directory, key)
    requests = _Requests(Layout(Path(directory)))
    held.listen(requests.hear)
    if (asked := requests.asked) is not None and not _had_job(directory, held.task.item):
        return ItemEnd(is_done=False) if isinstance(asked, Suspend) else _end(_cancelled())
    try:
        return _end(_carried_out(item, held.task.item, requests))
    except JobSuspended:
        return ItemEnd(is_done=False)
    finally:
        requests.is_over.set()


def _item(held: HeldItem, directory: str, key: PoolKey) -> PlanItem | ResumeItem:
    """What is to be done: what the item says, or to go on with the job of it that waits."""
    body = held.item.request
    if body[:1] != b"{":
        body = key.opened(body, held.task.item, SEALED_FOR)
    found = _ITEM.decode(body)
    if isinstance(found, StoredTask):
        found = _confined(found, held, directory)
    item = msgspec.structs.replace(found, directory=directory)
    if _has_job(directory, held.task.item):
        return ResumeItem(directory)
    if isinstance(item, PlanItem):
        if item.package:
            service = str(item.asked.fields.get("service", ""))
            use_sent(service, _package(held, item.package, Path(service).stem))
        return msgspec.structs.replace(item, by=msgspec.structs.replace(item.by, origin=held.task.item))
    return item


def _package(held: HeldItem, digest: str, name: str) -> str:
    """The archive of a service, fetched where this home does not have it, under the name of the service."""
    path = held.home / "packages" / digest / f"{name}.csar"
    if not path.exists():
        with closing(StoreConnection(held.task.address)) as link:
            ((_, content),) = Trees(link).bodies([digest])
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, [content])
    return str(path)


def _confined(task: StoredTask, held: HeldItem, directory: str) -> PlanItem | ResumeItem:
    """The item of a server, which reaches nothing but what the server permits: for the rest of this process."""
    item = task.item
    assert isinstance(item, PlanItem | ResumeItem)
    # They lie as they do at the server, so that what names one names it here too.
    paths = {digest: package_path(held.home, digest) for digest in task.packages}
    for digest, path in paths.items():
        if not path.exists():
            with closing(StoreConnection(held.task.address)) as link:
                bring_package(Trees(link), digest, path)
    enter(around(Surroundings((), variables=task.variables, hosts=task.hosts), (directory, *map(str, paths.values()))))
    retain(task.retention)
    return item


def _has_job(directory: str, item: str) -> bool:
    """Whether the unfinished job of an ensemble is that of an item."""
    with read_ensemble(directory) as ensemble:
        return ensemble.unfinished is not None and ensemble.unfinished.header.asked.origin == item


def _had_job(directory: str, item: str) -> bool:
    """Whether an item has a job, which may have ended."""
    with read_ensemble(directory) as ensemble:
        return bool(ensemble.journal.job_of(item))


def _carried_out(item: PlanItem | ResumeItem, origin: str, requests: _Requests) -> ItemOutcome:
    try:
        report = carry_out(item, requests.begins)
    except AlreadyBegun as found:
        return _known(item.directory, found.job)
    except Fenced:
        raise
    except EXPECTED as error:
        if _has_job(item.directory, origin):
            # It is not done: another process goes on with the job.
            raise
        return ItemOutcome("refused", trouble=trouble_of(error, item.directory))
    return ItemOutcome("nothing") if report is None else ItemOutcome(report.status, report.job, plain(report))


def _known(directory: str, job: str) -> ItemOutcome:
    """What became of a job whose runner was killed before it could say so. Of those since when others have run, only
    the records know."""
    with read_ensemble(directory) as ensemble:
        last = ensemble.status.last_job
    return ItemOutcome(last.status if last is not None and last.id == job else "known", job)


def _end(outcome: ItemOutcome) -> ItemEnd:
    return ItemEnd(job=outcome.job, outcome=msgspec.json.encode(outcome))


def _cancelled() -> ItemOutcome:
    return ItemOutcome("cancelled", trouble=Trouble(Failure("cancelled", "it was cancelled before its job began")))


class _Requests:
    """Hands on to the job what is asked of it, once there is one that listens."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._job = ""
        self._has_begun = threading.Event()
        self.asked: Cancel | Suspend | None = None
        """What was asked last, None for nothing."""

        self.is_over = threading.Event()

    def begins(self, job: str) -> None:
        self._job = job
        self._has_begun.set()

    def hear(self, asked: Cancel | Suspend) -> None:
        self.asked = asked
        what = SUSPEND if isinstance(asked, Suspend) else NOW if asked.how == NOW else CANCEL
        threading.Thread(target=self._hand_on, args=(what,), daemon=True).start()

    def _hand_on(self, what: str) -> None:
        self._has_begun.wait()
        while not self.is_over.is_set() and not ask(self._layout, self._job, what):
            self.is_over.wait(PAUSE)


def _leave(error: Fenced) -> None:
    """End this process at once, as if it were killed: who has taken the ensemble over goes on with what it has
    started."""
    try:
        sys.stderr.write(f"{error.message}; {error.hint}\n")
        sys.stderr.flush()
    finally:
        os._exit(1)
