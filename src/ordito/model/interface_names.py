"""What the name of an interface means where something refers to it (§4.6.1, R-4.6.1-8)."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.model.operation import Interface

PREFIX = "tosca.interfaces."


def interface_named(interfaces: Mapping[str, Interface], name: str) -> Interface | None:
    """The interface that a name means: its symbolic name, else the full or short name of its type, in any case."""
    if name in interfaces:
        return interfaces[name]
    wanted = name.casefold()
    for interface in interfaces.values():
        forms = {interface.name.casefold()}
        for kind in interface.kinds:
            full = kind.casefold()
            forms |= {full, full.rpartition(".")[2], full.removeprefix(PREFIX)}
        if wanted in forms or (":" in wanted and wanted.rpartition(":")[2] in forms):
            return interface
    return None
