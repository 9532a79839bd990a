"""Where operations run: on a node instance, or at one end of a relationship between two."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.instances.context import Context
from ordito.model.operation import Operation
from ordito.model.service import Relationship


class ExecutionPlace(msgspec.Struct, frozen=True):
    """Where and for whom an operation runs: on a node instance, or at one ``side`` of a relationship between two.

    ``instance`` is the one it runs on, ``far`` the other end ("" for node operations, and where there is none).
    ``inputs`` are those of the workflow that calls it, which ``get_input`` finds first.
    """

    operation: Operation
    node: str
    instance: str
    relationship: Relationship | None = None
    side: str = ""
    far: str = ""
    inputs: Mapping[str, object] = {}

    @property
    def source(self) -> str:
        """The source instance of a relationship operation."""
        return self.instance if self.side == "source" else self.far

    @property
    def target(self) -> str:
        """The target instance of a relationship operation."""
        return self.instance if self.side == "target" else self.far

    @property
    def context(self) -> Context:
        """The context in which its inputs are evaluated."""
        if self.relationship is None:
            return Context(node=self.node, instance=self.instance, inputs=self.inputs)
        return Context(relationship=self.relationship, source=self.source, target=self.target, inputs=self.inputs)
