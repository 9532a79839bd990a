"""The outline of a service: of each node only what the status of its instances depends on, and what a picture shows. It
is small enough to be kept with an ensemble, so that both can be shown without the service."""

from __future__ import annotations

import msgspec


class NodeOutline(msgspec.Struct, frozen=True, omit_defaults=True):
    """A node, with all that the status of its instances depends on."""

    name: str
    type: str
    host: str = ""
    """The node that hosts it, "" for none."""
    targets: tuple[str, ...] = ()
    """The other nodes that it requires, each once."""
    requirements: tuple[str, ...] = ()
    """The name of the first requirement for each of those."""
    relationships: tuple[str, ...] = ()
    """The types of the relationships that fulfil these."""
    optional: bool = False
    """Whether nodes that require it can do without it."""
    lost: bool = False
    """Whether the template no longer has it."""


class Outline(msgspec.Struct, frozen=True):
    """The name of the service, and its nodes by name, each after all that it requires."""

    service: str
    nodes: dict[str, NodeOutline]
