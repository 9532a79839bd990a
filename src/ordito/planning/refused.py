"""How a plan is refused."""

from __future__ import annotations

from collections.abc import Sequence

from ordito.base.diagnostics import Diagnostic
from ordito.work.plan import Change


class PlanRefused(Exception):
    """There is no plan: every reason that was found, each with what to do about it. Nothing was touched.

    ``changes`` are those that were wanted, what is refused among them, where it came so far that they are known.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic], changes: Sequence[Change] = ()) -> None:
        self.diagnostics = list(diagnostics)
        self.changes = tuple(changes)
        super().__init__("; ".join(str(d) for d in self.diagnostics[:3]))
