"""A change of records that somebody looks at before it is made: elsewhere, and so in two steps."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ordito.app.errors import Refused
from ordito.app.unattended import Unattended
from ordito.app.work_items import NoticesItem
from ordito.base.diagnostics import Diagnostic


class Review(Unattended):
    """The conversation of such a change. Without ``seen`` the change is only described, and the use case ends with
    ``Declined``; with it, it is made if its description still has that digest, and else ``Refused``."""

    def __init__(self, directory: str, seen: str) -> None:
        super().__init__(NoticesItem(directory), lambda _: None)
        self._seen = seen
        self.intent = ""
        self.lines: tuple[str, ...] = ()
        self.asks = False
        self.diagnostics: tuple[Diagnostic, ...] = ()

    def found(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Remember warnings and notes about the documents."""
        self.diagnostics = (*self.diagnostics, *diagnostics)

    def confirm(self, intent: str, lines: Sequence[str], *, asks: bool = True) -> bool:
        """Whether exactly this was seen. Raises ``Refused`` if something else was."""
        self.intent, self.lines, self.asks = intent, tuple(lines), asks
        if self._seen and self._seen != self.digest:
            message = "this would change other records now than when it was looked at; nothing was changed"
            raise Refused("changed", message, "look at it again, and change that")
        return bool(self._seen)

    @property
    def digest(self) -> str:
        """By what the description is known again."""
        return hashlib.sha256("\n".join((self.intent, *self.lines)).encode()).hexdigest()[:20]
