"""The machine's part of an ensemble besides its instances: what was deployed last, with what, and what came of it."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from ordito.base.change_ids import last_reserved
from ordito.model.choices import Choices
from ordito.work.effects import applies, revises
from ordito.work.plan import KeptCount, Plan
from ordito.work.records import ROLLED_BACK, GivenService, GivenValue, JobClosingRecord, JobHeader, LeftBehind

WELL = frozenset({"ok", "degraded"})
"""How a job has ended that did what it should."""


class LastJob(msgspec.Struct, frozen=True, omit_defaults=True):
    """The job that ran last: its id, its workflow, and how it ended."""

    id: str
    workflow: str
    status: str


class Status(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `ensemble.yaml` says below its marker line, instances left out.

    ``service`` is the digest of the pinned service and ``main`` its entry definitions file, ``inputs`` the topology
    inputs it was deployed with and ``given`` those to remember, ``choices`` what was chosen where the service leaves a
    choice, ``outputs`` the topology's outputs, ``counts`` the wanted number of instances of each node, ``revision`` the
    number of successful deployments and removals; ``kept`` are those of these numbers that scaling has set.
    ``last_change`` is the highest changeId that any job has reserved.
    ``environment`` is the name of the one that is deployed, "" for none; ``hosts`` the inventory that a command has
    named there, as seen from the ensemble, "" for none.
    ``left`` are nodes that the template has lost and whose instances may exist, by the digest of their pinned service.
    ``ensemble`` is the id of the deployment, by which what is made elsewhere is known again: a text that its first job
    has drawn, "" before that.
    ``named`` is the service to remember in the place of the one that the user's part names.
    """

    service: str = ""
    main: str = ""
    revision: int = 0
    last_job: LastJob | None = None
    last_change: str = ""
    inputs: dict[str, object] = {}
    outputs: dict[str, object] = {}
    counts: dict[str, int] = {}
    given: dict[str, GivenValue] = {}
    choices: Choices = Choices()
    left: dict[str, LeftBehind] = {}
    environment: str = ""
    kept: dict[str, KeptCount] = {}
    hosts: str = ""
    ensemble: str = ""
    named: GivenService | None = None


ID_BYTES = 6


def new_id() -> str:
    """The id of a deployment, as no other has it: short enough for the names of containers and of what clouds have."""
    return os.urandom(ID_BYTES).hex()


def status_after(before: Status, header: JobHeader, plan: Plan, closing: JobClosingRecord) -> Status:
    """The status once a job is closed."""
    rolled_back = closing.rollback == ROLLED_BACK
    shapes = revises(header.workflow) and not rolled_back
    # What adjusts and was taken back, if not completely, is not wanted: what is left of it is one too many.
    counts = applies(header.workflow) and not (rolled_back or (closing.rollback and not shapes))
    return Status(
        service=header.service if shapes else before.service,
        main=header.main if shapes else before.main,
        revision=before.revision + 1 if shapes and closing.status in WELL else before.revision,
        last_job=LastJob(header.id, header.workflow, closing.status),
        last_change=max(before.last_change, last_reserved(header.id, header.ticks)),
        inputs=header.inputs if shapes else before.inputs,
        outputs=before.outputs if rolled_back else closing.outputs,
        counts={**before.counts, **plan.counts} if counts else before.counts,
        given=header.given if shapes else before.given,
        choices=header.choices if shapes else before.choices,
        named=header.named if shapes else before.named,
        left=header.left if shapes else before.left,
        environment=header.environment if shapes else before.environment,
        hosts=_hosts(before, header, shapes=shapes),
        kept=_kept(plan.kept_counts, header.id) if counts and plan.kept_counts is not None else before.kept,
        ensemble=header.ensemble or before.ensemble,
    )


def _hosts(before: Status, header: JobHeader, *, shapes: bool) -> str:
    """The inventory to remember. A job in another environment, which does not deploy it, says nothing of this one."""
    if not shapes and header.environment != before.environment:
        return before.hosts
    return header.hosts if header.hosts_given else ""


def _kept(counts: Mapping[str, KeptCount], job: str) -> dict[str, KeptCount]:
    """The numbers that are to be kept, with the job where it has set them itself."""
    return {node: kept if kept.job else msgspec.structs.replace(kept, job=job) for node, kept in counts.items()}
