"""Who else has an artifact at the same place: instances of one node that lie on one machine share what their node is
deployed with, and only the last of them to go removes it."""

from __future__ import annotations

from collections.abc import Callable

from ordito.instances.hosting import compute_of
from ordito.instances.lifecycle import DEPLOYS_ARTIFACT, UNDEPLOYS_ARTIFACT
from ordito.instances.records import Snapshot
from ordito.model.service import Service
from ordito.work.plan import OperationCall
from ordito.work.targets import HostTarget, Unreachable


class SharedPlaces:
    """The instances that hold each deployed artifact, by machine; those that do not any more are found out when they
    are in the way, so that a node of very many instances is gone through once."""

    def __init__(self, service: Service, snapshot: Snapshot, target: Callable[[str], HostTarget | None]) -> None:
        self._service = service
        self._snapshot = snapshot
        self._target = target
        self._holders: dict[tuple[str, str], dict[tuple[str, str], dict[str, None]]] = {}

    def is_left(self, call: OperationCall, instance: str) -> bool:
        """Whether a call that would remove an artifact has to leave it for another instance. Raises ``Unreachable``."""
        node = self._snapshot.instances[instance].node
        machine = self._machine(instance)
        if call.operation not in UNDEPLOYS_ARTIFACT:
            if (node, call.interface) in self._holders:
                self._holders[node, call.interface].setdefault(machine, {})[instance] = None
            return False
        holders = self._of(node, call.interface).get(machine, {})
        keys = [f"{call.interface}.{operation}" for operation in DEPLOYS_ARTIFACT]
        holders.pop(instance, None)
        for other in list(holders):
            record = self._snapshot.instances.get(other)
            if record is not None and record.exists and any(key in record.applied for key in keys):
                return True
            del holders[other]
        return False

    def _of(self, node: str, interface: str) -> dict[tuple[str, str], dict[str, None]]:
        known = self._holders.get((node, interface))
        if known is None:
            known = self._holders[node, interface] = {}
            for instance in self._snapshot.ids_of(node):
                try:
                    known.setdefault(self._machine(instance), {})[instance] = None
                except Unreachable:
                    continue  # Nobody knows that machine any more: it is not the one where something is removed.
        return known

    def _machine(self, instance: str) -> tuple[str, str]:
        """The machine of an instance: the protocol and name of its target, both "" for this one."""
        compute = compute_of(self._service, self._snapshot, instance)
        target = self._target(compute) if compute else None
        return (target.protocol, target.name) if target is not None else ("", "")
