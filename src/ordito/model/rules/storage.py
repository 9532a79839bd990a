"""Rules for storage (§5.7.5, §5.9.11)."""

from __future__ import annotations

import re

from ordito.base.scalar_units import NotAScalarUnit, amount, canonical
from ordito.model.rules.topology import Topology
from ordito.model.service import NodeTemplate, Relationship

LEAST = "1 MB"
SIZE = "scalar-unit.size"
ROOT = re.compile(r"\s*/[/.]*\s*")


def new_volume_has_a_size(topology: Topology, node: NodeTemplate) -> None:
    """Block storage that is to be made says how large, unless a snapshot says that; of a volume that exists the size
    does not count (R-5.9.11-1)."""
    owner = topology.node(node)
    if owner.has("volume_id"):
        return
    if not owner.is_assigned("size"):
        if not owner.has("snapshot_id"):
            hint = f"give it a size of at least {LEAST}, or the volume_id of one that exists"
            owner.error("missing-value", f'block storage "{node.name}" has no size', owner.span, hint)
        return
    size = owner.known("size")
    if isinstance(size, str) and _is_too_small(size):
        owner.error(
            "constraint",
            f'the size of block storage "{node.name}" must be greater or equal "{LEAST}"',
            owner.at("size"),
            "give the size that the volume is to have",
        )


def _is_too_small(size: str) -> bool:
    """Whether a size is below the least one. What is no size, as a text that an input gives, is reported elsewhere."""
    try:
        return amount(canonical(size, SIZE), SIZE) < amount(LEAST, SIZE)
    except NotAScalarUnit:
        return False


def location_is_not_the_root(topology: Topology, relationship: Relationship) -> None:
    """Nothing is attached at the root directory (R-5.7.5-1)."""
    owner = topology.relationship(relationship)
    location = owner.known("location")
    if isinstance(location, str) and ROOT.fullmatch(location):
        problem = "nothing can be attached at the root directory"
        owner.error("bad-value", problem, owner.at("location"), "name a directory such as /data")
