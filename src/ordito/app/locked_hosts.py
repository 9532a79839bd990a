"""Hosts of the inventory that let nobody in, and where it stands by what they are tried."""

from __future__ import annotations

from collections.abc import Iterable

from ordito.app.inventory_file.read import Inventory
from ordito.instances.records import Snapshot
from ordito.providers.registry import POOL
from ordito.source.nodes import Mapping as MappingNode
from ordito.work.events import StepFailed
from ordito.work.plan import Plan
from ordito.work.targets import HOST

CREDENTIALS = ("identity", "password")


def locked_hosts(
    failures: Iterable[StepFailed], plan: Plan, snapshot: Snapshot, inventory: Inventory
) -> dict[str, str]:
    """The hosts of the pool that were tried and let nobody in, each with the place in the inventory of what says by
    which key or password: one that is away is not among them, save where an instance keeps it since there is no
    other."""
    refused = {failed.step: failed.instance for failed in failures if failed.outcome.refused}
    if not refused:
        return {}
    places = {step.id: step.runs_on for step in plan.steps if step.id in refused}
    found: dict[str, str] = {}
    for step, instance in refused.items():
        host = snapshot.attributes.get(places.get(step) or instance, {}).get(HOST)
        if isinstance(host, dict) and host.get("provider") == POOL:
            name = str(host.get("id", ""))
            found.setdefault(name, place_of_credentials(inventory, name))
    return found


def place_of_credentials(inventory: Inventory, host: str) -> str:
    """Where the key or the password of a host stands, as ``FILE:LINE``: with the host, else in the defaults; where
    neither names one, where the host stands."""
    section = inventory.sections.get(POOL)
    own = section.entries.get(host) if section is not None else None
    if section is None or own is None:
        return inventory.file.shown
    for entries in (own.values if isinstance(own, MappingNode) else {}, section.defaults):
        for name in CREDENTIALS:
            if name in entries and (span := entries[name].span) is not None:
                return f"{span.source.name}:{span.line}"
    return f"{own.span.source.name}:{own.span.line}"
