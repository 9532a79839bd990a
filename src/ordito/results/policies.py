"""Policies and notices: what triggers wait for, what they did, and what came of an event that was reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, UnsetType

from ordito.base.sensitive import shown
from ordito.base.text import as_text
from ordito.ensemble.job_format import moment
from ordito.results.answer import Asked, ResultData, UseCase
from ordito.results.jobs import JobEndData, job_end_data

if TYPE_CHECKING:
    from ordito.app.notices.notify import NotifyResult
    from ordito.app.policies import NoticeHandled, PoliciesView, PolicyView, TriggerView
    from ordito.ensemble.inbox import InboxEntry

MOST_MADE = 10
"""How many of the last events and evaluations are told."""


class TriggerOfNotice(msgspec.Struct, frozen=True):
    """What one trigger does about a notice."""

    trigger: str
    """``policy.trigger``."""

    done: bool
    job: str | None
    said: str
    """Why it does not act, or what the result was."""


class NoticeData(msgspec.Struct, frozen=True, kw_only=True):
    """A notice: something that has happened to an instance."""

    number: int
    event: str
    entity: str
    at: float
    """When, in seconds since the epoch."""

    values: Mapping[str, object]
    state: str
    """How far it has been handled."""

    job: str
    """The job that records it, "" before there is one."""

    dropped: str
    """Why it could not be handled, "" where it could."""

    triggers: tuple[TriggerOfNotice, ...]


class EvaluationData(msgspec.Struct, frozen=True):
    """A remembered evaluation of a condition."""

    at: str
    holds: bool
    values: Mapping[str, object]


class EventOfTrigger(msgspec.Struct, frozen=True):
    """An event that a trigger was told of."""

    number: int
    event: str
    entity: str
    at: str
    said: str
    done: bool
    job: str | None


class TriggerData(msgspec.Struct, frozen=True):
    """A trigger."""

    event: str
    schedule: Mapping[str, str]
    period: str
    evaluations: int
    """In how many evaluations its condition must hold."""

    method: str
    actions: tuple[str, ...]
    """Its actions, for people."""

    held: Mapping[str, int]
    """By entity, in how many of the remembered evaluations the condition held."""

    evaluated: Mapping[str, tuple[EvaluationData, ...]]
    events: tuple[EventOfTrigger, ...]
    """What it did, the latest first."""


class PolicyData(msgspec.Struct, frozen=True):
    """A policy."""

    type: str
    targets: tuple[str, ...]
    nodes: tuple[str, ...]
    enforced: bool
    triggers: Mapping[str, TriggerData]
    description: str | UnsetType = UNSET
    properties: Mapping[str, object] | UnsetType = UNSET


class PoliciesData(ResultData, frozen=True, tag="ordito.policies/1"):
    """The policies of a service, and the notices that wait to be handled."""

    policies: Mapping[str, PolicyData]
    waiting: tuple[NoticeData, ...]


class NotifyData(ResultData, frozen=True, kw_only=True, tag="ordito.notify/1"):
    """What came of an event that was reported."""

    number: int
    event: str | UnsetType = UNSET
    entity: str | UnsetType = UNSET
    at: float | UnsetType = UNSET
    values: Mapping[str, object] | UnsetType = UNSET
    state: str | UnsetType = UNSET
    job: str | UnsetType = UNSET
    dropped: str | UnsetType = UNSET
    triggers: tuple[TriggerOfNotice, ...] | UnsetType = UNSET
    handled: bool
    """Whether it is completely handled."""

    waiting: int
    """How many notices still wait."""

    jobs: tuple[JobEndData, ...]
    """How the jobs of triggers ended."""

    refused: int
    """How many triggers asked for something that was refused."""


def notice_data(entry: InboxEntry) -> NoticeData:
    """A notice; sensitive values are only marked as such."""
    notice = entry.notice
    return NoticeData(
        number=entry.number,
        event=notice.event,
        entity=notice.entity,
        at=notice.at,
        values={name: shown(value) for name, value in notice.values.items()},
        state=entry.state,
        job=entry.job,
        dropped=entry.said,
        triggers=tuple(TriggerOfNotice(f.name, f.is_done, f.job or None, f.said) for f in entry.firings),
    )


def notify_data(result: NotifyResult) -> NotifyData:
    """What came of a notice, and of those that were handled with it."""
    handling = result.handling
    about = msgspec.structs.asdict(notice_data(result.entry)) if result.entry is not None else {"number": result.number}
    return NotifyData(
        **about,
        handled=result.is_handled,
        waiting=handling.waiting,
        jobs=tuple(map(job_end_data, handling.reports)),
        refused=handling.refused,
    )


def policies_data(found: PoliciesView) -> PoliciesData:
    """The policies."""
    policies = {view.policy.name: _policy(view) for view in found.policies}
    return PoliciesData(policies, tuple(map(notice_data, found.waiting)))


def _policy(view: PolicyView) -> PolicyData:
    policy = view.policy
    return PolicyData(
        policy.type,
        tuple(policy.targets),
        tuple(policy.nodes),
        view.is_heeded,
        {trigger.trigger.name: _trigger(trigger) for trigger in view.triggers},
        policy.description or UNSET,
        view.properties or UNSET,
    )


def _trigger(view: TriggerView) -> TriggerData:
    trigger = view.trigger
    return TriggerData(
        trigger.event,
        {name: as_text(shown(value)) for name, value in trigger.schedule.items()},
        trigger.period,
        view.wanted,
        trigger.method if trigger.condition is not None else "",
        view.actions,
        view.hits,
        {
            entity: tuple(EvaluationData(moment(e.at), e.holds, _shown(e.values)) for e in kept[-MOST_MADE:])
            for entity, kept in view.remembered.items()
        },
        tuple(map(_made, view.made[:MOST_MADE])),
    )


def _made(made: NoticeHandled) -> EventOfTrigger:
    notice, firing = made.entry.notice, made.firing
    at = moment(notice.at)
    return EventOfTrigger(
        made.entry.number, notice.event, notice.entity, at, firing.said, firing.is_done, firing.job or None
    )


def _shown(values: Mapping[str, object]) -> Mapping[str, object]:
    return {name: shown(value) for name, value in values.items()}


class PoliciesAsked(Asked, frozen=True):
    """About the policies."""

    name: str = ""
    """The policy, "" for all."""


def _policies(directory: str, asked: PoliciesAsked) -> PoliciesData:
    from ordito.app.policies import PoliciesRequest, policies

    return policies_data(policies(PoliciesRequest(directory, asked.name)))


POLICIES = UseCase("policy list", PoliciesAsked, (PoliciesData,), _policies)
