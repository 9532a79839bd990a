"""Choosing the size and the image of a machine: the smallest sufficient size, and an image with the wanted operating
system."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ordito.base.scalar_units import amount
from ordito.base.sensitive import revealed
from ordito.providers.cloud.dialect import CloudDialect, Unsupported, named
from ordito.providers.cloud.settings import CloudSettings, MachineImage
from ordito.work.providing import Delegation, Material

MEGABYTE = 2**20
OF_OS = ("type", "distribution", "version", "architecture")
IMAGES = frozenset({"tosca.artifacts.Deployment.Image.VM"})


def size_of(driver: Any, dialect: CloudDialect, settings: CloudSettings, asked: Delegation) -> Any:
    """The smallest size that has what the capability ``host`` asks for; if it asks for nothing, the size of the
    settings. Raises ``Unsupported``."""
    host = _capability(asked, "host")
    cpus, memory = int(str(host.get("num_cpus") or 0)), in_bytes(host.get("mem_size"))
    disk = 0 if dialect.disk_is_apart else in_bytes(host.get("disk_size"))
    every = dialect.sizes(driver, architecture_of(asked))
    if settings.size and not (cpus or memory or disk):
        return named(driver.list_sizes(), settings.size, "size", "size")
    allowed = [s for s in every if not settings.sizes or {str(s.id), str(s.name)} & set(settings.sizes)]
    if not allowed and settings.sizes:
        raise Unsupported(f"the cloud has none of the sizes {', '.join(settings.sizes)}: look at `sizes`")
    counted = any(dialect.cpus(size) is not None for size in allowed)
    enough = [
        s
        for s in allowed
        if (s.ram or 0) * MEGABYTE >= memory
        and (s.disk or 0) * GIGABYTE >= disk
        and (not counted or (dialect.cpus(s) or 0) >= cpus)
    ]
    if not enough:
        asks = ", ".join(f"{n} {host[n]}" for n in ("num_cpus", "mem_size", "disk_size") if host.get(n)) or "any"
        among = "those that `sizes` allows" if settings.sizes else "the cloud's sizes"
        raise Unsupported(f"none of {among} ({len(allowed)}) has what {asked.node or asked.instance} asks for: {asks}")
    return min(enough, key=lambda s: (s.ram or 0, dialect.cpus(s) or 0, s.disk or 0, s.price or 0.0, str(s.id)))


def disk_of(asked: Delegation) -> int:
    """The GB that the disk of a machine must have, 0 if nothing asks for a size."""
    return gigabytes(_capability(asked, "host").get("disk_size"))


def image_of(driver: Any, dialect: CloudDialect, settings: CloudSettings, asked: Delegation) -> Any:
    """The image of a machine: an image artifact of the node, else the image of the settings for its operating system.
    Raises ``Unsupported``."""
    artifact = next((a for a in asked.artifacts if IMAGES.intersection(a.kinds)), None)
    if artifact is not None:
        return _of_artifact(driver, dialect, artifact)
    system = {n: str(v).lower() for n, v in _capability(asked, "os").items() if n in OF_OS and v not in (None, "")}
    chosen = next((i.image for i in settings.images if _fits(i, system)), settings.image)
    if not chosen:
        wanted = ", ".join(f"{n} {v}" for n, v in system.items()) or "no operating system in particular"
        raise Unsupported(f"no image is known for {asked.node or asked.instance} ({wanted}): add one to `images`")
    found = dialect.image(driver, chosen)
    if found is None:
        raise Unsupported(f'there is no image "{chosen}": look at `image` and `images`')
    return found


def _of_artifact(driver: Any, dialect: CloudDialect, artifact: Material) -> Any:
    """The image that an artifact names, or that is made from its file; its properties are passed on unchanged."""
    known = next((i for name in _names(artifact) if (i := dialect.image(driver, name)) is not None), None)
    if known is not None:
        return known
    return dialect.make_image(driver, artifact)


def _names(artifact: Material) -> tuple[str, ...]:
    return artifact.file, artifact.file.rpartition("/")[2]


def architecture_of(asked: Delegation) -> str:
    """The architecture that the capability ``os`` asks for, "" for none."""
    return str(_capability(asked, "os").get("architecture") or "").lower()


def _fits(image: MachineImage, system: Mapping[str, str]) -> bool:
    """Whether an image has the operating system that is asked for; properties that one of the two leaves out do not
    matter."""
    said = ((name, str(getattr(image, name)).lower()) for name in OF_OS)
    return all(not value or system.get(name, value) == value for name, value in said)


def _capability(asked: Delegation, name: str) -> dict[str, Any]:
    prefix = f"{name}::"
    return {n.removeprefix(prefix): revealed(v) for n, v in asked.properties.items() if n.startswith(prefix)}


# Sizes as templates have them, and as clouds count them.

SIZE = "scalar-unit.size"
GIGABYTE, DECIMAL_GIGABYTE = 2**30, 10**9


def in_bytes(size: object) -> int:
    """The bytes of a size, 0 for none."""
    return math.ceil(amount(str(size), SIZE)) if size not in (None, "") else 0


def gigabytes(size: object) -> int:
    """A size in GiB, as clouds count, rounded up; whole decimal gigabytes count as the same number of GiB."""
    count = in_bytes(size)
    return count // DECIMAL_GIGABYTE if count % DECIMAL_GIGABYTE == 0 else math.ceil(count / GIGABYTE)
