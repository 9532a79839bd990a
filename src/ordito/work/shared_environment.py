"""Environments that the instances of a node share: nothing in them differs but the names of instances."""

from __future__ import annotations

import msgspec


class SharedEnvironment(msgspec.Struct, frozen=True):
    """The variables of an operation for all instances of a node, as long as the node has these ``instances``.

    ``below`` are those that an instance's own ones hide, ``inputs`` the texts of the inputs, which every instance has
    under its own name, and ``above`` those that hide all others.
    """

    instances: tuple[str, ...]
    below: dict[str, str]
    inputs: tuple[tuple[str, str], ...]
    above: dict[str, str]

    def of(self, instance: str) -> dict[str, str]:
        """The variables of the operation on one of the instances."""
        own = {f"{instance}_{name}": text for name, text in self.inputs}
        return {**self.below, **own, **self.above, "INSTANCE": instance}
