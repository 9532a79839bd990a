"""The hosts of a pool, as the inventory describes them.

hosts:
  web-1:
    address: 192.0.2.11
    user: deploy
    identity: keys/deploy
    labels: { zone: a, tier: web }
    capabilities:
      host: { num_cpus: 4, mem_size: 8 GB }
      os: { type: linux, distribution: debian }
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from ordito.providers.connection import CONNECTION, settings_among
from ordito.providers.shapes import (
    FREQUENCY_VALUE,
    NUMBER,
    SIZE_VALUE,
    TEXT,
    InventorySection,
    KnownEntries,
    ListOf,
    MapOf,
    OneOf,
    whole,
)
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, is_null

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)
MOST_INSTANCES = 10_000

HOST_CAPABILITY = KnownEntries(
    num_cpus=whole(1, 1_000_000),
    cpu_frequency=FREQUENCY_VALUE,
    mem_size=SIZE_VALUE,
    disk_size=SIZE_VALUE,
    name=TEXT,
)
OS_CAPABILITY = KnownEntries(architecture=TEXT, type=TEXT, distribution=TEXT, version=TEXT)
NETWORK = KnownEntries(network_name=TEXT, network_id=TEXT, addresses=ListOf(TEXT))
PORT = KnownEntries(port_id=TEXT, port_name=TEXT, network_id=TEXT, mac_address=TEXT, addresses=ListOf(TEXT))


def _unfit(name: str) -> str:
    if NAME.fullmatch(name):
        return ""
    return "is not a valid name of a host: at most 63 letters, digits, dots, - and _, the first a letter or digit"


def _no_label(name: str) -> str:
    return "" if NAME.fullmatch(name) else "is not a valid name of a label: use letters, digits, dots, - and _"


HOST = KnownEntries(
    **CONNECTION,
    connection=OneOf("ssh", "local"),
    labels=MapOf(TEXT, _no_label),
    capabilities=KnownEntries(host=HOST_CAPABILITY, os=OS_CAPABILITY),
    resources=MapOf(NUMBER, _no_label),
    instances=whole(1, MOST_INSTANCES),
    private_address=TEXT,
    public_address=TEXT,
    networks=MapOf(NETWORK),
    ports=MapOf(PORT),
)
HOSTS = MapOf(HOST, _unfit)
STATIC = tuple(name for name in HOST.kinds if name not in CONNECTION)
"""The settings of a host that are not about its connection: they must be in the inventory itself, because plans depend
on them."""


class PoolHost(msgspec.Struct, frozen=True):
    """A host of the pool."""

    name: str
    settings: Mapping[str, Node] = {}
    """How it is reached, as written, with the defaults."""

    address: str = ""
    """"" if the inventory refers to another place for it."""

    is_local: bool = False
    """Whether it is this machine."""

    labels: Mapping[str, str] = {}
    host: Mapping[str, object] = {}
    """Properties of the capability ``host``."""

    os: Mapping[str, str] = {}
    """Properties of the capability ``os``."""

    resources: Mapping[str, float] = {}
    instances: int = 1
    """How many instances of Compute may share it."""

    attributes: Mapping[str, object] = {}
    """Attributes of §5.9.2.2 in the inventory."""


def read_hosts(section: InventorySection) -> dict[str, PoolHost]:
    """The hosts of an inventory, by name, in the order of the file; errors in them are reported."""
    checked = section.check(section.node, HOSTS, '"hosts"')
    values = checked if isinstance(checked, Mapping) else {}
    found: dict[str, PoolHost] = {}
    spelled: dict[str, str] = {}
    keys = section.node.keys if isinstance(section.node, MappingNode) else ()
    for key in keys:
        name = key.text
        also = spelled.setdefault(name.casefold(), name)
        if also != name:
            said = f'"{name}" and "{also}" differ only in case'
            section.diagnostics.error("bad-value", said, key.span, hint="give one of them another name")
        found[name] = _host(name, section, section.entries[name], values.get(name))
    return found


def _host(name: str, section: InventorySection, node: Node, checked: object) -> PoolHost:
    known = checked if isinstance(checked, Mapping) else {}
    entries = node.values if isinstance(node, MappingNode) else {}
    for key in STATIC:
        _refuse_later(section, entries.get(key), key)
    settings = settings_among([entries, section.defaults])
    is_local = known.get("connection") == "local"
    if "address" not in settings and not is_local and not (isinstance(node, MappingNode) and section.later(node)):
        # Many call a host by the name under which it is found.
        address = name
    else:
        address = str(known.get("address") or "")
    capabilities = known.get("capabilities") or {}
    own = {key: known[key] for key in ("private_address", "public_address", "networks", "ports") if key in known}
    return PoolHost(
        name=name,
        settings=settings,
        address=address,
        is_local=is_local,
        labels=known.get("labels") or {},
        host=capabilities.get("host") or {},
        os=capabilities.get("os") or {},
        resources=known.get("resources") or {},
        instances=known.get("instances") or 1,
        attributes=own,
    )


def _refuse_later(section: InventorySection, node: Node | None, key: str) -> None:
    """Report a value that refers to another place although plans depend on it, which must be the same everywhere."""
    waiting = [node] if node is not None and not is_null(node) else []
    while waiting:
        current = waiting.pop()
        if section.later(current):
            section.diagnostics.error(
                "bad-value",
                f'"{key}" of a host must be in the inventory itself: it decides which host a plan chooses',
                current.span,
                hint="write the value here; only settings of connections may refer to another place",
            )
        elif isinstance(current, MappingNode):
            waiting.extend(current.values.values())
