"""Node states as TOSCA names them (§3.4.1), and what an operation takes back of what others have done."""

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
where an instance is changed by its own operation for that; ``stopping`` becomes ``starting`` where an instance that was
not stopped after all goes on. ``creating`` goes straight to ``started``, and ``stopping`` to ``deleted``, for what a
provider makes. Any state becomes ``deleted`` where the host is deleted with the instance."""

TRANSITIONAL = frozenset({CREATING, CONFIGURING, STARTING, STOPPING, DELETING})
"""The states during which an operation is at work."""

TAKES_BACK: Mapping[str, frozenset[str]] = {
    "start": frozenset({"stop"}),
    "stop": frozenset({"start"}),
    "delete": frozenset(
        {
            "create",
            "pre_configure_source",
            "pre_configure_target",
            "configure",
            "post_configure_source",
            "post_configure_target",
            "start",
            "install",
            "monitor_start",
        }
    ),
    "create": frozenset({"delete"}),
    "install": frozenset({"uninstall"}),
    "uninstall": frozenset({"install"}),
    "monitor_start": frozenset({"monitor_stop"}),
    "monitor_stop": frozenset({"monitor_start"}),
    "add_target": frozenset({"remove_target"}),
    "add_source": frozenset({"remove_source"}),
    "remove_target": frozenset({"add_target"}),
    "remove_source": frozenset({"add_source"}),
    "preconfigure": frozenset({"unlink"}),
    "postconfigure": frozenset({"unlink"}),
    "establish": frozenset({"unlink"}),
    "unlink": frozenset({"preconfigure", "postconfigure", "establish"}),
    "deploy": frozenset({"undeploy"}),
    "undeploy": frozenset({"deploy"}),
    "deploy_on_host": frozenset({"undeploy_from_host"}),
    "undeploy_from_host": frozenset({"deploy_on_host"}),
}
"""By an operation's name: the operations that no longer count as carried out once it was at work, well or not. The
last four are about artifacts, and the first two of these also what is delegated to a provider."""

UNDONE_BY_STOP = frozenset({"add_target", "add_source"})
"""The operations of a pair that do not count as carried out any more once one of its ends was stopped, whether or not
an operation undoes them: they are carried out again when it is started."""

OF_EVERY_INTERFACE = frozenset({"delete"})
"""What takes back the operations of every interface; all else takes back those of its own alone, since names such as
``start`` stand in several."""


def takes_back(interface: str, operation: str, key: str) -> bool:
    """Whether an operation takes back the one that is remembered under ``key``: ``Interface.operation``, which may have
    a relationship's key and ``/`` before it."""
    names = TAKES_BACK.get(operation)
    if not names:
        return False
    of, _, name = key.rpartition(".")
    return name in names and (operation in OF_EVERY_INTERFACE or of.rpartition("/")[2] == interface)
