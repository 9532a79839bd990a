"""Rebuilds the snapshot and the status from the records of all jobs, each of which says what it changed.

Each job names the id of the job before it. Where two jobs follow the same one, two clones have worked separately; a
record that names several former jobs joins them again, like a merge in git.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from ordito.base.change_ids import decode, job_of
from ordito.ensemble.entity_change import Entity, NoSuchEntity, delta_of
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_format import ConfigChange, JobHead
from ordito.ensemble.job_history import RecordedJob, is_conflict, job_lines, read_job
from ordito.ensemble.jobs_tsv import colliding_lines
from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest_rows import FORMAT, StatusRow, status_of
from ordito.ensemble.status import LastJob, Status, with_form
from ordito.instances.records import Snapshot
from ordito.work.forms import forms_in_use, is_same
from ordito.work.records import Form, GivenValue

NOTHING = Status()


class Problem(msgspec.Struct, frozen=True):
    """A reason not to trust the records."""

    code: str
    """``missing`` (a record does not exist), ``damaged`` (it cannot be read, or is incomplete), ``colliding`` (several
    jobs or tasks have one id) or ``unfitting`` (it changes something that the records before it do not have)."""
    change: str
    """The id of the job or task in question."""
    message: str


class Fork(msgspec.Struct, frozen=True):
    """Jobs that two clones ran after the same job, ``after`` ("" for none), and that no later job joins."""

    after: str
    jobs: tuple[str, ...]


class Clash(msgspec.Struct, frozen=True):
    """Something that jobs on both sides of a fork have changed."""

    target: str
    jobs: tuple[str, str]


class Rebuilt(msgspec.Struct, frozen=True):
    """The result of a replay. With problems, it is the state before the first of them."""

    snapshot: Snapshot
    status: Status
    jobs: tuple[str, ...]
    """The jobs whose records were read."""
    problems: tuple[Problem, ...]
    forks: tuple[Fork, ...]
    clashes: tuple[Clash, ...]
    heads: tuple[str, ...]
    """The jobs that no other follows."""
    reached: bool = False
    """Whether the job or task was found at which to stop."""
    elsewhere: Mapping[str, str] = {}
    """Instances with another deployed version of the service than the current one, with the ids of those versions."""
    joined: Status = NOTHING
    """The status once these are recorded and the histories are joined."""


def rebuild(layout: Layout, *, until: str = "", first: int | None = None) -> Rebuilt:
    """Replay the records of all jobs in the order of their ids, up to the job or task ``until``, or only the ``first``
    so many jobs. Raises ``EnsembleError`` where the directory cannot be read."""
    replay = Replay(layout)
    for job in replay.jobs[:first]:
        if replay.run(job, until):
            break
    return replay.result(all_of_them=not until and first is None)


class Replay:
    """One replay of the records, from the first job on."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.jobs = layout.job_ids()
        self._known = frozenset(self.jobs)
        self._snapshot = Snapshot()
        self._values: dict[str, object] = {}
        self._last: JobHead | None = None
        self._done: list[str] = []
        self._problems: list[Problem] = []
        self._parents: dict[str, tuple[str, ...]] = {}
        self._changed_by: dict[str, str] = {}
        self._clashes: dict[str, Clash] = {}
        self._forms = FormsOfLines()
        self._end = -1
        self._forked = False
        self._reached = False

    def run(self, job: str, until: str = "") -> bool:
        """Apply the record of a job; returns whether ``until`` was reached."""
        try:
            record = read_job(self._layout, job)
        except EnsembleError as error:
            if is_conflict(self._layout.job_record(job)):
                self._problem(
                    "colliding", job, f"two clones have each run a job {job}: a merge left both in its record"
                )
            else:
                self._problem("damaged", job, error.message)
            return False
        if record is None:
            self._problem("missing", job, f"the record of job {job} is missing")
            return False
        self._place(record.head)
        reached = bool(self._problems) or self._follow(record, until)
        if not reached:
            self._values.update(record.file.status)
            self._forms.follow(record)
            self._last = record.head
        self._done.append(job)
        self._reached |= job == until
        return self._reached

    def result(self, *, all_of_them: bool) -> Rebuilt:
        """The result; with ``all_of_them``, missing jobs at the end count as problems, too."""
        if all_of_them:
            for line in job_lines(self._layout):
                if line.id not in self._known:
                    self._problem("missing", line.id, f"the record of job {line.id} is missing, which jobs.tsv names")
            known = {job_of(problem.change) for problem in self._problems}
            for change in colliding_lines(self._layout.jobs_tsv):
                if job_of(change) in known:
                    continue
                self._problem("colliding", change, f"jobs.tsv has lines of two clones that both have the id {change}")
        forks, heads = self._forks()
        status, elsewhere = self._status(), dict[str, str]()
        joined = status
        if forks:
            elsewhere = self._forms.elsewhere(self._snapshot, status.form, self._changed_by, self._ancestors)
            parted = min(fork.after for fork in forks)
            joined = self._forms.joined(status, self._snapshot, elsewhere, parted, heads)
        return Rebuilt(
            snapshot=self._snapshot,
            status=status,
            jobs=tuple(self._done),
            problems=tuple(dict.fromkeys(self._problems)),
            forks=forks,
            clashes=tuple(self._clashes.values()),
            heads=heads,
            reached=self._reached,
            elsewhere=elsewhere,
            joined=joined,
        )

    # ------------------------------------------------------------------------------------------------- the history

    def _place(self, head: JobHead) -> None:
        """Where a job stands among the others."""
        job = head.change_id
        self._parents[job] = tuple(p for p in (head.previous_id, *head.merged_ids) if p)
        for parent in self._parents[job]:
            if parent not in self._known:
                self._problem("missing", parent, f"the record of job {parent} is missing, which job {job} follows")
        first = decode(job).tick
        if first <= self._end:
            self._problem("colliding", job, f"job {job} has an id that an earlier job has reserved for its tasks")
        self._end = max(self._end, first + head.ticks - 1)

    def _forks(self) -> tuple[tuple[Fork, ...], tuple[str, ...]]:
        """Which jobs nothing joins that follow the same one, and which jobs no other follows."""
        followed = {parent for parents in self._parents.values() for parent in parents}
        heads = tuple(job for job in self._parents if job not in followed)
        if len(heads) < 2:
            return (), heads
        children: dict[str, list[str]] = {}
        for job, parents in self._parents.items():
            for parent in parents or ("",):
                children.setdefault(parent, []).append(job)
        lines = [self._ancestors(head) for head in heads]
        forks = [
            Fork(parent, tuple(jobs))
            for parent, jobs in children.items()
            if len(jobs) > 1 and not any(line.issuperset(jobs) for line in lines)
        ]
        return tuple(forks), heads

    def _ancestors(self, job: str) -> set[str]:
        """A job with all those before it."""
        found: set[str] = set()
        open_ones = [job]
        while open_ones:
            at = open_ones.pop()
            if at not in found:
                found.add(at)
                open_ones.extend(self._parents.get(at, ()))
        return found

    # -------------------------------------------------------------------------------------------------- the changes

    def _follow(self, record: RecordedJob, until: str) -> bool:
        """Do what the changes of a record say; gives whether a task was reached at which to stop."""
        job, count = record.head.change_id, 0
        line = self._line(record.head)
        try:
            for change in record.changes():
                count += 1
                self._apply(job, change, line)
                if until and change.change_id == until:
                    self._reached = True
                    return True
        except EnsembleError as error:
            self._problem("damaged", job, error.message)
        except NoSuchEntity as error:
            message = f"job {job} changes {error}, which the records before it do not have"
            self._problem("unfitting", job, message)
        else:
            if count != record.head.changes:
                message = f"the record of job {job} holds {count} changes, and speaks of {record.head.changes}"
                self._problem("damaged", job, message)
        return bool(self._problems)

    def _line(self, head: JobHead) -> set[str] | None:
        """The jobs before a job by their ids, with itself; None where these are all that were done."""
        job = head.change_id
        self._forked |= self._parents[job] != tuple(self._done[-1:])
        if not self._forked:
            return None
        line = self._ancestors(job)
        if head.merged_ids:
            self._clashes = {name: clash for name, clash in self._clashes.items() if not line.issuperset(clash.jobs)}
        self._forked = len(line) <= len(self._done)
        return line

    def _apply(self, job: str, change: ConfigChange, line: set[str] | None) -> None:
        self._snapshot.apply(delta_of(change.changes, self._known_entity))
        for name in change.changes:
            other = self._changed_by.get(name, job)
            if line is not None and other not in line:
                self._clashes[name] = Clash(name, (other, job))
            self._changed_by[name] = job

    def _known_entity(self, name: str) -> Entity:
        return self._snapshot.instances.get(name) or self._snapshot.links.get(name)

    def _status(self) -> Status:
        last = self._last
        row = msgspec.convert({**self._values, "format": FORMAT}, StatusRow)
        job = LastJob(last.change_id, last.workflow, last.status) if last else None
        return msgspec.structs.replace(status_of(row), last_job=job)

    def _problem(self, code: str, change: str, message: str) -> None:
        self._problems.append(Problem(code, change, message))


# In which forms of the service instances are that several clones have worked on by themselves.
#
# The record of an instance that is in what was deployed last names no form. Where clones have deployed different
# things, and one of them is what counts as deployed after their histories are joined, what the others have changed is
# in their forms.


class FormsOfLines:
    """Tracks the deployed versions through the records of jobs, which must come in their order."""

    def __init__(self) -> None:
        self._known: dict[str, Form] = {}
        self._after: dict[str, str] = {}

    def follow(self, record: RecordedJob) -> None:
        """Note what a job has deployed."""
        head, status = record.head, record.file.status
        if record.file.form is not None:
            self._known[head.change_id] = record.file.form
        self._known.update(msgspec.convert(status.get("forms", {}), dict[str, Form]))
        said = status.get("form")
        self._after[head.change_id] = said if isinstance(said, str) else self._after.get(head.previous_id, "")

    def elsewhere(
        self,
        snapshot: Snapshot,
        deployed: str,
        changed_by: Mapping[str, str],
        ancestors: Callable[[str], set[str]],
    ) -> dict[str, str]:
        """The instances with another deployed version than the current one, with the ids of those versions.
        ``changed_by`` are the jobs that have changed something last, ``ancestors`` gives a job with those before
        it."""
        before = ancestors(deployed)
        found: dict[str, str] = {}
        for name, record in snapshot.instances.items():
            form = self._after.get(changed_by.get(name, ""), "")
            if not record.exists or record.form or not form or form in before:
                continue
            if form in self._known and not is_same(self._known[form], self._known.get(deployed)):
                found[name] = form
        return found

    def joined(
        self, status: Status, snapshot: Snapshot, elsewhere: Mapping[str, str], after: str, heads: Iterable[str]
    ) -> Status:
        """The status after joining histories that separated after the job ``after`` ("" for none) and end with the jobs
        ``heads``: what counts as deployed is what one of them has deployed, and the status keeps the deployed versions
        that instances still have. It keeps the inputs that commands gave in any of the histories."""
        needed = {*forms_in_use(snapshot.instances), *elsewhere.values(), status.base} - {status.form, ""}
        forms = {form: self._known[form] for form in sorted(needed) if form in self._known}
        found = with_form(msgspec.structs.replace(status, forms=forms), self._known.get(status.form))
        return msgspec.structs.replace(found, given=self._given_to_all(after, heads))

    def _given_to_all(self, after: str, heads: Iterable[str]) -> dict[str, GivenValue]:
        """The inputs to remember: what each clone has changed of them since they parted. Of what several have changed
        it is what the last one said."""
        before = self._given(after)
        found = dict(before)
        for head in sorted(heads):
            own = self._given(head)
            for name in {**before, **own}:
                if name not in own:
                    found.pop(name, None)
                elif own[name] != before.get(name):
                    found[name] = own[name]
        return found

    def _given(self, job: str) -> Mapping[str, GivenValue]:
        """The inputs that were remembered after a job."""
        form = self._known.get(self._after.get(job, ""))
        return form.given if form is not None else {}
