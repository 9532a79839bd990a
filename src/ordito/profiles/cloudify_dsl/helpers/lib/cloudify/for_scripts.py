"""The names that scripts in Python find without any import."""

from __future__ import annotations

from cloudify.state import ctx, ctx_parameters

NAMES = {"ctx": ctx, "inputs": ctx_parameters}
