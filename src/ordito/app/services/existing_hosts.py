"""The hosts of a pool as existing nodes, from which a service can select (§2.9)."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import BinaryIO

import msgspec

from ordito.app.inputs.inventory import PROVIDE, HostInventory
from ordito.app.services.read import ReadService, opened_types
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.model.catalogue import read_types
from ordito.model.resolve import resolve_service
from ordito.model.service import COMPUTE, NodeTemplate, Service
from ordito.providers.pool.allocations import PoolFailed
from ordito.providers.pool.hosts import PoolHost
from ordito.providers.pool.provider import NAME, PoolProvider
from ordito.providers.registry import CLOUD, CONTAINER, LOCALHOST
from ordito.source.package import Package
from ordito.syntax.expressions import Value
from ordito.work.providing import Providers
from ordito.work.targets import HOST

FILE = "hosts.yaml"
ADDRESSES = ("private_address", "public_address")


def hosts_as_service(pool: PoolProvider, shown: str) -> Service:
    """A service whose nodes are the hosts of a pool, free ones first. Raises ``InvalidDocument``."""
    try:
        taken, lost = pool.allocations.read()
    except PoolFailed:
        taken, lost = {}, {}
    hosts = sorted((h for h in pool.hosts.values() if h.name not in lost), key=lambda h: len(taken.get(h.name, ())))
    written = {
        "tosca_definitions_version": "tosca_simple_yaml_1_3",
        "topology_template": {"node_templates": {host.name: _node(host) for host in hosts}},
    }
    # Every JSON document is one of YAML.
    tree, diagnostics = _OneFile(json.dumps(written, indent=1).encode(), shown), Diagnostics()
    service = resolve_service(Package(tree, FILE, "hosts", shown), diagnostics)
    if service is None:
        raise InvalidDocument(diagnostics.sorted())
    nodes = {name: _as_existing(node) for name, node in service.nodes.items()}
    return msgspec.structs.replace(service, nodes=nodes)


def _as_existing(node: NodeTemplate) -> NodeTemplate:
    """A host as an existing node, with the provider by which it is reached."""
    reached: dict[str, Value] = {**node.attributes, HOST: {"provider": NAME, "id": node.name}}
    return msgspec.structs.replace(node, attributes=reached, existing=node.name)


def _node(host: PoolHost) -> dict[str, object]:
    address = "127.0.0.1" if host.is_local else host.address
    attributes: dict[str, object] = {name: host.attributes.get(name, address) for name in ADDRESSES}
    attributes |= {name: host.attributes[name] for name in ("networks", "ports") if name in host.attributes}
    node: dict[str, object] = {
        "type": COMPUTE,
        "attributes": attributes,
        "capabilities": {
            "host": {"properties": dict(host.host)},
            "os": {"properties": dict(host.os)},
        },
    }
    if host.labels:
        text = ", ".join(f"{name}={value}" for name, value in host.labels.items())
        node["metadata"] = {"ordito.labels": text}
    return node


class _OneFile:
    """A tree of one file in memory."""

    is_archive = False

    def __init__(self, content: bytes, root: str) -> None:
        self.root = root
        self._content = content

    def is_file(self, file: str) -> bool:
        """Whether the path is that of the file."""
        return file == FILE

    def is_folder(self, file: str) -> bool:
        """False: there are no folders."""
        return False

    def exists(self, file: str) -> bool:
        """Whether the path is that of the file."""
        return file == FILE

    def entries(self, folder: str) -> tuple[Sequence[str], Sequence[str]]:
        """The file."""
        return (), (FILE,)

    def open(self, file: str) -> BinaryIO:
        """Open the file. Raises ``OSError`` for another path."""
        if file != FILE:
            raise FileNotFoundError(file)
        return io.BytesIO(self._content)

    def is_executable(self, file: str) -> bool:
        """False."""
        return False


# What an inventory and a service say for each other, and nothing heeds.

OF_OTHERS = "that is fine if another service uses this inventory"

WITHOUT_LABELS = frozenset({"", LOCALHOST, CONTAINER, CLOUD})
"""The providers that choose no hosts by labels ("" means no provider); a plug-in may do so."""


def warn_of_unheeded(
    inventory: HostInventory, providers: Providers, read: ReadService, diagnostics: Diagnostics
) -> None:
    """Warn about names in the inventory that the service does not have, and about requests for a pool if no pool is
    used."""
    _warn_of_chosen(inventory, read, diagnostics)
    for node in read.service.nodes.values():
        if node.is_compute and node.is_concrete and (node.settings.labels or node.settings.resources):
            _warn_of_labels(node, inventory, providers, diagnostics)


def _warn_of_chosen(inventory: HostInventory, read: ReadService, diagnostics: Diagnostics) -> None:
    known = _names(read.service)
    odd = [name for name in inventory.chosen if name not in known]
    if odd:
        # Types are read once more only where that may explain a name.
        _, bundled = opened_types("", Diagnostics())
        types = read_types(read.package, Diagnostics())
        known |= {*bundled.nodes, *(types.nodes if types is not None else ())}
    for name in odd:
        if name in known:
            continue
        diagnostics.warning(
            "unused-provider",
            f'"{PROVIDE}" names a provider for "{name}", but the service has no node template and no type of that name',
            inventory.chosen_at.get(name),
            hint=diagnostics.suggestion(name, known, note=OF_OTHERS),
        )


def _names(service: Service) -> set[str]:
    """The node templates of a service, and their types."""
    names = {*service.nodes, *service.substituted}
    return names.union(*(node.kinds for node in service.nodes.values()))


def _warn_of_labels(
    node: NodeTemplate, inventory: HostInventory, providers: Providers, diagnostics: Diagnostics
) -> None:
    maker = providers.of(node.name, node.kinds)
    if (maker.name if maker is not None else "") not in WITHOUT_LABELS:
        return
    wanted = [f"label {name}={value}" for name, value in node.settings.labels.items()]
    wanted += [f"{amount:g} of {name}" for name, amount in node.settings.resources.items()]
    if any(name in inventory.chosen for name in (node.name, *node.kinds)):
        mend = f'take it out of "{PROVIDE}" in {inventory.file.shown}'
    elif inventory.file.path is not None:
        mend = f'name hosts below "hosts:" in {inventory.file.shown}, as docs/hosts.md shows'
    else:
        mend = "name hosts in an inventory, as docs/hosts.md shows"
    diagnostics.warning(
        "unused-labels",
        f"{node.name} asks for a host of a pool ({', '.join(wanted)}), but no pool is used: this has no effect",
        node.span,
        hint=f"{mend}; or remove the request from its metadata",
    )
