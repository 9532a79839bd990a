"""What all results have in common: the name of the format, and how a result becomes plain data."""

from __future__ import annotations

import msgspec

from ordito.base.sensitive import encode_hook


class ResultData(msgspec.Struct, frozen=True, tag_field="format"):
    """A result of a command, as ``-o json`` writes it and as views show it to people.

    The tag of each subclass is the name of its format with its version, such as ``ordito.status/1``: names may be added
    to a format, a change of meaning gets a new number. Fields whose default is ``UNSET`` are written only if there is
    something to say. No result holds a sensitive value: what makes it has replaced those.
    """

    @property
    def data(self) -> dict[str, object]:
        """Plain data, ``format`` first."""
        plain: dict[str, object] = msgspec.to_builtins(self, enc_hook=encode_hook, builtin_types=PLAIN)
        return plain


PLAIN = ()
"""Types that stay as they are in plain data besides those of JSON: none."""
