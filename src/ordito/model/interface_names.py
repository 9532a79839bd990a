"""What the name of an interface means where a function refers to it (§4.6.1, R-4.6.1-8)."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.model.operation import Interface

NORMATIVE = "tosca.interfaces."


def interface_named(interfaces: Mapping[str, Interface], name: str) -> Interface | None:
    """The interface that a name means: its symbolic name, else the full name of its type, or the short name of a
    normative one. What a file calls a type otherwise has become the full name when the call was checked."""
    if name in interfaces:
        return interfaces[name]
    return next((i for i in interfaces.values() if any(name in {kind, _short(kind)} for kind in i.kinds)), None)


def _short(kind: str) -> str:
    return kind.rpartition(".")[2] if kind.startswith(NORMATIVE) else kind
