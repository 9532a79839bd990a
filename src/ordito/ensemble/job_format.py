"""The format of a job's record, `jobs/<changeId>.yaml`: the fields of its header and of each ConfigChange."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache

import msgspec

from ordito.ensemble.entity_change import EntityChange
from ordito.work.hooks import Hook, HookResult
from ordito.work.records import Form

FORMAT = "ordito.job/4"
FORMATS = frozenset({"ordito.job/2", "ordito.job/3", FORMAT})
"""The formats that can be read: the second has no deployed versions, revisions and lifecycle steps."""


NO_RESULT = HookResult()


class _Row(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """One mapping of the record: its keys in this order, those that say nothing left out."""


class JobHead(_Row, frozen=True):
    """The header of a record: what it says about its job as a whole."""

    change_id: str
    previous_id: str = ""
    """The job before it."""
    merged_ids: tuple[str, ...] = ()
    """Jobs of other clones that it joins with the one before it."""
    workflow: str = ""
    retries: str = ""
    """The job whose remaining steps it has carried out."""
    cause: str = ""
    """What has started it, where that was no command of a user."""
    status: str = ""
    rollback: str = ""
    """Complete or incomplete where the job was rolled back, else ""."""
    remains: tuple[str, ...] = ()
    """What the rollback has not undone."""
    again: tuple[str, ...] = ()
    """Instances that were replaced, without the data that they held."""
    handled: bool = False
    """Whether its workflow has handled its failures successfully, by steps of its own."""
    arguments: Mapping[str, object] = {}
    """The inputs of an imperative workflow."""
    began: str = ""
    """A moment in UTC; ``ended`` likewise."""
    ended: str = ""
    seconds: float = 0.0
    """The time between the two."""
    ticks: int = 1
    """How many ticks the job has reserved for its changeIds."""
    environment: str = ""
    """That of `--env`."""
    options: Mapping[str, object] = {}
    """The options of the command that were given."""
    user: str = ""
    by: str = ""
    """Who asked for it through a server; then ``user`` is the server's."""
    origin: str = ""
    """The plan of a server that it carried out."""
    approved_by: tuple[str, ...] = ()
    """Who approved that plan."""
    machine: str = ""
    service: str = ""
    revision: int = 0
    """The number of the revision that the job has made, 0 for none."""
    base: str = ""
    """The id of the deployed version to which a rollback of the job would have led, "" for none."""
    succeeded: int = 0
    """How many operations succeeded; ``failed`` likewise."""
    failed: int = 0
    no_op: int = 0
    """How many steps did nothing."""
    skipped: int = 0
    """How many steps were not run."""
    changes: int = 0
    """How many ConfigChanges there are."""
    summary: str = ""
    commits: Mapping[str, str] = {}
    """The commits that hold the files from which it was made, by the path of their tree from the ensemble."""
    not_committed: tuple[str, ...] = ()
    """What is not committed, and why."""


class HookDone(_Row, frozen=True):
    """A lifecycle step of the job with its block, and its result with the values that it was run with."""

    step: Hook
    result: HookResult = NO_RESULT


NO_OP = "no-op"
"""The outcome of a step that did nothing."""


class ConfigChange(_Row, frozen=True):
    """What a task did, and what that changed."""

    change_id: str = ""
    """The id of the task; "" for an operation that does nothing, and for other changes of the job."""
    previous_id: str = ""
    """The last change of the target before."""
    target: str = ""
    """An instance or a link."""
    instance: str = ""
    """The end of a link on which the operation ran."""
    operation: str = ""
    step: str = ""
    """The id of the step, where it is not the target and the operation with a dot between them."""
    outcome: str = ""
    changed: bool | None = None
    """Whether the operation has modified the instance, as it reported."""
    exit_code: int | None = None
    attempts: int = 1
    digest: str = ""
    inputs: Mapping[str, object] = {}
    """The inputs of an operation that a user has called, as they may be shown."""
    changes: dict[str, EntityChange] = {}
    """By the id of what has changed."""
    reason: str = ""
    start: str = ""
    seconds: float | None = None
    summary: str = ""
    output: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """What deserved attention when the task began."""
    hook: HookDone | None = None
    """A lifecycle step that succeeded."""
    condition: Mapping[str, object] = {}
    """How the condition of a lifecycle step that did not succeed was decided, as in ``HookResult``."""
    undoes: str = ""
    """The ConfigChange of the lifecycle step that this one has undone."""


class JobFile(_Row, frozen=True):
    """A whole record."""

    format: str = ""
    job: JobHead | None = None
    status: Mapping[str, object] = {}
    """The new values in `ensemble.yaml` that belong to no instance, each as a whole."""
    form: Form | None = None
    """What the job has deployed, where its workflow decides that."""
    skipped: Mapping[str, str] = {}
    """The steps that were not run, and why."""
    parts: tuple[str, ...] = ()
    """The files that hold the ConfigChanges of a large job."""
    changes: tuple[ConfigChange, ...] = ()
    """The ConfigChanges of any other job."""


def moment(seconds: float) -> str:
    """A moment in seconds since the epoch, in UTC, to the millisecond."""
    whole, part = divmod(int(seconds * 1_000), 1_000)
    return f"{_second(whole)}.{part:03}Z"


@lru_cache(maxsize=64)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").removesuffix("+00:00")
