"""The effective statuses of all instances, in a query process: what the server tells of them while a job runs."""

from __future__ import annotations

from ordito.results.answer import Asked, Result, UseCase
from ordito.results.picture.letters import STATUSES, letters


class StatusesAsked(Asked, frozen=True):
    """Nothing besides the ensemble."""


class StatusesFound(Result, frozen=True):
    """How instances are, with what they depend on."""

    is_known: bool
    """False where the service cannot be read: then nobody knows on what instances depend."""

    id: tuple[str, ...] = ()
    status: str = ""
    """The effective status of each, in the letters of the topology."""

    service: str = ""
    """The effective status of the whole service, as a word."""


def _statuses(directory: str, _: StatusesAsked) -> StatusesFound:
    from ordito.app.status import StatusRequest, read_status

    found = read_status(StatusRequest(directory))
    if found.outline is None:
        return StatusesFound(is_known=False)
    there = found.result.instances
    words = letters((one.effective for one in there), STATUSES)
    return StatusesFound(True, tuple(one.instance.id for one in there), words, found.result.effective)


EFFECTIVE_STATUSES = UseCase("effective statuses", StatusesAsked, (StatusesFound,), _statuses)
