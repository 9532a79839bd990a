"""The outline of a service: of each node only what the status of instances depends on. It is small enough to be kept
beside an ensemble, so that looking at the status does not need the service itself."""

from __future__ import annotations

import msgspec


class NodeOutline(msgspec.Struct, frozen=True, omit_defaults=True):
    """A node: its type, what it is hosted on ("" for nothing) and what else it requires, each node once; whether others
    can do without it; whether it is one that the template has lost."""

    name: str
    type: str
    host: str = ""
    targets: tuple[str, ...] = ()
    optional: bool = False
    lost: bool = False


class Outline(msgspec.Struct, frozen=True):
    """The service's name, and its nodes by name, each after all it requires."""

    service: str
    nodes: dict[str, NodeOutline]
