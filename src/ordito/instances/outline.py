"""The outline of a service: of each node only what the status of instances depends on. It is small enough to be kept
beside an ensemble, so that looking at the status does not need the service itself."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from ordito.instances.dependencies import targets_first
from ordito.model.service import Service


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


def outline_of(service: Service, lost: Collection[str] = ()) -> Outline:
    """The outline of a service; ``lost`` are the nodes that its template does not have any more."""
    nodes: dict[str, NodeOutline] = {}
    for node in targets_first(service):
        host = node.host
        nodes[node.name] = NodeOutline(
            node.name,
            node.type,
            host.target if host is not None else "",
            tuple(dict.fromkeys(r.target for r in node.requirements if not r.is_hosting)),
            node.settings.is_optional,
            node.name in lost,
        )
    return Outline(service.name, nodes)
