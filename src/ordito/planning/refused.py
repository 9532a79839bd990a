"""How a plan is refused."""

from __future__ import annotations

from collections.abc import Sequence

from ordito.base.diagnostics import Diagnostic


class PlanRefused(Exception):
    """There is no plan: every reason that was found, each with what to do about it. Nothing was touched."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = list(diagnostics)
        super().__init__("; ".join(str(d) for d in self.diagnostics[:3]))
