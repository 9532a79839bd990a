"""What jobs have carried out of a workflow of the template, for one that continues it."""

from __future__ import annotations

import msgspec

LEFT_OUT = "the filter leaves it out"
"""The beginning of the summary of a filter step that its instance does not pass."""


class Carried(msgspec.Struct, frozen=True):
    """Steps of an earlier plan of the same workflow, by their ids: those that are ``done``, the filters that have
    ``left_out`` their instances, and those that failed and whose workflow steps are to begin ``again``."""

    done: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    anew: frozenset[str] = frozenset()

    def of(self, step: str) -> Carried:
        """What counts of a workflow step: nothing of one that begins again."""
        return NOTHING_CARRIED if any(name.startswith(f"{step}.") for name in self.anew) else self


NOTHING_CARRIED = Carried()
