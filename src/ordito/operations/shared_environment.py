"""Environments that the instances of a node share: nothing in them differs but the names of instances."""

from __future__ import annotations

import msgspec

from ordito.work.invocation import FilePlacement


class SharedEnvironment(msgspec.Struct, frozen=True):
    """The variables of an operation for all instances of a node, as long as the node has these ``instances``, and the
    copies of artifacts that each of them gets."""

    instances: tuple[str, ...]
    variables: dict[str, str]
    files: tuple[FilePlacement, ...] = ()

    def of(self, instance: str) -> dict[str, str]:
        """The variables of the operation on one of the instances."""
        return {**self.variables, "INSTANCE": instance}
