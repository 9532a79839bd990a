"""What a Compute asks of the host on which it is to be."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.scalar_units import NotAScalarUnit, amount, canonical
from ordito.model.settings import PACK, Setting, settings_of
from ordito.providers.shapes import FREQUENCY, SIZE

OWN = ("ordito.labels", "ordito.resources", "ordito.placement")
"""The settings of a node that are about its host."""

UNITS: Mapping[str, str] = {"mem_size": SIZE, "disk_size": SIZE, "cpu_frequency": FREQUENCY}
CONSUMED = ("num_cpus", "mem_size", "disk_size")
"""What instances that share a host take away from each other."""
NORMALISED = ("architecture", "type", "distribution")
"""Compared without case (§5.5.12); a version is its literal text."""


class Asking(msgspec.Struct, frozen=True):
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


def asking_of(properties: Mapping[str, object], metadata: Mapping[str, str]) -> Asking:
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
    return Asking(least, system, wanted.labels, wanted.resources, wanted.placement == PACK)


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
