"""Webhooks of a server: who is told of the events of a project, and what came of it."""

from __future__ import annotations

from typing import Literal

from ordito.results.answer import Result, ResultData


class WebhookData(Result, frozen=True):
    """A webhook. Its secret is never given back."""

    id: str
    url: str
    events: tuple[str, ...]
    """The types of events that are posted, none for all."""

    ensembles: tuple[str, ...]
    """The ensembles whose events are posted, none for all of the project."""

    paused: bool
    """Whether nothing is posted: because somebody has said so, or nobody has answered for a day."""

    by: str
    """Who has made it."""

    created: str


class MadeWebhook(WebhookData, frozen=True):
    """A new webhook."""

    secret: str | None
    """The secret with which what is posted is signed, where the server has made it: it is shown only now."""


class WebhooksData(ResultData, frozen=True, tag="ordito.webhooks-list/1"):
    """The webhooks of a project."""

    project: str
    webhooks: tuple[WebhookData, ...]


class DeliveryData(Result, frozen=True):
    """One event that is posted to a webhook."""

    id: str
    """What the receiver gets as `Ordito-Delivery`: the same in all attempts."""

    event: int
    type: str
    state: Literal["waiting", "done"]
    attempts: int
    next: str | None
    """When the next attempt is, null where there is none."""

    outcome: str
    """What came of the last attempt, "" before the first one."""

    created: str


class DeliveriesData(ResultData, frozen=True, tag="ordito.webhooks-deliveries/1"):
    """What was posted to a webhook, and what waits, the latest first."""

    webhook: str
    deliveries: tuple[DeliveryData, ...]
