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
    return "is no name of a host: at most 63 letters, digits, dots, - and _ make one, a letter or digit the first"


def _no_label(name: str) -> str:
    return "" if NAME.fullmatch(name) else "is no name of a label: letters, digits, dots, - and _ make one"


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
"""What is said of a host besides how it is reached: it stands in the file itself, since plans are made by it."""


class PoolHost(msgspec.Struct, frozen=True):
    """A host: its ``name``, the ``settings`` by which it is reached, as they are written (the defaults among them), and
    what is known of it. ``is_local`` says that it is this machine. ``host`` and ``os`` are properties of the
    capabilities of that name; ``instances`` is how many instances of Compute may share it; ``address`` is "" where it
    stands elsewhere. ``attributes`` are those of §5.9.2.2 that the inventory says."""

    name: str
    settings: Mapping[str, Node] = {}
    address: str = ""
    is_local: bool = False
    labels: Mapping[str, str] = {}
    host: Mapping[str, object] = {}
    os: Mapping[str, str] = {}
    resources: Mapping[str, float] = {}
    instances: int = 1
    attributes: Mapping[str, object] = {}


def read_hosts(section: InventorySection) -> dict[str, PoolHost]:
    """The hosts of an inventory, by name, in the order of the file; what is wrong with them is reported."""
    checked = section.check(section.node, HOSTS, '"hosts"')
    values = checked if isinstance(checked, Mapping) else {}
    found: dict[str, PoolHost] = {}
    spelled: dict[str, str] = {}
    keys = section.node.keys if isinstance(section.node, MappingNode) else ()
    for key in keys:
        name = key.text
        also = spelled.setdefault(name.casefold(), name)
        if also != name:
            said = f'"{name}" and "{also}" differ by their case only'
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
    """Report what stands elsewhere and must not: plans are made by it, and are the same wherever they are made."""
    waiting = [node] if node is not None and not is_null(node) else []
    while waiting:
        current = waiting.pop()
        if section.later(current):
            section.diagnostics.error(
                "bad-value",
                f'"{key}" of a host stands in the inventory itself: by it hosts are chosen when a plan is made',
                current.span,
                hint="write the value here; only what a connection needs may stand elsewhere",
            )
        elif isinstance(current, MappingNode):
            waiting.extend(current.values.values())
