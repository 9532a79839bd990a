"""How Compute instances are reached while a job runs: asked once of the provider, and again when the attributes of an
instance change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ordito.base.sensitive import revealed
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Snapshot
from ordito.model.hosting import makes_itself
from ordito.model.service import NodeTemplate, Service
from ordito.work.providing import recorded_provider
from ordito.work.targets import ENDPOINT, HOST, SSH, HostTarget, Unreachable

ADDRESSES = ("private_address", "public_address")


class FindsTargets(Protocol):
    """Knows how hosts are reached, with present credentials."""

    def of_provider(self, provider: str, instance: str, attributes: Mapping[str, object]) -> HostTarget | None:
        """How a Compute is reached that the provider of this name has made; None for this machine. Raises
        ``Unreachable``."""

    def at(self, instance: str, node: str, address: str, port: int | None) -> HostTarget:
        """How a Compute that the template creates itself is reached by SSH at its address; ``port`` is None if the
        template has none. Raises ``Unreachable``."""


class ThisMachine:
    """Every host is this machine; used where no other hosts are known."""

    def of_provider(self, provider: str, instance: str, attributes: Mapping[str, object]) -> HostTarget | None:
        """This machine."""
        return None

    def at(self, instance: str, node: str, address: str, port: int | None) -> HostTarget:
        """Raises ``Unreachable``: no other host is known."""
        raise Unreachable(f"{instance} is to be reached by SSH at {address}, which is not available here")


THIS_MACHINE = ThisMachine()


class Targets:
    """The targets of Compute instances, each found when it is first needed, and again when the attributes change on
    which it depends."""

    def __init__(self, service: Service, snapshot: Snapshot, evaluator: Evaluator, finds: FindsTargets) -> None:
        self._service = service
        self._snapshot = snapshot
        self._evaluator = evaluator
        self._finds = finds
        self._known: dict[str, tuple[tuple[object, ...], HostTarget | None]] = {}

    def of(self, compute: str) -> HostTarget | None:
        """How a Compute instance is reached, None for this machine; "" is the orchestrator. Raises ``Unreachable``."""
        if not compute:
            return None
        values = self._snapshot.attributes.get(compute, NOTHING)
        depends = (values.get(HOST), values.get(ADDRESSES[0]), values.get(ADDRESSES[1]))
        known = self._known.get(compute)
        if known is None or known[0] != depends:
            known = self._known[compute] = (depends, self._found(compute, values))
        return known[1]

    def _found(self, compute: str, values: Mapping[str, object]) -> HostTarget | None:
        if HOST in values:
            plain = {name: revealed(value) for name, value in values.items()}
            return self._finds.of_provider(recorded_provider(plain), compute, plain)
        record = self._snapshot.instances.get(compute)
        node = self._service.nodes.get(record.node) if record is not None else None
        if node is not None and node.existing and HOST in node.attributes:
            selected = {name: value for name, value in node.attributes.items() if name == HOST}
            return self._finds.of_provider(recorded_provider(selected), compute, selected)
        if node is None or not makes_itself(node) or self._of_endpoint(node, compute, "protocol") != SSH:
            return None
        address = next((a for name in ADDRESSES if (a := self._text(values.get(name)))), "")
        address = address or self._text(self._of_endpoint(node, compute, "ip_address"))
        if not address:
            raise Unreachable(
                f"{compute} is to be reached by SSH, and has no address: nothing has set its private_address"
            )
        port = self._of_endpoint(node, compute, "port")
        return self._finds.at(compute, node.name, address, port if isinstance(port, int) else None)

    def _of_endpoint(self, node: NodeTemplate, instance: str, name: str) -> object:
        """A value of the capability ``endpoint``: the recorded one, else the written one; None for none."""
        capability = node.capabilities.get(ENDPOINT)
        if capability is None:
            return None
        recorded = self._snapshot.attributes.get(instance, NOTHING).get(f"{ENDPOINT}::{name}")
        if recorded is not None:
            return revealed(recorded)
        written = capability.attributes.get(name, capability.properties.get(name))
        try:
            found = self._evaluator.evaluate(written, Context(node=node.name, instance=instance))
        except EvaluationError:
            return None
        return None if isinstance(found, Nothing) else revealed(found)

    def _text(self, value: object) -> str:
        plain = revealed(value)
        return plain if isinstance(plain, str) else ""


NOTHING: Mapping[str, object] = {}
