"""Which hosts are suitable for a request, by what they have and what is already used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ordito.base.scalar_units import NotAScalarUnit, amount, canonical
from ordito.model.settings import PACK, Setting, settings_of
from ordito.providers.pool.hosts import PoolHost
from ordito.providers.shapes import FREQUENCY, SIZE


class Taken(msgspec.Struct, frozen=True):
    """An allocation: an instance has a host."""

    ensemble: str
    """The id of the deployment."""

    instance: str
    node: str
    host: str
    amounts: Mapping[str, float] = {}
    """What the instance uses of the capability ``host``."""

    resources: Mapping[str, float] = {}
    """What it uses of other resources."""

    place: str = ""
    """The directory of the ensemble."""

    @property
    def owner(self) -> str:
        """The instance, with the directory of its ensemble."""
        return owner_of(self.instance, self.place)


def owner_of(instance: str, place: str) -> str:
    """An instance with the directory of its ensemble, for people."""
    return f"{instance} of {place}"


def owners_text(owners: Sequence[str]) -> str:
    """Several texts of ``owner_of`` as one, which names each directory once."""
    of_place: dict[str, list[str]] = {}
    for owner in owners:
        instance, _, place = owner.partition(" of ")
        of_place.setdefault(place, []).append(instance)
    return "; ".join(owner_of(", ".join(instances), place) for place, instances in of_place.items())


def takes(asking: HostRequest) -> tuple[dict[str, float], dict[str, float]]:
    """What an instance uses of its host: amounts of the capability, and resources."""
    return {n: v for n, v in asking.least.items() if n in CONSUMED}, dict(asking.resources)


def unfit(host: PoolHost, asking: HostRequest, taken: Sequence[Taken]) -> list[str]:
    """Why a host is not suitable for a request, for people; empty if it is. ``taken`` are its allocations."""
    found = list(lacks(host, asking))
    if len(taken) >= host.instances:
        who = ", ".join(t.owner for t in taken[:2])
        found.append(f"is taken by {who}" if host.instances == 1 else f"has its {host.instances} instances ({who} ...)")
    elif not found:
        found += _used_up(host, asking, taken)
    return found


def lacks(host: PoolHost, asking: HostRequest) -> Iterable[str]:
    """What a host lacks even when it is free."""
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
    """What is used up of a shared host."""
    amounts, resources = takes(asking)
    free = left_of(host, taken)
    for name, wanted in (amounts | resources).items():
        if name in free and free[name] < wanted:
            yield f"has {name} {shown(name, max(free[name], 0.0))} left"


def left_of(host: PoolHost, taken: Sequence[Taken]) -> dict[str, float]:
    """What is still free of a host, by name."""
    has = {name: v for name in CONSUMED if (v := measure(name, host.host.get(name))) is not None}
    free = {**has, **host.resources}
    for one in taken:
        for name, value in (*one.amounts.items(), *one.resources.items()):
            if name in free:
                free[name] -= value
    return free


# What a Compute asks of the host on which it is to be.

OWN = ("ordito.labels", "ordito.resources", "ordito.placement")
"""The metadata keys of a node that are about its host."""

UNITS: Mapping[str, str] = {"mem_size": SIZE, "disk_size": SIZE, "cpu_frequency": FREQUENCY}
CONSUMED = ("num_cpus", "mem_size", "disk_size")
"""The properties that instances on one host share between them."""
NORMALISED = ("architecture", "type", "distribution")
"""The properties of ``os`` that are compared without case (§5.5.12); versions are compared as text."""


class HostRequest(msgspec.Struct, frozen=True):
    """What an instance asks of its host."""

    least: Mapping[str, float] = {}
    """The least amounts of properties of the capability ``host``, in their base units."""

    os: Mapping[str, str] = {}
    """The properties that the operating system must have."""

    labels: Mapping[str, str] = {}
    """The labels that the host must have."""

    resources: Mapping[str, float] = {}
    """The amounts of other resources."""

    packs: bool = False
    """Whether instances are put on as few hosts as possible."""

    def describe(self) -> str:
        """The request, for people."""
        parts = [f"{name} >= {shown(name, value)}" for name, value in self.least.items()]
        parts += [f"{name} {value}" for name, value in self.os.items()]
        parts += [f"label {name}={value}" for name, value in self.labels.items()]
        parts += [f"{value:g} of {name}" for name, value in self.resources.items()]
        return ", ".join(parts) or "any host"


def asking_of(properties: Mapping[str, object], metadata: Mapping[str, str]) -> HostRequest:
    """The request of an instance; ``properties`` has those of capabilities as ``capability::name``."""
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
    """A property of the capability ``host`` as an amount; None if it is not one."""
    if name == "num_cpus":
        return float(value) if isinstance(value, int | float) else None
    if name not in UNITS:
        return None
    try:
        return float(amount(canonical(str(value), UNITS[name]), UNITS[name]))
    except NotAScalarUnit:
        return None


def normal(name: str, value: object) -> str:
    """A property of an operating system in the form for comparisons."""
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
