"""All that query processes answer and do: the looks of the command, what only the server asks, and small changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ordito.results.answer import UseCase
from ordito.results.ensembles import CREATE, SERVICE_PLACE
from ordito.results.given import (
    HOSTS_CHECK,
    HOSTS_RELEASE,
    INVENTORY_SET,
    NOTIFY,
    REPLAY,
    SECRET_REMOVE,
    SECRET_SET,
    SPEC_SET,
    UNLOCK,
)
from ordito.results.looks import LOOKS
from ordito.server.processes.making import MAKE
from ordito.server.processes.plan_rows import PLAN_ROWS

_CHANGES: tuple[UseCase[Any, Any], ...] = (
    *(CREATE, SPEC_SET, INVENTORY_SET, SECRET_SET, SECRET_REMOVE, NOTIFY),
    *(REPLAY, UNLOCK, HOSTS_CHECK, HOSTS_RELEASE),
)
CHANGES: Mapping[str, UseCase[Any, Any]] = {one.name: one for one in _CHANGES}
"""What writes into an ensemble, by name: it is never done a second time by itself."""

SERVER_LOOKS: Mapping[str, UseCase[Any, Any]] = {
    **LOOKS,
    **{one.name: one for one in (MAKE, PLAN_ROWS, SERVICE_PLACE)},
    **CHANGES,
}
"""All of it, by name."""
