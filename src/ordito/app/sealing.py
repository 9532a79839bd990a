"""What a saved plan holds of values, and by what they are compared: sensitive ones sealed with the ensemble's key."""

from __future__ import annotations

import hashlib
import json

import msgspec

from ordito.base.sensitive import replaced, restored
from ordito.ensemble.layout import Layout
from ordito.ensemble.vault import Vault


class Sealing:
    """Seals the sensitive values of one ensemble, and makes digests of values."""

    def __init__(self, layout: Layout) -> None:
        self._vault = Vault(layout)

    def sealed(self, data: object) -> object:
        """Plain data of a ``msgspec.Struct`` in which sensitive values are sealed. Raises ``EnsembleError``."""
        return msgspec.to_builtins(data, enc_hook=self._vault.sealed)

    def opened(self, data: object) -> object:
        """What was sealed, from plain data; values are unsealed when they are needed."""
        return restored(data, self._vault.open)

    def digest(self, value: object) -> str:
        """A digest by which to tell whether a value is the same; of what is sensitive in it with the ensemble's key, so
        that nobody else can try values out."""
        plain = replaced(value, lambda found: ["sensitive", found.digest(self._vault.digest_key())])
        text = json.dumps(plain, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def keep(self) -> None:
        """Keep the key that digests were made with, so that they can be compared. Raises ``EnsembleError``."""
        self._vault.keep()
