"""Schedules of a server: what is asked of an ensemble by the clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ordito.results.answer import Result, ResultData


class ScheduleLine(Result, frozen=True, kw_only=True):
    """A schedule."""

    id: str
    name: str
    cron: str
    zone: str
    workflow: str
    request: dict[str, object]
    """What is asked for, without its inputs."""

    inputs: tuple[str, ...]
    """The names of the inputs that are given; their values are not given back."""

    environment: str | None
    apply: Literal["ask", "auto"]
    paused: bool
    by: str
    """Who has made or changed it last: what they may not do any more is not done."""

    created: str
    next: str | None
    """When its next turn is, null while it is paused."""

    last: str | None
    """When its last turn was, null for never."""

    said: str
    """Why the last turn has asked for nothing, "" where it did."""

    plan: str | None
    """The plan that the last turn has asked for."""


class ScheduleShownData(ScheduleLine, frozen=True, kw_only=True):
    """A schedule, as commands show it."""

    options: Mapping[str, object] = {}
    """How its jobs run, as far as that is said."""


class SchedulesData(ResultData, frozen=True, tag="ordito.schedules-list/1"):
    """The schedules of an ensemble."""

    schedules: tuple[ScheduleShownData, ...]
