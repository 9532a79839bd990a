"""The states of a plan, and what leads from one to another."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from ordito.server.permissions import Permission


class PlanState(StrEnum):
    """How far a plan has come."""

    PLANNING = "planning"
    """It is being made."""

    EMPTY = "empty"
    """There is nothing to do."""

    READY = "ready"
    """It changes something, and waits for somebody who applies it."""

    REFUSED = "refused"
    """It cannot be made, or must not be carried out so."""

    FAULTY = "faulty"
    """Its process failed again and again, or ran out of what it may use."""

    WAITING = "waiting"
    """It is to be applied, and approvals are missing."""

    REJECTED = "rejected"
    """Somebody who may approve has said no."""

    QUEUED = "queued"
    """It is to be applied, and waits for its turn."""

    STARTING = "starting"
    """Its runner was started."""

    RUNNING = "running"
    """Its job has begun."""

    STALE = "stale"
    """What it depends on has changed: it was not carried out."""

    APPLIED = "applied"
    """Its job is closed, well or not."""

    DISCARDED = "discarded"
    """It is not wanted any more."""


_S = PlanState

MOVES: Mapping[PlanState, frozenset[PlanState]] = {
    _S.PLANNING: frozenset({_S.EMPTY, _S.READY, _S.REFUSED, _S.FAULTY, _S.DISCARDED}),
    _S.READY: frozenset({_S.WAITING, _S.QUEUED, _S.REJECTED, _S.STALE, _S.DISCARDED}),
    _S.WAITING: frozenset({_S.QUEUED, _S.REJECTED, _S.STALE, _S.DISCARDED}),
    # Rules may change, and who has approved may lose the right to it.
    _S.QUEUED: frozenset({_S.STARTING, _S.WAITING, _S.REFUSED, _S.DISCARDED}),
    # It has no job if its plan comes out empty, or nothing may be done.
    _S.STARTING: frozenset({_S.RUNNING, _S.STALE, _S.QUEUED, _S.APPLIED, _S.EMPTY, _S.REFUSED, _S.FAULTY}),
    # Where the ensemble's journal was lost, nobody knows of its job any more.
    _S.RUNNING: frozenset({_S.APPLIED, _S.FAULTY}),
}
"""What each state may become; those that are not there are final."""

ACTIVE = frozenset({_S.PLANNING, _S.QUEUED, _S.STARTING, _S.RUNNING})
"""The states in which the server has something to do."""

OPEN = frozenset(MOVES)
"""The states that are not final."""

UNBEGUN = OPEN - {_S.STARTING, _S.RUNNING}
"""The states in which a plan can be discarded."""

WORKFLOW_PERMISSIONS: Mapping[str, Permission] = {
    **dict.fromkeys(("start", "stop", "restart", "scale", "heal", "check", "discover", "workflow"), Permission.OPERATE),
    **dict.fromkeys(("deploy", "upgrade", "rollback", "retry", "skip"), Permission.DEPLOY),
    "run": Permission.RUN,
    "undeploy": Permission.REMOVE,
}
"""Who may apply the plan of a workflow."""
