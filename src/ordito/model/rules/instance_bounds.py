"""How many instances there may be: what Scalable capabilities and scaling policies share (§5.5.13, §12.5.2)."""

from __future__ import annotations

from ordito.model.rules.topology import Owner


def check_bounds(owner: Owner) -> None:
    """Report bounds that leave nothing between them, or a default outside of them."""
    least, most = owner.known("min_instances"), owner.known("max_instances")
    default = owner.known("default_instances")
    if isinstance(least, int) and least < 0:
        owner.error("bad-value", "min_instances is below 0", owner.at("min_instances"), "give a number from 0 on")
    elif isinstance(least, int) and isinstance(most, int) and most < least:
        blamed = "min_instances" if owner.is_assigned("min_instances") else "max_instances"
        problem = f"min_instances is {least}, which is above max_instances ({most})"
        owner.error("conflicting-values", problem, owner.at(blamed), "change min_instances or max_instances")
    elif isinstance(default, int):
        low = isinstance(least, int) and default < least
        high = isinstance(most, int) and default > most
        if low or high:
            bound = f"below min_instances ({least})" if low else f"above max_instances ({most})"
            problem = f"default_instances is {default}, which is {bound}"
            owner.error("conflicting-values", problem, owner.at("default_instances"), "change one of them")
