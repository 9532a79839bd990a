"""Rebuild the state from the records of all jobs: to see an earlier state, to verify the present one, and to repair it
after a merge."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import msgspec

from ordito.app.ensemble_checks import no_ensemble
from ordito.app.errors import JobUnfinished, Refused
from ordito.app.job.git_keeping import keeper_of, refuse_uncommittable, shared_options
from ordito.app.place import Place, place_of
from ordito.app.services.left_behind import whole_service
from ordito.app.services.pinned import read_pinned
from ordito.base.change_ids import is_change_id
from ordito.base.clock import Clock, SystemClock
from ordito.base.diagnostics import InvalidDocument
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.keeping import NOTHING, JobEnd, KeptCommits
from ordito.ensemble.manifest import read_rows
from ordito.ensemble.manifest_rows import StatusRow, instance_rows, status_row
from ordito.ensemble.rebuilding import (
    Rebuilding,
    StatusDifference,
    differences,
    join_forks,
    open_rebuilding,
    write_rebuilt,
)
from ordito.ensemble.replay import Clash, Fork, Problem, Rebuilt, rebuild
from ordito.ensemble.status import deployed_form
from ordito.instances.outlining import outline_of
from ordito.instances.status import effective_statuses
from ordito.work.options import JobOptions
from ordito.work.records import JobHeader

MOST_DIFFERENCES = 1_000


class ReplayRequest(msgspec.Struct, frozen=True):
    """How far to replay the jobs of an ensemble, and whether to write the result."""

    directory: str
    until: str = ""
    """The last job or task: its id, or the beginning of a job's id; "" for all."""

    first: int | None = None
    """The number of jobs, counted from the first; None for all."""

    write: bool = False
    """Whether the result replaces the content of the files."""

    wait_lock: float = 0.0
    """Seconds to wait for another command."""

    commit: str = "auto"
    """Whether written files are committed: auto, always or never."""


class ReplayResult(msgspec.Struct, frozen=True):
    """The result of a replay."""

    jobs: int
    problems: tuple[Problem, ...] = ()
    forks: tuple[Fork, ...] = ()
    clashes: tuple[Clash, ...] = ()
    differs: tuple[StatusDifference, ...] = ()
    """The places where `ensemble.yaml` differs."""

    more: int = 0
    """How many further differences are not listed."""

    unreadable: str = ""
    """Why `ensemble.yaml` cannot be compared, "" if it can."""

    caveat: str = ""
    """Why effective statuses cannot be compared, "" if they can."""

    state: StatusRow | None = None
    """The state at that time, if only a part of the jobs was replayed."""

    written: bool = False
    """Whether files were written."""

    joined: str = ""
    """The job that has joined forks."""

    kept: KeptCommits = NOTHING
    """What was committed to git."""

    @property
    def agrees(self) -> bool:
        """Whether the records agree with the file, or have replaced its content."""
        return not (self.problems or self.forks or self.differs or self.unreadable)


def replay(request: ReplayRequest, clock: Clock | None = None) -> ReplayResult:
    """Replay the records. Raises ``Refused``, ``EnsembleError``, and when writing ``Locked`` and ``JobUnfinished``."""
    place = place_of(request.directory)
    if not (place.layout.exists or place.layout.jobs.is_dir()):
        raise no_ensemble(place.name)
    if request.write:
        return _write(place, request, clock or SystemClock())
    if request.until or request.first is not None:
        return _part(place, request)
    return _compare(place, rebuild(place.layout))


def _part(place: Place, request: ReplayRequest) -> ReplayResult:
    """The state after a part of the jobs."""
    until = _change(place, request.until)
    rebuilt = rebuild(place.layout, until=until, first=request.first)
    if until and not rebuilt.reached and not rebuilt.problems:
        raise Refused(
            "unknown-change", f'there is no change "{until}"', next_words=("jobs", "list"), purpose="see all jobs"
        )
    effective, caveat = _effective(place, rebuilt)
    state = _rows(rebuilt, effective or {})
    return ReplayResult(len(rebuilt.jobs), rebuilt.problems, (), (), caveat=caveat, state=state)


def _change(place: Place, wanted: str) -> str:
    """The id of the wanted job or task."""
    if not wanted or is_change_id(wanted):
        return wanted
    found = [job for job in place.layout.job_ids() if job.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        raise Refused("ambiguous-job", f'"{wanted}" may be {", ".join(found[:5])}', "give more characters")
    raise Refused("unknown-job", f'there is no job "{wanted}"', next_words=("jobs", "list"), purpose="see all jobs")


def _compare(place: Place, rebuilt: Rebuilt) -> ReplayResult:
    result = ReplayResult(len(rebuilt.jobs), rebuilt.problems, rebuilt.forks, rebuilt.clashes)
    if rebuilt.problems:
        return result
    try:
        found = read_rows(place.layout)
    except EnsembleError as error:
        return msgspec.structs.replace(result, unreadable=error.message)
    if found is None:
        if not rebuilt.jobs:
            return result
        return msgspec.structs.replace(result, unreadable=f"{place.manifest} has no machine part")
    last = found.last_job.change_id if found.last_job else ""
    if last and last not in rebuilt.jobs:
        message = f"the record of job {last} is missing, which is the last one in {place.manifest}"
        return msgspec.structs.replace(result, problems=(Problem("missing", last, message),))
    effective, caveat = _effective(place, rebuilt)
    if effective is None:
        effective = {name: row.ready_state.effective for name, row in found.instances.items()}
    differing = differences(_rows(rebuilt, effective), found)
    listed = tuple(islice(differing, MOST_DIFFERENCES))
    return msgspec.structs.replace(result, differs=listed, more=sum(1 for _ in differing), caveat=caveat)


def _rows(rebuilt: Rebuilt, effective: Mapping[str, str]) -> StatusRow:
    row = status_row(rebuilt.snapshot, rebuilt.status)
    return msgspec.structs.replace(row, instances=dict(instance_rows(rebuilt.snapshot, effective)))


def _effective(place: Place, rebuilt: Rebuilt) -> tuple[dict[str, str] | None, str]:
    """The effective statuses, which no record has, because they follow from the service; and why they are not known."""
    status = rebuilt.status
    if not status.service:
        return {}, ""
    try:
        read = read_pinned(place, deployed_form(status))
    except EnsembleError as error:
        return None, error.message
    except InvalidDocument as error:
        return None, f"the pinned service was changed: {error}"
    whole = whole_service(place, read.service, status.left, read.package.root)
    return effective_statuses(outline_of(whole.service, whole.nodes), rebuilt.snapshot), ""


def _write(place: Place, request: ReplayRequest, clock: Clock) -> ReplayResult:
    with open_rebuilding(place.layout, wait_lock=request.wait_lock) as rebuilding:
        if rebuilding.unfinished is not None:
            raise JobUnfinished(rebuilding.unfinished.id, rebuilding.unfinished.workflow)
        options = JobOptions(commit=request.commit)
        # Where only the lock asks for a commit this goes on all the same: it is a merge that has to be repaired first.
        refuse_uncommittable(place.layout, options)
        options = shared_options(options) if rebuilding.is_shared else options
        rebuilt = rebuild(place.layout)
        if rebuilt.problems:
            return ReplayResult(len(rebuilt.jobs), rebuilt.problems, rebuilt.forks, rebuilt.clashes)
        clashes, joined = rebuilt.clashes, ""
        if rebuilt.forks:
            joined = join_forks(rebuilding, rebuilt, clock.now())
            rebuilt = rebuild(place.layout)
        effective, caveat = _effective(place, rebuilt)
        write_rebuilt(rebuilding, rebuilt, effective or {})
        result = _compare(place, rebuilt)
        kept = _keep(rebuilding, rebuilt, options)
        return msgspec.structs.replace(result, written=True, joined=joined, clashes=clashes, caveat=caveat, kept=kept)


def _keep(rebuilding: Rebuilding, rebuilt: Rebuilt, options: JobOptions) -> KeptCommits:
    """Commit what was written, and push it if clones share a lock."""
    job = max(rebuilt.jobs, default="")
    header = JobHeader(id=job, workflow="jobs replay", service="", main="", began=0.0, inputs={}, options=options)
    end = JobEnd(job, header.workflow, "ok", "the last one of those from whose records the status was written")
    keeper = keeper_of(rebuilding.layout, header, rebuilding.layout.root.name)
    return rebuilding.publish(keeper.keep_ensemble(end, NOTHING))
