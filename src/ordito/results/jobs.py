"""Jobs: what was done, what happened, and what is told of it; the results of the verbs of `ordito jobs`."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.results.answer import ResultData


class JobEventsData(ResultData, frozen=True, tag="ordito.jobs-events/1"):
    """The events of a job."""

    job: str
    events: tuple[Mapping[str, object], ...]
    """Each as on the page on events, in the order in which they happened."""
