"""The surroundings of a process that works for others: what documents, requests and inventories may reach.

A command reads what its user may read. A process of a server is given its surroundings once, at its start, by
``enter``, and cannot leave them: of the environment only variables that the settings list, of the disk only the places
that are named (the directory of an ensemble, a package), of the network only hosts that the settings list. It is a
property of the process, not of a request, since everything that reads for a document must obey it. A query process and
a runner each call it before anything else; the server's own process reads no document.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from ordito.source.reach import confine


class Surroundings(msgspec.Struct, frozen=True):
    """What may be reached."""

    places: tuple[str, ...]
    """Files, and folders with all that is in them, as absolute paths."""

    services: tuple[str, ...] = ()
    """The same, for the files of services alone: where a package lies, and the service of an ensemble that was added
    where it lies. No value and no inventory is read from there."""

    variables: tuple[str, ...] = ()
    """The names of environment variables that documents may read."""

    hosts: tuple[str, ...] = ()
    """The hosts from which files may be fetched, as the setting ``egress`` of a server lists them."""


def around(base: Surroundings, reads: tuple[str, ...]) -> Surroundings:
    """The surroundings of a process that works for an ensemble: ``reads`` are its directory, and where its service
    lies."""
    places, services = (*reads[:1], *base.places), (*reads[1:], *base.services)
    return msgspec.structs.replace(base, places=places, services=services)


class _Process:
    def __init__(self) -> None:
        self.variables: frozenset[str] | None = None


_PROCESS = _Process()


def enter(surroundings: Surroundings) -> None:
    """Confine this process to its surroundings, for the rest of its life. Raises ``RuntimeError`` the second time."""
    confine(surroundings.places, surroundings.services, surroundings.hosts)
    _PROCESS.variables = frozenset(surroundings.variables)


def seen_variables() -> Mapping[str, str]:
    """The environment variables that documents may read: all of them, unless the process was confined."""
    listed = _PROCESS.variables
    return os.environ if listed is None else {n: v for n, v in os.environ.items() if n in listed}
