"""The stream of events for programs: one JSON object on each line; the first one names the format."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito import __version__
from ordito.base.json_text import json_text
from ordito.base.sensitive import encode_hook
from ordito.cli.channel import Channel
from ordito.work.events import FORMAT, Event, rounded


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

    def repeat(self, line: bytes) -> None:
        """Write the line of an event that was written before."""
        self._channel.write(line.decode())

    def _write(self, value: object) -> None:
        try:
            text = self._encoder.encode(value).decode()
        except (UnicodeEncodeError, OverflowError):
            # A file's name that is not UTF-8, an integer of more than 64 bits.
            text = json_text(msgspec.to_builtins(value, enc_hook=encode_hook))
        self._channel.write(text + "\n")


_EVENTS: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


def event_in(line: bytes) -> Event | None:
    """The event on a line, None for one of a kind that this version does not know."""
    try:
        return _EVENTS.decode(line)
    except msgspec.ValidationError:
        return None


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
