"""All that query processes answer and do: the looks of the command, what only the server asks, and small changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ordito.results.answer import UseCase
from ordito.results.by_hand import (
    FORGET,
    HOSTS_CHECK,
    HOSTS_RELEASE,
    REPLAY,
    STATE_ADOPT,
    STATE_MOVE,
    STATE_REMOVE,
    STATE_RENEW,
    UNLOCK,
)
from ordito.results.ensembles import CREATE, SERVICE_PLACE
from ordito.results.given import INVENTORY_SET, NOTIFY, SECRET_REMOVE, SECRET_SET, SPEC_SET
from ordito.results.looks import LOOKS
from ordito.server.processes.making import MAKE
from ordito.server.processes.plan_rows import PLAN_ROWS
from ordito.server.processes.statuses import EFFECTIVE_STATUSES

_CHANGES: tuple[UseCase[Any, Any], ...] = (
    *(CREATE, SPEC_SET, INVENTORY_SET, SECRET_SET, SECRET_REMOVE, NOTIFY),
    *(STATE_MOVE, STATE_REMOVE, STATE_ADOPT, STATE_RENEW, FORGET),
    *(REPLAY, UNLOCK, HOSTS_CHECK, HOSTS_RELEASE),
)
CHANGES: Mapping[str, UseCase[Any, Any]] = {one.name: one for one in _CHANGES}
"""What writes into an ensemble, by name: it is never done a second time by itself."""

SERVER_LOOKS: Mapping[str, UseCase[Any, Any]] = {
    **LOOKS,
    **{one.name: one for one in (MAKE, PLAN_ROWS, SERVICE_PLACE, EFFECTIVE_STATUSES)},
    **CHANGES,
}
"""All of it, by name."""
