"""What a file outside of the ensemble may hold of values, and by what they are compared."""

from __future__ import annotations

import hashlib
import json

import msgspec

from ordito.app.errors import Refused
from ordito.base.sensitive import Sensitive, is_sensitive
from ordito.ensemble.layout import Layout


class Sealing:
    """Seals the sensitive values of one ensemble, and makes digests of values."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def sealed(self, data: object) -> object:
        """Plain data of a ``msgspec.Struct`` in which sensitive values are sealed. Raises ``Refused`` where they cannot
        be."""
        return msgspec.to_builtins(data, enc_hook=self._seal)

    def _seal(self, value: object) -> object:
        if not isinstance(value, Sensitive):
            raise NotImplementedError(f"objects of type {type(value).__name__} are not written")
        raise Refused(
            "cannot-save",
            "a sensitive value was given on the command line, and no saved plan holds such values",
            f"write it as {{ env: NAME }} or {{ secret: NAME }} in {self._layout.manifest.name}, and plan again",
        )

    def opened(self, data: object) -> object:
        """What ``sealed`` was given."""
        return data

    def digest(self, value: object) -> str:
        """A digest by which to tell whether a value is the same; "" of a sensitive one, which is not compared."""
        if is_sensitive(value):
            return ""
        text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def keep(self) -> None:
        """Keep what digests were made with."""
