"""Which hosts are fit for what is asked, by what they have and what is taken of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ordito.base.scalar_units import NotAScalarUnit, amount, canonical
from ordito.model.settings import PACK, Setting, settings_of
from ordito.providers.pool.hosts import PoolHost
from ordito.providers.shapes import FREQUENCY, SIZE


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


def takes(asking: HostRequest) -> tuple[dict[str, float], dict[str, float]]:
    """What an instance takes of its host: amounts of the capability, and resources."""
    return {n: v for n, v in asking.least.items() if n in CONSUMED}, dict(asking.resources)


def unfit(host: PoolHost, asking: HostRequest, taken: Sequence[Taken]) -> list[str]:
    """Why a host is not fit for what is asked, in words; nothing where it is. ``taken`` is what is taken of it."""
    found = list(lacks(host, asking))
    if len(taken) >= host.instances:
        who = ", ".join(t.owner for t in taken[:2])
        found.append(f"is taken by {who}" if host.instances == 1 else f"has its {host.instances} instances ({who} ...)")
    elif not found:
        found += _used_up(host, asking, taken)
    return found


def lacks(host: PoolHost, asking: HostRequest) -> Iterable[str]:
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


def _used_up(host: PoolHost, asking: HostRequest, taken: Sequence[Taken]) -> Iterable[str]:
    """What is not left of a host that is shared."""
    amounts, resources = takes(asking)
    free = left_of(host, taken)
    for name, wanted in (amounts | resources).items():
        if name in free and free[name] < wanted:
            yield f"has {name} {shown(name, max(free[name], 0.0))} left"


def left_of(host: PoolHost, taken: Sequence[Taken]) -> dict[str, float]:
    """What is left of what a host has, by name."""
    has = {name: v for name in CONSUMED if (v := measure(name, host.host.get(name))) is not None}
    free = {**has, **host.resources}
    for one in taken:
        for name, value in (*one.amounts.items(), *one.resources.items()):
            if name in free:
                free[name] -= value
    return free


# What a Compute asks of the host on which it is to be.

OWN = ("ordito.labels", "ordito.resources", "ordito.placement")
"""The settings of a node that are about its host."""

UNITS: Mapping[str, str] = {"mem_size": SIZE, "disk_size": SIZE, "cpu_frequency": FREQUENCY}
CONSUMED = ("num_cpus", "mem_size", "disk_size")
"""What instances that share a host take away from each other."""
NORMALISED = ("architecture", "type", "distribution")
"""Compared without case (§5.5.12); a version is its literal text."""


class HostRequest(msgspec.Struct, frozen=True):
    """What is asked for: at least so much of the properties of the capability ``host`` (amounts in their base units),
    the very ``os``, all ``labels``, so much of each of the ``resources``; and whether instances are to be on as few
    hosts as possible (``packs``)."""

    least: Mapping[str, float] = {}
    os: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}
    resources: Mapping[str, float] = {}
    packs: bool = False

    def describe(self) -> str:
        """What is asked for, in words."""
        parts = [f"{name} >= {shown(name, value)}" for name, value in self.least.items()]
        parts += [f"{name} {value}" for name, value in self.os.items()]
        parts += [f"label {name}={value}" for name, value in self.labels.items()]
        parts += [f"{value:g} of {name}" for name, value in self.resources.items()]
        return ", ".join(parts) or "any host"


def asking_of(properties: Mapping[str, object], metadata: Mapping[str, str]) -> HostRequest:
    """What an instance asks for; its properties hold those of capabilities as ``capability::name``."""
    least: dict[str, float] = {}
    system: dict[str, str] = {}
    for key, value in properties.items():
        capability, colons, name = key.partition("::")
        if not colons or value is None or value == "":
            continue
        if capability == "host" and (measured := measure(name, value)) is not None:
            least[name] = measured
        elif capability == "os":
            system[name] = normal(name, value)
    wanted = settings_of({name: Setting(text) for name, text in metadata.items() if name in OWN})
    return HostRequest(least, system, wanted.labels, wanted.resources, wanted.placement == PACK)


def measure(name: str, value: object) -> float | None:
    """A property of a host's capability as an amount; None for one that is none."""
    if name == "num_cpus":
        return float(value) if isinstance(value, int | float) else None
    if name not in UNITS:
        return None
    try:
        return float(amount(canonical(str(value), UNITS[name]), UNITS[name]))
    except NotAScalarUnit:
        return None


def normal(name: str, value: object) -> str:
    """A property of an operating system as it is compared."""
    text = str(value)
    return text.lower() if name in NORMALISED else text


def shown(name: str, value: float) -> str:
    """An amount for people."""
    units = {"mem_size": "B", "disk_size": "B", "cpu_frequency": "Hz"}
    unit = units.get(name)
    if unit is None:
        return f"{value:g}"
    for prefix, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= factor:
            return f"{value / factor:.4g} {prefix}{unit}"
    return f"{value:g} {unit}"
