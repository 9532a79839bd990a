"""Choosing existing nodes: for templates with the directive ``select`` and for requirements that no template of the
topology fulfils (§2.9, R-3.8.2-10)."""

from __future__ import annotations

from collections.abc import Iterable

from ordito.base.diagnostics import Diagnostics, Related
from ordito.model.circumstances import Circumstances
from ordito.model.requirements import Open
from ordito.model.selection import MOST_LISTED, Found

INVENTORY = "name the existing nodes with --inventory FILE"


class Selecting:
    """Chooses, and reports what cannot be chosen: as an error where everything has to be chosen now, else as a
    note."""

    def __init__(self, circumstances: Circumstances, diagnostics: Diagnostics) -> None:
        self._circumstances = circumstances
        self._diagnostics = diagnostics

    def settle(self, waiting: Iterable[tuple[Open, Found]]) -> None:
        """Fulfil the requirements that no node template fulfils."""
        for item, found in waiting:
            self._report(item, found)

    def _report(self, waiting: Open, found: Found) -> None:
        shape = waiting.demand.shape
        related = (Related("defined here", shape.span),) if shape.span else ()
        reasons = [*found.near, *(u.reason for u in found.open)]
        near = "; ".join(reasons[:MOST_LISTED])
        if waiting.item is None and not found.open:
            self._diagnostics.error(
                "missing-requirement",
                f"the required {waiting.shown} is not assigned",
                waiting.place.span,
                hint=f"add below requirements: - {shape.name}: <node template>; "
                + (near or f"no other node offers {shape.capability}"),
                related=related,
            )
        elif self._circumstances.final:
            self._diagnostics.error(
                "no-candidate",
                f"nothing fulfils {waiting.shown}: there is no {waiting.demand.shown}",
                waiting.place.span,
                hint=f"{near}; {INVENTORY}" if near else f"add a node template that fits, or {INVENTORY}",
                related=related,
            )
        else:
            self._diagnostics.note(
                "chosen-later",
                f"{waiting.shown} is fulfilled when the service is planned: here is no {waiting.demand.shown}",
                waiting.place.span,
                hint=near,
            )
