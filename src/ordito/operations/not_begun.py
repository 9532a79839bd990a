"""What becomes of the node states of instances that are there when what was to be done to them could not begin."""

from __future__ import annotations

import msgspec

from ordito.instances.records import Delta, Instance, Snapshot
from ordito.instances.states import DELETING, STOPPING, TRANSITIONAL
from ordito.instances.status import OPERATIONAL
from ordito.operations.change_marks import NEVER_STARTED
from ordito.work.invocation import Outcome


class NotBegun:
    """The states of the instances of one job from before something began on them.

    What never started has changed nothing: an instance that was up, or to be removed, goes on as it was, by its state
    as by its local status. One that is being made has no state to go on in; its ``error`` says how far that came.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._before: dict[str, str] = {}

    def begins(self, record: Instance, enter: str) -> None:
        """Something begins on an instance, whose state becomes ``enter``."""
        is_there = record.local in OPERATIONAL or enter in (STOPPING, DELETING)
        if is_there and record.state not in TRANSITIONAL:
            self._before[record.id] = record.state

    def ended(self, owner: str, outcome: Outcome, delta: Delta, *, is_of_pair: bool) -> Delta:
        """What changes by the end of it, with the state that an instance goes on in where it never started."""
        if outcome.ending not in NEVER_STARTED:
            if not is_of_pair:
                self._before.pop(owner, None)
            return delta
        before = self._before.pop(owner, "")
        known = self._snapshot.instances[owner]
        if not before or known.state not in TRANSITIONAL:
            return delta
        ended = next((record for record in delta.instances if record.id == owner), known)
        others = tuple(record for record in delta.instances if record.id != owner)
        return msgspec.structs.replace(delta, instances=(*others, msgspec.structs.replace(ended, state=before)))
