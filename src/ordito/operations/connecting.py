"""What a provider is told of who reaches a Compute: the connections of what stands on it, and its endpoints (§8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ordito.instances.context import Context
from ordito.model.connections import Connection as Written
from ordito.model.connections import Ports, connections, exposed, ports_of
from ordito.model.service import Capability, Service
from ordito.syntax.expressions import Value
from ordito.work.providing import Endpoint, OpenWay, Span

Evaluated = Callable[[Mapping[str, Value], Context], dict[str, object]]

PUBLIC = "tosca.capabilities.Endpoint.Public"
CARRIED = {"udp": "udp", "icmp": "icmp"}
"""The protocols that are not carried by TCP, as those of applications are."""


class Connecting:
    """The connections and endpoints of a service, by Compute; each is evaluated once."""

    def __init__(self, service: Service, evaluated: Evaluated) -> None:
        self._service = service
        self._evaluated = evaluated
        self._written: dict[str, list[Written]] | None = None
        self._endpoints: dict[str, list[Endpoint]] = {}
        self._known: dict[str, tuple[tuple[OpenWay, ...], tuple[Endpoint, ...]]] = {}

    def of(self, node: str) -> tuple[tuple[OpenWay, ...], tuple[Endpoint, ...]]:
        """The connections in which a node takes part, itself or with what stands on it, and the endpoints there."""
        known = self._known.get(node)
        if known is None:
            written = self._by_node().get(node, ())
            found = tuple(one for connection in written for one in self._of(connection))
            known = self._known[node] = found, tuple(self._endpoints.get(node, ()))
        return known

    def _by_node(self) -> dict[str, list[Written]]:
        if self._written is None:
            self._written = {}
            for connection in connections(self._service.nodes):
                ends = (connection.source, connection.target)
                for name in dict.fromkeys(n for end in ends for n in (end.node, end.host) if n):
                    self._written.setdefault(name, []).append(connection)
            for one in exposed(self._service.nodes):
                self._endpoints.setdefault(one.host, []).append(self._endpoint(one.node, one.endpoint))
        return self._written

    def _of(self, written: Written) -> Iterator[OpenWay]:
        """One for each protocol."""
        context = Context(node=written.target.node)
        values = self._evaluated({"initiator": written.initiator, "secure": written.secure}, context)
        by_protocol: dict[str, tuple[list[Span], list[Span]]] = {}
        for ports in written.ports or (Ports(None),):
            # A port of the source alone is what its own endpoint says.
            of_source = ports.target is None and ports.source is not None
            said_by = Context(node=written.source.node) if of_source else context
            protocol, target, source = self._spans(ports, said_by)
            spans = by_protocol.setdefault(protocol, ([], []))
            spans[0].extend(target)
            spans[1].extend(source)
        for protocol, (targets, sources) in by_protocol.items():
            yield OpenWay(
                written.source.node,
                written.target.node,
                written.source.host,
                written.target.host,
                protocol,
                tuple(targets),
                tuple(sources),
                str(values.get("initiator") or "source"),
                values.get("secure") is True,
                written.relationship,
            )

    def _spans(self, ports: Ports, context: Context) -> tuple[str, list[Span], list[Span]]:
        values = self._evaluated({"protocol": ports.protocol, "source": ports.source, "target": ports.target}, context)
        protocol = str(values.get("protocol") or "tcp").lower()
        return CARRIED.get(protocol, "tcp"), _span(values.get("target")), _span(values.get("source"))

    def _endpoint(self, node: str, endpoint: Capability) -> Endpoint:
        context = Context(node=node)
        values = self._evaluated(
            {name: endpoint.properties.get(name) for name in ("network_name", "dns_name", "floating", "protocol")},
            context,
        )
        spans = [span for ports in ports_of(endpoint) for span in self._spans(ports, context)[1]]
        return Endpoint(
            node,
            endpoint.name,
            PUBLIC in endpoint.kinds,
            CARRIED.get(str(values.get("protocol")).lower(), "tcp"),
            tuple(dict.fromkeys(spans)),
            str(values.get("network_name") or ""),
            str(values.get("dns_name") or ""),
            values.get("floating") is True,
        )


def _span(value: object) -> list[Span]:
    """Ports as they are written: one, or the first and the last."""
    if isinstance(value, list) and len(value) == 2:
        return [(int(str(value[0])), int(str(value[1])))]
    text = str(value)
    return [(int(text), int(text))] if text.isdecimal() else []
