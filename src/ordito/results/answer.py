"""What all results have in common: how a result becomes plain data, and the name of its format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import msgspec

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

    @classmethod
    def read(cls, plain: Mapping[str, object]) -> Self:
        """The result of which this is the plain data. Raises ``msgspec.ValidationError``."""
        return msgspec.convert(plain, cls)


class ResultData(Result, frozen=True, tag_field="format"):
    """A result whose format has a name of its own: the tag of the struct, such as ``ordito.status/1``."""


PLAIN = ()
"""Types that stay as they are in plain data besides those of JSON: none."""
