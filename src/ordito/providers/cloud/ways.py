"""Which ways have to be open between the machines of a deployment: those of the connections of what stands on them
(§8.2), those of public endpoints for everybody, and that by which the program itself reaches them."""

from __future__ import annotations

from collections.abc import Iterator

from ordito.providers.cloud.dialect import ANYWHERE, Way
from ordito.providers.cloud.naming import name_of
from ordito.providers.cloud.settings import CloudSettings
from ordito.work.providing import Connection, Delegation, Span

EVERY: Span = (0, 65_535)
SSH_PORT = 22


def group_of(ensemble: str, node: str) -> str:
    """The name of the group that all machines of a node are in."""
    return name_of(ensemble, f"{node}/group")


def ways_of(asked: Delegation, settings: CloudSettings) -> dict[str, list[Way]]:
    """The ways that a Compute has a part in, by the group into which they lead. Its own group is always there."""
    found: dict[str, set[Way]] = {group_of(asked.ensemble, asked.node): set()}
    for connection in asked.connections:
        for begins, ends, spans in _directions(connection):
            if begins and ends:
                source = group_of(asked.ensemble, begins)
                ways = {Way(source, connection.protocol, first, last) for first, last in spans or (EVERY,)}
                found.setdefault(group_of(asked.ensemble, ends), set()).update(ways)
    own = found[group_of(asked.ensemble, asked.node)]
    if settings.admits and not settings.groups:
        port = int(str(settings.connection.get("port", SSH_PORT)))
        own.add(Way(settings.admits, "tcp", port, port))
    for endpoint in asked.endpoints:
        if endpoint.public:
            own |= {Way(ANYWHERE, endpoint.protocol, first, last) for first, last in endpoint.ports}
    return {group: sorted(ways) for group, ways in found.items()}


def _directions(connection: Connection) -> Iterator[tuple[str, str, tuple[Span, ...]]]:
    """Who begins, with whom, and at which ports of that one (§8.3.1)."""
    if connection.initiator != "target":
        yield connection.source_host, connection.target_host, connection.ports
    if connection.initiator in {"target", "peer"} and connection.relationship:
        yield connection.target_host, connection.source_host, connection.source_ports
