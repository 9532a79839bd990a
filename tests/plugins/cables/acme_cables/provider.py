"""Machines that are this one under addresses of their own, and disks; whatever is asked is written down."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ordito.providers.shapes import FLAG, TEXT, InventorySection, KnownEntries
from ordito.work.providing import Delegation, Provided, ProviderFinding
from ordito.work.targets import Hands, HostTarget

COMPUTE, DISK = "tosca.nodes.Compute", "tosca.nodes.Storage.BlockStorage"
SETTINGS = KnownEntries(book=TEXT, names=FLAG)


class Cables:
    """Writes a line into its book for whatever it is asked."""

    name = "cables"
    protocol = ""

    def __init__(self, book: Path, *, names: bool) -> None:
        self._book = book
        self._names = names

    def provides(self, kinds: Sequence[str]) -> bool:
        """Machines and disks."""
        return COMPUTE in kinds or DISK in kinds

    def registers(self, name: str) -> bool:
        """Names of its own domain, where it is told to."""
        return self._names and name.endswith(".example.com")

    async def create(self, asked: Delegation) -> Provided:
        """A machine has addresses of its own on two networks; a disk is the next one."""
        self._write("create", asked)
        if DISK in asked.kinds:
            return Provided({"volume_id": f"disk-of-{asked.instance}"})
        number = 1 + sum("create" in line and "Compute" in line for line in self._book.read_text().splitlines())
        private, public = f"10.0.0.{number}", f"198.51.100.{number}"
        networks = {"back": {"network_name": "backplane", "network_id": "net-7", "addresses": [f"10.7.0.{number}"]}}
        attributes = {"private_address": private, "public_address": public, "networks": networks}
        disks = asked.requirements.get("local_storage", ())
        return Provided(attributes, links={far.instance: {"device": f"/dev/{far.instance}"} for far in disks})

    async def delete(self, asked: Delegation) -> bool:
        """It is gone."""
        self._write("delete", asked)
        return True

    async def look(self, asked: Delegation) -> ProviderFinding:
        """All is well."""
        return ProviderFinding("ok")

    def target(self, instance: str, attributes: Mapping[str, object]) -> HostTarget | None:
        """This machine."""
        return None

    def _write(self, verb: str, asked: Delegation) -> None:
        line = {
            "verb": verb,
            "instance": asked.instance,
            "kinds": asked.kinds,
            "connections": msgspec.to_builtins(asked.connections),
            "endpoints": msgspec.to_builtins(asked.endpoints),
        }
        with self._book.open("a") as book:
            book.write(json.dumps(line) + "\n")


def make(section: InventorySection, hands: Hands) -> Cables:
    """The provider of a section."""
    settings = section.check(section.node, SETTINGS, "the cables")
    assert isinstance(settings, Mapping)
    return Cables(Path(section.path(str(settings["book"]))), names=bool(settings.get("names")))
