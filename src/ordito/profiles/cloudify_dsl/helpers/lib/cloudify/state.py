"""The same as in ``cloudify``, where scripts also look for it."""

from __future__ import annotations

from typing import Any

from cloudify import Inputs, ctx

ctx_parameters = Inputs()


class _Current:
    """Gives what is current."""

    def get_ctx(self) -> Any:
        """``ctx``."""
        return ctx

    def get_parameters(self) -> Any:
        """The inputs of the operation."""
        return ctx_parameters


current_ctx = _Current()

__all__ = ["ctx", "ctx_parameters", "current_ctx"]
