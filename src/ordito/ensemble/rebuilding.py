"""Writes the files of an ensemble again from the records of its jobs, as after a merge of two clones."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping
from types import TracebackType

import msgspec
from msgspec import UNSET

from ordito.base.change_ids import LENGTH, TICKS_PER_SECOND, ChangeIds, decode, is_change_id, last_reserved
from ordito.ensemble.backing import EnsembleLock, backing_of
from ordito.ensemble.entity_change import EntityChange
from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.files import BLOCK, write_whole
from ordito.ensemble.job_format import FORMAT, ConfigChange, JobFile, JobHead, moment
from ordito.ensemble.job_history import read_job
from ordito.ensemble.jobs_tsv import lines_of, mend_lines
from ordito.ensemble.journal import EnsembleJournal
from ordito.ensemble.keeping import KeptCommits
from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest import user_part, write_manifest
from ordito.ensemble.manifest_rows import StatusRow, changed_status
from ordito.ensemble.owner import current_user
from ordito.ensemble.replay import Rebuilt
from ordito.ensemble.vault import sealed
from ordito.ensemble.yaml_writer import block
from ordito.source.new_files import open_regular
from ordito.work.records import JobHeader

MERGE = "merge"
"""The workflow of a job that only joins the histories of several clones."""


class Rebuilding:
    """An ensemble that is open for its files to be written again, as a context: their present content is ignored."""

    def __init__(self, layout: Layout, journal: EnsembleJournal, lock: EnsembleLock) -> None:
        """Use ``open_rebuilding``."""
        self.layout = layout
        self.journal = journal
        self._lock = lock
        frame = journal.frame()
        self.unfinished: JobHeader | None = frame[0] if frame else None

    def __enter__(self) -> Rebuilding:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        is_finished = False
        try:
            is_finished = self.journal.is_free()
            self.journal.shut()
        finally:
            # That a lock is kept is told by what came of the writing; where nothing was written it is as it was.
            self._lock.release(is_finished=is_finished, may_fail=False)

    @property
    def is_shared(self) -> bool:
        """Whether the clones of this ensemble share a lock, so that others need what is written."""
        return self._lock.is_shared

    def publish(self, kept: KeptCommits) -> KeptCommits:
        """Push the files that were written to other clones."""
        return self._lock.publish(kept)


def open_rebuilding(layout: Layout, *, wait_lock: float = 0.0) -> Rebuilding:
    """Open an ensemble to write its files from its records. Raises ``Locked`` and ``EnsembleError``."""
    backing = backing_of(layout)
    lock = backing.lock(layout, "jobs replay", wait_lock)
    lock.take()
    try:
        journal = backing.open_journal(layout)
        try:
            return Rebuilding(layout, journal, lock)
        except BaseException:
            journal.shut()
            raise
    except BaseException:
        lock.abandon()
        raise


def join_forks(rebuilding: Rebuilding, rebuilt: Rebuilt, now: float) -> str:
    """Write the record of a job that joins the histories of several clones, and return its id.

    The status of an instance that jobs of both sides have changed becomes unknown. An instance with another deployed
    version of the service than the current one is recorded with that version. Raises ``EnsembleError``.
    """
    layout = rebuilding.layout
    jobs = layout.job_ids()
    clashing = [clash.target for clash in rebuilt.clashes if clash.target in rebuilt.snapshot.instances]
    doubtful = {name for name in clashing if rebuilt.snapshot.instances[name].exists}
    changed = sorted(doubtful | rebuilt.elsewhere.keys())
    last = max(rebuilt.status.last_change, highest_id(layout))
    ids = ChangeIds.begin(now, tasks=len(changed), last=last, existing=jobs)
    previous = max(rebuilt.heads)
    others = tuple(head for head in rebuilt.heads if head != previous)
    changes = tuple(_joined(ids.next(), name, rebuilt, is_doubtful=name in doubtful) for name in changed)
    after = msgspec.structs.replace(rebuilt.joined, last_change=last_reserved(ids.job, ids.ticks))
    file = JobFile(
        FORMAT,
        JobHead(
            change_id=ids.job,
            previous_id=previous,
            merged_ids=others,
            workflow=MERGE,
            status="ok",
            began=moment(now),
            ended=moment(now),
            ticks=ids.ticks,
            user=current_user(),
            machine=socket.gethostname(),
            changes=len(changes),
            summary=f"joined the jobs of {len(rebuilt.heads)} clones",
        ),
        changed_status(rebuilt.status, after),
        changes=changes,
    )
    write_whole(layout.job_record(ids.job), ["".join(block(msgspec.to_builtins(file, enc_hook=sealed))).encode()])
    return ids.job


def _joined(change: str, name: str, rebuilt: Rebuilt, *, is_doubtful: bool) -> ConfigChange:
    form = rebuilt.elsewhere.get(name, UNSET)
    reason = f"another clone has deployed something else: it is as job {form} has deployed it"
    if is_doubtful:
        (clash,) = (clash for clash in rebuilt.clashes if clash.target == name)
        reason = f"jobs {clash.jobs[0]} and {clash.jobs[1]}, of two clones, have both changed it"
    return ConfigChange(
        change_id=change,
        previous_id=rebuilt.snapshot.instances[name].last_config_change,
        target=name,
        operation=MERGE,
        outcome="succeeded",
        changes={name: EntityChange(local="unknown" if is_doubtful else UNSET, form=form)},
        reason=reason,
    )


def write_rebuilt(rebuilding: Rebuilding, rebuilt: Rebuilt, effective: Mapping[str, str]) -> None:
    """Write `ensemble.yaml` and the missing lines of `jobs.tsv`; the user's part stays. Raises ``EnsembleError``."""
    layout = rebuilding.layout
    # Where the user has something to decide first, nothing is written.
    user_part(layout)
    mend_lines(layout.jobs_tsv, _lines(layout, rebuilt))
    digest = write_manifest(layout, rebuilt.snapshot, rebuilt.status, effective)
    rebuilding.journal.replace_state(rebuilt.snapshot, rebuilt.status, digest)


def _lines(layout: Layout, rebuilt: Rebuilt) -> Iterator[bytes]:
    for job in rebuilt.jobs:
        record = read_job(layout, job)
        if record is None:
            raise EnsembleError(f"the record of job {job} has gone meanwhile", "try again")
        yield from lines_of(record.head, record.changes())


# What differs between two statuses, place by place: what the records of jobs give, and what a file holds.


class StatusDifference(msgspec.Struct, frozen=True):
    """A place below ``status``, and its value by the records and in the file; None where there is none."""

    path: str
    recorded: object
    found: object


def differences(recorded: StatusRow, found: StatusRow) -> Iterator[StatusDifference]:
    """The differences of two statuses and their instances; in which files the instances are does not count."""
    yield from _between("status", _plain(recorded), _plain(found))
    for name in sorted({*recorded.instances, *found.instances}):
        one, other = recorded.instances.get(name), found.instances.get(name)
        if one != other:
            yield from _between(
                f"status.instances.{name}",
                msgspec.to_builtins(one, enc_hook=sealed),
                msgspec.to_builtins(other, enc_hook=sealed),
            )


def _plain(row: StatusRow) -> object:
    return _as_written(msgspec.structs.replace(row, instances={}, parts={}))


def _as_written(row: object) -> object:
    return msgspec.to_builtins(row, enc_hook=sealed)


def _between(path: str, recorded: object, found: object) -> Iterator[StatusDifference]:
    """The innermost mappings' entries that differ; lists are compared as a whole. Without recursion, since values are
    as deep as users like."""
    open_ones: list[tuple[str, object, object]] = [(path, recorded, found)]
    while open_ones:
        at, one, other = open_ones.pop()
        if one == other and type(one) is type(other):
            continue
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            keys = sorted({*one, *other}, key=str, reverse=True)
            open_ones.extend((f"{at}.{key}", one.get(key), other.get(key)) for key in keys)
        elif one != other or isinstance(one, bool) != isinstance(other, bool):
            yield StatusDifference(at, one, other)


# The changeIds that an ensemble's files know, so that no new one is smaller than any of them.
#
# They may be others than the status speaks of, as after a merge with what another clone did.

_ID = re.compile(rb"^([0-9A-Za-z]{8}[0-9a-f]{4})\t", re.MULTILINE)


def highest_id(layout: Layout) -> str:
    """The highest changeId in `jobs/` and `jobs.tsv`, "" where there is none. Raises ``EnsembleError``."""
    return max(_of_records(layout), _of_lines(layout))


def _of_records(layout: Layout) -> str:
    """The highest id that any job has reserved, by its record."""
    jobs = layout.job_ids()
    if not jobs:
        return ""
    # A job reserves as many ticks as it has tens of thousands of tasks, so only the last ones can reach further.
    least = decode(jobs[-1]).tick - TICKS_PER_SECOND
    return max(_reserved(layout, job) for job in jobs[-TICKS_PER_SECOND:] if decode(job).tick >= least)


def _reserved(layout: Layout, job: str) -> str:
    try:
        record = read_job(layout, job)
    except EnsembleError:
        # Damaged, by a merge perhaps; what it could say is in the lines of its tasks.
        record = None
    return last_reserved(job, record.head.ticks if record else 1)


def _of_lines(layout: Layout) -> str:
    """The highest id in the lines of jobs and tasks."""
    highest, rest = b"", b""
    with explained("read", layout.jobs_tsv):
        if not layout.jobs_tsv.exists():
            return ""
        with open_regular(layout.jobs_tsv) as file:
            while block := file.read(BLOCK):
                lines, newline, rest = (rest + block).rpartition(b"\n")
                # Nearly all of them are ids, so that only the last ones have to be looked at.
                found = sorted((i for i in _ID.findall(lines + newline) if i > highest), reverse=True)
                highest = next((i for i in found if is_change_id(i.decode())), highest)
    return highest.decode()[:LENGTH]
