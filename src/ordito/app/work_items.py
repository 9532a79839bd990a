"""Work items: what a server hands to a process that plans, or that carries out a job.

They are plain data, so that they can be kept and handed on. What is done with them stands in ``unattended.py``.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.plan_basis import ExactPlan
from ordito.app.requests import REQUESTS, Request, RetryRequest
from ordito.work.options import USUAL, JobOptions
from ordito.work.records import NOBODY, AskedBy

RETRY = "retry"
SEALED_FOR = "ordito item 1"
"""What the request of an item in a store is sealed for."""

KINDS: Mapping[str, type[Request]] = {**REQUESTS, RETRY: RetryRequest}
"""The requests that can be asked for, by the names that say which."""


class AskedRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request as it was asked for."""

    kind: str
    """Which one of ``KINDS``."""

    fields: dict[str, object] = {}
    """The fields of the request, as plain data, without its inputs."""

    inputs: dict[str, object] = {}
    """Values of inputs, plain data. ``{"secret": NAME}`` stands for a secret of the ensemble."""

    environment: str | None = None
    """The environment, None for the one that the ensemble is in."""

    texts: dict[str, str] = {}
    """Values of inputs as texts, as a command line gives them."""


class PlanItem(msgspec.Struct, frozen=True, tag="plan"):
    """Carry a plan out."""

    directory: str
    asked: AskedRequest
    by: AskedBy = NOBODY
    options: JobOptions = JobOptions(on_failure=USUAL)
    exact: ExactPlan | None = None
    """The plan that was seen; None to plan anew, and carry out what comes out."""

    was_seen: bool = False
    """Whether somebody has seen the plan and what it loses, and has said that it is to be carried out."""

    package: str = ""
    """The digest of the archive of its service, which is in the store with it, "" where the request names the service
    by its place, or none."""

    most_risks: tuple[str, ...] | None = None
    """The risks that a plan that is made anew may have, None for any: rules have been asked about these alone."""


class ResumeItem(msgspec.Struct, frozen=True, tag="resume"):
    """Go on with an interrupted job; ``cancels`` says that it is closed instead, for whom ``by`` says."""

    directory: str
    cancels: bool = False
    by: str = ""


class NoticesItem(msgspec.Struct, frozen=True, tag="notices"):
    """Handle the notices that wait."""

    directory: str


WorkItem = PlanItem | ResumeItem | NoticesItem
