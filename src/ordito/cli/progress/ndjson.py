"""The stream of events for programs: one JSON object on each line; the first one names the format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from ordito import __version__
from ordito.base.sensitive import encode_hook
from ordito.cli.channel import Channel
from ordito.cli.structured import json_text
from ordito.work.events import FORMAT, Event, JobFinished, StepFailed, StepRetrying, StepSucceeded

Told = TypeVar("Told", bound=Event)
DIGITS = 3

replace = msgspec.structs.replace


class JsonStream:
    """Writes events as they come, and in the same form the messages of the command itself."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._encoder = msgspec.json.Encoder(enc_hook=encode_hook)
        self.say("version", {"format": FORMAT, "ordito": __version__})

    def __call__(self, event: Event) -> None:
        """Write an event of a job."""
        self._write(rounded(event))

    def say(self, kind: str, data: Mapping[str, object]) -> None:
        """Write an object of the command itself, such as ``diagnostic`` or ``result``."""
        self._write({"type": kind, **data})

    def _write(self, value: object) -> None:
        try:
            text = self._encoder.encode(value).decode()
        except UnicodeEncodeError:
            # A file's name that is not UTF-8.
            text = json_text(msgspec.to_builtins(value, enc_hook=encode_hook))
        self._channel.write(text + "\n")


def rounded(event: Told) -> Told:
    """An event with durations in whole milliseconds, as in the records."""
    if isinstance(event, StepSucceeded | StepFailed | StepRetrying) and event.outcome.seconds:
        outcome = replace(event.outcome, seconds=round(event.outcome.seconds, DIGITS))
        event = replace(event, outcome=outcome)
    if isinstance(event, StepRetrying | JobFinished):
        event = replace(event, seconds=round(event.seconds, DIGITS))
    return event


class StreamProgress:
    """A job's events, written to the stream as they come."""

    def __init__(self, stream: JsonStream) -> None:
        self._stream = stream

    def __call__(self, event: Event) -> None:
        """Write an event."""
        self._stream(event)

    def say(self, text: str) -> None:
        """Write a note."""
        self._stream.say("note", {"message": text})

    def close(self) -> None:
        """Does nothing."""
