"""Where the inventory lies that a command works with."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.app.place import Place, relative_to
from ordito.app.spec.environments import Environment
from ordito.app.spec.reading import evaluation_of
from ordito.base.diagnostics import Diagnostics
from ordito.source.nodes import Node, Scalar, is_null

HOSTS_FILE = "hosts.yaml"
"""The inventory that is meant where nothing names one: the one in the ensemble's directory."""


class InventoryFile(msgspec.Struct, frozen=True):
    """An inventory's absolute ``path``, None where there is none; how people know it; and its path as seen from the
    ensemble (``seen``). ``given`` is whether a command has named it, so that it is to be remembered."""

    path: Path | None = None
    shown: str = ""
    seen: str = ""
    given: bool = False


NO_FILE = InventoryFile()


def find_inventory(
    place: Place, environment: Environment, wanted: str | None, remembered: str, diagnostics: Diagnostics
) -> InventoryFile:
    """The inventory that a command names (``wanted``; None where it names none, "" for what the environment says), else
    the one that an earlier command named, else that of the environment, else the one beside the ensemble.

    Raises ``Refused`` for one that is not there.
    """
    if wanted:
        path = Path(os.path.abspath(wanted))  # noqa: PTH100  (links stay as they are)
        if not path.is_file():
            raise Refused("no-inventory", f"there is no inventory {wanted}", "give --hosts the path of a file of hosts")
        return InventoryFile(path, wanted, relative_to(place.layout, wanted), given=True)
    if wanted is None and remembered:
        found = inventory_at(place, remembered, given=True)
        if found.path is None:
            raise Refused(
                "no-inventory",
                f"the inventory {found.shown} is not there any more, which an earlier command has named",
                'put it back, name another with --hosts FILE, or what the environment says with --hosts ""',
            )
        return found
    if environment.section.hosts is not None:
        return _of_environment(place, environment, environment.section.hosts, diagnostics)
    found = inventory_at(place, HOSTS_FILE)
    return found if found.path is not None else NO_FILE


def inventory_at(place: Place, seen: str, *, given: bool = False) -> InventoryFile:
    """The inventory at a path as seen from the ensemble; without ``path`` where there is no such file."""
    path = Path(os.path.normpath(place.layout.root / Path(seen).expanduser()))
    shown = str(path) if Path(seen).is_absolute() or seen.startswith("~") else place.path(seen)
    return InventoryFile(path if path.is_file() else None, shown, seen, given)


def _of_environment(place: Place, environment: Environment, node: Node, diagnostics: Diagnostics) -> InventoryFile:
    value = evaluation_of(place, diagnostics, environment).others({"": node}).values.get("")
    if value is None or is_null(value):
        return NO_FILE
    if not isinstance(value, Scalar):
        diagnostics.error("bad-value", f'"hosts" is the path of an inventory, not {value.kind}', node.span)
        return NO_FILE
    found = inventory_at(place, value.text)
    if found.path is None:
        diagnostics.error(
            "missing-file",
            f"there is no inventory {found.shown}",
            node.span,
            hint="write it, or name another; the path is seen from the ensemble's directory",
        )
        return NO_FILE
    return found


def inventory_again(place: Place, seen: str) -> InventoryFile:
    """The inventory with which a job has begun, "" for none. Raises ``Refused`` where it is not there any more."""
    found = inventory_at(place, seen) if seen else NO_FILE
    if seen and found.path is None:
        raise Refused("no-inventory", f"the inventory {found.shown} is not there any more", "put it back")
    return found
