"""Commands in messages of operations: what a host or a provider proposes is about the ensemble of this command."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from ordito.cli.settings import COMMAND, Settings
from ordito.work.events import Event, StepFailed, StepRetrying, StepSucceeded

Told = TypeVar("Told", bound=Event)


def completed(event: Told, settings: Settings) -> Told:
    """An event whose message names commands that are about the same ensemble; most events name none."""
    if not isinstance(event, StepSucceeded | StepFailed | StepRetrying) or not COMMAND.search(event.outcome.message):
        return event
    outcome = msgspec.structs.replace(event.outcome, message=settings.completed(event.outcome.message))
    return msgspec.structs.replace(event, outcome=outcome)
