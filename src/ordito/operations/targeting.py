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
from ordito.syntax.expressions import Value
from ordito.work.agents import CONFIG, IP, is_agent_host, lacks_address, ssh_settings
from ordito.work.providing import recorded_provider
from ordito.work.targets import ENDPOINT, HOST, SSH, HostTarget, TargetRefused, Unreachable

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
        self._at: dict[tuple[object, ...], HostTarget] = {}

    def of(self, compute: str) -> HostTarget | None:
        """How a Compute instance is reached, None for this machine; "" is the orchestrator. Raises ``Unreachable``."""
        if not compute:
            return None
        values = self._snapshot.attributes.get(compute, NOTHING)
        depends = (values.get(HOST), values.get(ADDRESSES[0]), values.get(ADDRESSES[1]), values.get(IP))
        known = self._known.get(compute)
        if known is None or known[0] != depends:
            known = self._known[compute] = (depends, self._found(compute, values))
            if known[1] is not None:
                self._at[_place(known[1])] = known[1]
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
        if node is not None and is_agent_host(node, lambda value: self._value(node, compute, value)):
            return self._of_agent(node, compute, values)
        if node is not None and lacks_address(node, lambda value: self._value(node, compute, value)):
            raise Unreachable(
                f"{compute} is to be reached as its agent_config says, and has no address: give it the property ip, a"
                " pool of hosts in the inventory, or `install_method: none` for this machine"
            )
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

    def is_by_itself(self, instance: str) -> bool:
        """Whether an instance is a host to which its own properties lead, so that no provider has made it."""
        record = self._snapshot.instances.get(instance)
        node = self._service.nodes.get(record.node) if record is not None else None
        if node is None or HOST in self._snapshot.attributes.get(instance, {}):
            return False
        return is_agent_host(node, lambda value: self._value(node, instance, value))

    def of_fabric(self, compute: str, instance: str, given: Mapping[str, object]) -> HostTarget:
        """Where an operation runs that says itself on which host: what it leaves open is that of its own host. Raises
        ``Unreachable``."""
        own = self.of(compute) if compute else None
        below = dict(own.settings) if own is not None else {}
        settings = ssh_settings({name: revealed(value) for name, value in given.items()})
        address = str(revealed(settings.get("address") or below.get("address") or ""))
        if not address:
            raise TargetRefused(
                f"nothing says on which host this runs for {instance}: neither host nor host_string in fabric_env, nor"
                " the property or the runtime property ip of its host"
            )
        known = self._finds.at(instance, "", address, None)
        same = own is not None and own.settings.get("address") == address
        found = HostTarget(
            known.protocol,
            own.name if own is not None and same else address,
            {**known.settings, **(below if same else {}), **settings, "address": address},
        )
        # One machine is one host, by whichever way it is found: its files are kept in one place.
        return self._at.setdefault(_place(found), found)

    def _of_agent(self, node: NodeTemplate, compute: str, values: Mapping[str, object]) -> HostTarget:
        """How a host is reached that its properties lead to."""
        config = revealed(self._value(node, compute, node.properties[CONFIG]))
        given = config if isinstance(config, Mapping) else {}
        if self._text(self._value(node, compute, node.properties.get("os_family"))).lower() == "windows":
            raise TargetRefused(f"{compute} has Windows, and hosts with Windows are not reached: only by SSH")
        address = self._text(values.get(IP)) or self._text(self._value(node, compute, node.properties.get(IP)))
        if not address:
            raise Unreachable(f"{compute} has no address: neither a property nor a runtime property ip")
        own = ssh_settings({**given, "host": address})
        found = self._finds.at(compute, node.name, address, None)
        return HostTarget(found.protocol, found.name, {**found.settings, **own})

    def _value(self, node: NodeTemplate, instance: str, written: Value) -> object:
        try:
            found = self._evaluator.evaluate(written, Context(node=node.name, instance=instance))
        except EvaluationError:
            return None
        return None if isinstance(found, Nothing) else found

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


def _place(target: HostTarget) -> tuple[object, ...]:
    """What tells whether two targets are the same user of the same machine."""
    settings = target.settings
    plain = (revealed(settings.get(name)) for name in ("address", "port", "user"))
    return (target.protocol, *plain, bool(settings.get("become")))


NOTHING: Mapping[str, object] = {}
