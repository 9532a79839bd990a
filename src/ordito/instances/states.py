"""The node states of TOSCA (§3.4.1), and which may follow which."""

from __future__ import annotations

from collections.abc import Mapping

INITIAL = "initial"
CREATING = "creating"
CREATED = "created"
CONFIGURING = "configuring"
CONFIGURED = "configured"
STARTING = "starting"
STARTED = "started"
STOPPING = "stopping"
DELETING = "deleting"
DELETED = "deleted"
ERROR = "error"

TRANSITIONS: Mapping[str, frozenset[str]] = {
    INITIAL: frozenset({CREATING, DELETED}),
    CREATING: frozenset({CREATED, STARTED, ERROR}),
    CREATED: frozenset({CONFIGURING, STOPPING}),
    CONFIGURING: frozenset({CONFIGURED, STARTED, ERROR}),
    CONFIGURED: frozenset({CONFIGURING, STARTING, STOPPING, DELETING}),
    STARTING: frozenset({STARTED, ERROR}),
    STARTED: frozenset({CONFIGURING, STOPPING}),
    STOPPING: frozenset({CONFIGURED, STARTING, DELETED, ERROR}),
    DELETING: frozenset({DELETED, ERROR}),
    DELETED: frozenset({CREATING}),
    ERROR: frozenset({CREATING, CONFIGURING, STARTING, STOPPING, DELETING}),
}
"""Which state may follow which in a declarative workflow. ``started`` becomes ``configuring``, and that ``started``,
where an instance has its own operation for a change; ``stopping`` becomes ``starting`` where stopping an instance
failed and it goes on. For an instance that a provider makes, ``creating`` becomes ``started`` directly, and
``stopping`` becomes ``deleted``. Any state becomes ``deleted`` where the host is deleted with the instance."""

TRANSITIONAL = frozenset({CREATING, CONFIGURING, STARTING, STOPPING, DELETING})
"""The states during which an operation runs."""
