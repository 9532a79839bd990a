"""The words of a job's record, `jobs/<changeId>.yaml`: what stands in its header and in each of its ConfigChanges."""

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
"""What can be read: the second format knows nothing of forms, revisions and lifecycle steps."""


NO_RESULT = HookResult()


class _Row(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """One mapping of the record: its keys in this order, those that say nothing left out."""


class JobHead(_Row, frozen=True):
    """What a record says about its job as a whole.

    ``previous_id`` is the job before it, ``merged_ids`` those that it joins with that one, which other clones ran.
    ``began`` and ``ended`` are moments in UTC, ``seconds`` the time between them. ``retries`` is the job whose
    remaining steps this one carried out, ``rollback`` says how undoing the job ended, where that was tried, and
    ``remains`` what was not undone. ``ticks`` is how many ticks the job has reserved for its changeIds.
    ``environment`` is that of `--env`, ``options`` how the job was told to run, where that is not the usual way. Of
    the counts, ``succeeded`` and ``failed`` are of operations, ``no_op`` of steps that did nothing, ``skipped`` of
    those that were not run; ``changes`` is how many ConfigChanges there are. ``commits`` are those that hold the
    files it was made from, by the tree's path from the ensemble; ``not_committed`` says what is not committed and
    why. ``rollback`` is complete or incomplete where the job was taken back, ``remains`` what was not, and
    ``again`` the instances that were removed and made again, without what they had held. The failures of a job that
    was ``handled`` were followed by what its workflow has for them, and that went well; ``arguments`` are the inputs
    of a workflow that somebody wrote. ``revision`` is the number of the revision that the job has made, 0 for none,
    and ``base`` the id of the form to which a rollback of it would have led, "" for none.
    """

    change_id: str
    previous_id: str = ""
    merged_ids: tuple[str, ...] = ()
    workflow: str = ""
    retries: str = ""
    cause: str = ""
    status: str = ""
    rollback: str = ""
    remains: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    handled: bool = False
    arguments: Mapping[str, object] = {}
    began: str = ""
    ended: str = ""
    seconds: float = 0.0
    ticks: int = 1
    environment: str = ""
    options: Mapping[str, object] = {}
    user: str = ""
    machine: str = ""
    service: str = ""
    revision: int = 0
    base: str = ""
    succeeded: int = 0
    failed: int = 0
    no_op: int = 0
    skipped: int = 0
    changes: int = 0
    summary: str = ""
    commits: Mapping[str, str] = {}
    not_committed: tuple[str, ...] = ()


class HookDone(_Row, frozen=True):
    """A lifecycle step of the job, with the block that it has run, and what it was carried out with and what came of
    it."""

    step: Hook
    result: HookResult = NO_RESULT


NO_OP = "no-op"
"""The outcome of a step that did nothing."""


class ConfigChange(_Row, frozen=True):
    """What a task did and what that changed.

    One without ``change_id`` is no task: an operation that does nothing, or what else the job has changed.
    ``previous_id`` is the last change of the target before. ``target`` is an instance or a link, ``instance`` the one
    of the two ends of a link on which the operation ran. ``step`` is the id of the step where it is not the target and
    the operation with a dot between them. ``changed`` is what the operation reported about having
    modified the instance. ``changes`` are by the id of what is changed. ``inputs`` are those of the operation as they
    may be shown, where somebody has called it. ``hook`` is a lifecycle step that was carried out well, ``undoes`` the
    ConfigChange of the one that this one has undone. ``warnings`` say what deserved attention when the task began.
    ``condition`` is how the condition of one that was not carried out
    well was decided, as in ``HookResult``.
    """

    change_id: str = ""
    previous_id: str = ""
    target: str = ""
    instance: str = ""
    operation: str = ""
    step: str = ""
    outcome: str = ""
    changed: bool | None = None
    exit_code: int | None = None
    attempts: int = 1
    digest: str = ""
    inputs: Mapping[str, object] = {}
    changes: dict[str, EntityChange] = {}
    reason: str = ""
    start: str = ""
    seconds: float | None = None
    summary: str = ""
    output: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    hook: HookDone | None = None
    condition: Mapping[str, object] = {}
    undoes: str = ""


class JobFile(_Row, frozen=True):
    """The whole of a record. ``status`` holds what the job made of the values of `ensemble.yaml` that belong to no
    instance, each as a whole; ``form`` what the job has deployed, where its workflow says what is deployed; ``skipped``
    the steps that were not run, and why. The ConfigChanges stand in ``changes``, or, of a large job, in the files that
    ``parts`` names."""

    format: str = ""
    job: JobHead | None = None
    status: Mapping[str, object] = {}
    form: Form | None = None
    skipped: Mapping[str, str] = {}
    parts: tuple[str, ...] = ()
    changes: tuple[ConfigChange, ...] = ()


def moment(seconds: float) -> str:
    """A moment in seconds since the epoch, in UTC, to the millisecond."""
    whole, part = divmod(int(seconds * 1_000), 1_000)
    return f"{_second(whole)}.{part:03}Z"


@lru_cache(maxsize=64)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").removesuffix("+00:00")
