"""Ensembles in a list: in short how each is, and whether somebody should look at it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ordito.app.place import place_of
from ordito.app.status import status
from ordito.base.diagnostics import Diagnostics
from ordito.ensemble.job_history import job_lines
from ordito.ensemble.pins import given_service
from ordito.ensemble.status import LastJob
from ordito.instances.status import DEGRADED, ERROR, OK, UNKNOWN
from ordito.results.answer import Asked, Result, ResultData, UseCase
from ordito.results.status import InstanceData, OpenJobData, open_job_data, status_data

if TYPE_CHECKING:
    from ordito.app.status import StatusResult

BAD = frozenset({DEGRADED, ERROR, UNKNOWN})
FAILED = "failed"


class EnsembleSummary(ResultData, frozen=True, tag="ordito.ensembles-summary/1"):
    """In short how an ensemble is."""

    service: str
    """The name of the deployed service, "" for none."""

    environment: str
    status: str
    """The effective status of the whole service."""

    revision: int
    instances: Mapping[str, int]
    """How many instances there are, by effective status."""

    drifted: int
    """How many of them were found to differ from how they were created."""

    last_job: LastJob | None
    job: OpenJobData | None
    """The job that runs or was interrupted, if any."""

    waiting_notices: int
    attention: tuple[str, ...]
    """Why somebody should look at it."""


def summary_of(found: StatusResult) -> EnsembleSummary:
    """An ensemble in short."""
    data = status_data(found)
    counted = [one for one in data.instances.values() if one.counts]
    return EnsembleSummary(
        service=data.service,
        environment=data.environment,
        status=data.status,
        revision=data.revision,
        instances=dict(sorted(Counter(one.effective or one.local for one in counted).items())),
        drifted=sum(one.drift for one in counted),
        last_job=data.last_job,
        job=open_job_data(found.job) if found.job else None,
        waiting_notices=data.waiting_notices,
        attention=tuple(_reasons(found, counted)),
    )


def _reasons(found: StatusResult, counted: list[InstanceData]) -> Iterator[str]:
    from ordito.app.job.jobs import INTERRUPTED

    job, last = found.job, found.status.last_job
    if job is not None and job.outcome == INTERRUPTED:
        yield f"job {job.job} ({job.workflow}) was interrupted"
    if found.damage is not None:
        yield found.damage.message
    if job is None and last is not None and last.status == FAILED:
        yield f"job {last.id} ({last.workflow}) failed"
    if counted and found.effective in BAD:
        wrong = sum(one.effective != OK for one in counted)
        yield f"{wrong} of {len(counted)} instances are not ok"
    if found.is_half_removed:
        yield "its removal is not complete"
    if any(one.drift for one in counted):
        yield "drift was found"


def _summary(directory: str, _: Asked) -> EnsembleSummary:
    from ordito.app.status import StatusRequest

    return summary_of(status(StatusRequest(directory)))


class InstanceName(msgspec.Struct, frozen=True):
    """An instance, by what it can be found."""

    id: str
    node: str
    type: str


class JobName(msgspec.Struct, frozen=True):
    """A job, by what it can be found."""

    id: str
    workflow: str
    outcome: str
    start: str
    """When it began, in UTC."""


class EnsembleNames(Result, frozen=True):
    """What can be searched for in an ensemble."""

    instances: tuple[InstanceName, ...]
    """At most 20,000."""

    jobs: tuple[JobName, ...]
    """The newest 1,000, the latest first."""


MOST_INSTANCES, MOST_JOBS = 20_000, 1_000


def _names(directory: str, _: Asked) -> EnsembleNames:
    from ordito.app.status import StatusRequest

    found = status(StatusRequest(directory)).instances[:MOST_INSTANCES]
    jobs = list(job_lines(place_of(directory).layout))[-MOST_JOBS:]
    return EnsembleNames(
        tuple(InstanceName(one.instance.id, one.instance.node, one.type) for one in found),
        tuple(JobName(job.id, job.workflow, job.outcome, job.start) for job in reversed(jobs)),
    )


class EnsembleCreateAsked(Asked, frozen=True):
    """Which ensemble is to be made."""

    name: str
    """Its directory, in the one that the question is about."""

    service: str
    """The path of its service."""


class Done(Result, frozen=True):
    """That something was done of which there is nothing more to say."""


def _create(directory: str, asked: EnsembleCreateAsked) -> Done:
    from ordito.app.given_files import make_ensemble

    make_ensemble(f"{directory}/{asked.name}", asked.service)
    return Done()


class ServicePlace(Result, frozen=True):
    """Where the service lies that an ensemble deploys."""

    place: str
    """Its folder, or the archive, as an absolute path; "" where it lies in the ensemble's own directory."""


def _service_place(directory: str, _: Asked) -> ServicePlace:
    from ordito.app.inputs.user_part import read_user_part

    place, diagnostics = place_of(directory), Diagnostics()
    user = read_user_part(place.layout, place.manifest, diagnostics).with_given(given_service(place.layout))
    if not user.service:
        return ServicePlace("")
    path = Path(os.path.abspath(user.service_path(place.layout, place.shown)))  # noqa: PTH100  (links stay as they are)
    found = path if path.is_dir() or path.suffix in ARCHIVES else path.parent
    return ServicePlace("" if found.is_relative_to(Path(directory).absolute()) else str(found))


ARCHIVES = frozenset({".csar", ".zip"})
SERVICE_PLACE = UseCase("ensembles service", Asked, (ServicePlace,), _service_place)
NAMES = UseCase("ensembles names", Asked, (EnsembleNames,), _names)
SUMMARY = UseCase("ensembles summary", Asked, (EnsembleSummary,), _summary)
CREATE = UseCase("ensembles create", EnsembleCreateAsked, (Done,), _create)
"""It writes: it is never asked again by itself."""
