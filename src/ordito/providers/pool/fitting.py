"""Which hosts are fit for what is asked, by what they have and what is taken of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ordito.providers.pool.asking import CONSUMED, Asking, measure, normal, shown
from ordito.providers.pool.hosts import Host


class Taken(msgspec.Struct, frozen=True):
    """A host that an instance has: who has it (``ensemble`` is the id of the deployment, ``place`` the directory
    in which it is), and what the instance takes of what it has."""

    ensemble: str
    instance: str
    node: str
    host: str
    amounts: Mapping[str, float] = {}
    resources: Mapping[str, float] = {}
    place: str = ""

    @property
    def owner(self) -> str:
        """The instance, with the directory of its ensemble."""
        return owner_of(self.instance, self.place)


def owner_of(instance: str, place: str) -> str:
    """An instance with the directory of its ensemble, for people."""
    return f"{instance} of {place}"


def owners_text(owners: Sequence[str]) -> str:
    """Several such texts as one, in which each directory stands once."""
    of_place: dict[str, list[str]] = {}
    for owner in owners:
        instance, _, place = owner.partition(" of ")
        of_place.setdefault(place, []).append(instance)
    return "; ".join(owner_of(", ".join(instances), place) for place, instances in of_place.items())


def takes(asking: Asking) -> tuple[dict[str, float], dict[str, float]]:
    """What an instance takes of its host: amounts of the capability, and resources."""
    return {n: v for n, v in asking.least.items() if n in CONSUMED}, dict(asking.resources)


def unfit(host: Host, asking: Asking, taken: Sequence[Taken]) -> list[str]:
    """Why a host is not fit for what is asked, in words; nothing where it is. ``taken`` is what is taken of it."""
    found = list(lacks(host, asking))
    if len(taken) >= host.instances:
        who = ", ".join(t.owner for t in taken[:2])
        found.append(f"is taken by {who}" if host.instances == 1 else f"has its {host.instances} instances ({who} ...)")
    elif not found:
        found += _used_up(host, asking, taken)
    return found


def lacks(host: Host, asking: Asking) -> Iterable[str]:
    """What a host does not have, whatever is taken of it."""
    for name, least in asking.least.items():
        has = measure(name, host.host.get(name))
        if has is None or has < least:
            yield f"does not say its {name}" if has is None else f"has {name} {shown(name, has)}"
    for name, wanted in asking.os.items():
        own = host.os.get(name)
        if own is None or normal(name, own) != wanted:
            yield f"does not say its {name}" if own is None else f"has {name} {own}"
    for name, wanted in asking.labels.items():
        own = host.labels.get(name)
        if own != wanted:
            yield f"has no label {name}" if own is None else f"has the label {name}={own}"
    yield from (
        f"has {host.resources.get(name, 0):g} of {name}"
        for name, amount in asking.resources.items()
        if host.resources.get(name, 0) < amount
    )


def _used_up(host: Host, asking: Asking, taken: Sequence[Taken]) -> Iterable[str]:
    """What is not left of a host that is shared."""
    amounts, resources = takes(asking)
    free = left_of(host, taken)
    for name, wanted in (amounts | resources).items():
        if name in free and free[name] < wanted:
            yield f"has {name} {shown(name, max(free[name], 0.0))} left"


def left_of(host: Host, taken: Sequence[Taken]) -> dict[str, float]:
    """What is left of what a host has, by name."""
    has = {name: v for name in CONSUMED if (v := measure(name, host.host.get(name))) is not None}
    free = {**has, **host.resources}
    for one in taken:
        for name, value in (*one.amounts.items(), *one.resources.items()):
            if name in free:
                free[name] -= value
    return free
