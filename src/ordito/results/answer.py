"""What all results have in common: how a result becomes plain data, the name of its format, and how it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, Self, TypeVar

import msgspec

from ordito.base.json_text import json_text
from ordito.base.sensitive import encode_hook


class Result(msgspec.Struct, frozen=True):
    """A result of a command, as ``-o json`` writes it and as views show it to people. Its format is named after the
    command, as in ``ordito.jobs-list/1``.

    Names may be added to a format; a change of meaning gets a new number. Fields whose default is ``UNSET`` are written
    only if there is something to say. No result holds a sensitive value: what makes it has replaced those.
    """

    @property
    def data(self) -> dict[str, object]:
        """Plain data; a ``format`` stands first."""
        plain: dict[str, object] = msgspec.to_builtins(self, enc_hook=encode_hook, builtin_types=PLAIN)
        return plain

    @property
    def json(self) -> bytes:
        """The same data as JSON, without spaces."""
        try:
            return msgspec.json.encode(self, enc_hook=encode_hook)
        except (UnicodeEncodeError, OverflowError):
            # A file's name that is not UTF-8, an integer of more than 64 bits.
            return json_text(self.data).encode()

    @classmethod
    def read(cls, plain: Mapping[str, object]) -> Self:
        """The result of which this is the plain data. Raises ``msgspec.ValidationError``."""
        return msgspec.convert(plain, cls)


class ResultData(Result, frozen=True, tag_field="format"):
    """A result whose format has a name of its own: the tag of the struct, such as ``ordito.status/1``."""


PLAIN = ()
"""Types that stay as they are in plain data besides those of JSON: none."""


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked of an ensemble: the parameters of a use case, without the ensemble itself."""


A = TypeVar("A", bound=Asked)
R = TypeVar("R", bound=Result)


class UseCase(msgspec.Struct, Generic[A, R], frozen=True):
    """Something that can be asked of an ensemble without changing anything, by a command or through a server."""

    name: str
    """The verb that asks, with its group, as in ``jobs list``."""

    asked: type[A]
    """Its parameters."""

    results: tuple[type[Result], ...]
    """What it may answer."""

    answer: Callable[[str, A], R]
    """Answers for the ensemble in a directory. Raises what ``ordito.results.failure`` explains."""
