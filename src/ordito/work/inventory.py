"""The topology as an inventory of hosts: which instances there are, of which nodes, and on which hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from ordito.instances.hosting import compute_of
from ordito.instances.records import Snapshot
from ordito.work.targets import HostTarget

if TYPE_CHECKING:
    # The model is not loaded with this file, so that help comes at once.
    from ordito.model.service import Service

TargetOf = Callable[[str], HostTarget | None]
"""How the Compute of an instance's id is reached, None for this machine. Raises ``Unreachable``."""


class Listed(msgspec.Struct, frozen=True):
    """An instance: its node template, that one's type and ancestors, the groups it is a member of, the Compute
    instance on which it is ("" where it is on none)."""

    instance: str
    node: str
    kinds: tuple[str, ...]
    groups: tuple[str, ...] = ()
    host: str = ""


class TopologyInventory:
    """All instances of a snapshot, as things are when it is asked; ``target`` says how a Compute is reached."""

    def __init__(self, service: Service, snapshot: Snapshot, target: TargetOf) -> None:
        self._service = service
        self._snapshot = snapshot
        self.target = target
        self._groups: dict[str, list[str]] = {}
        for group in service.groups.values():
            for member in group.members:
                self._groups.setdefault(member, []).append(group.name)

    def __len__(self) -> int:
        return len(self._snapshot.instances)

    def listed(self, instance: str) -> Listed:
        """What is known of one instance."""
        node = self._snapshot.instances[instance].node
        template = self._service.nodes[node]
        compute = compute_of(self._service, self._snapshot, instance)
        return Listed(instance, node, template.kinds, tuple(self._groups.get(node, ())), compute)

    def everything(self) -> list[Listed]:
        """All instances that exist, node by node in the order of the service."""
        return [self.listed(id_) for node in self._service.nodes for id_ in self._snapshot.ids_of(node)]


class OperationSubject(msgspec.Struct, frozen=True):
    """Whom an operation is for, as executors need it that understand more than texts.

    ``instance`` is the one it runs for, ``side`` "source" or "target" where it is at that end of a relationship.
    ``inputs`` are plain data, ``settings`` the properties of its implementation; both may be secret in parts.
    """

    instance: str
    topology: TopologyInventory
    side: str = ""
    inputs: Mapping[str, object] = {}
    settings: Mapping[str, object] = {}
