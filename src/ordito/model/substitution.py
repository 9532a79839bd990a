"""Substitution: what a topology stands for, and what came of the node templates that topologies stand for (§3.8.13)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.span import Span
from ordito.model.schema import Constraint, NodeFilter
from ordito.syntax.expressions import Value

Way = tuple[str, str]
"""The name of a node template, and of a capability, requirement or property of it."""


class Substitution(msgspec.Struct, frozen=True):
    """How a topology implements a node type (§3.8.8 to §3.8.13).

    ``inputs`` give by property the input that takes it, ``outputs`` by attribute the output that gives it,
    ``capabilities`` and ``requirements`` the nodes behind them, ``capability_values`` the values of capabilities
    with nothing behind. ``constants`` are what a node's properties must be for the topology to fit, ``overridden``
    the properties inside that take one of the node's. ``operations`` map ``interface.operation`` to a workflow, or
    to a node template, its interface and its operation. ``unfed`` are inputs that need a value and get none,
    ``unmapped`` the capabilities and requirements that nothing stands behind, ``lost`` those whose mappings could
    not be read.
    """

    node_type: str
    filter: NodeFilter | None = None
    constants: Mapping[str, tuple[Constraint, str]] = {}
    inputs: Mapping[str, str] = {}
    overridden: Mapping[str, Way] = {}
    outputs: Mapping[str, str] = {}
    capabilities: Mapping[str, Way] = {}
    requirements: Mapping[str, Way] = {}
    capability_values: Mapping[str, Mapping[str, Value]] = {}
    operations: Mapping[str, str | tuple[str, str, str]] = {}
    unfed: tuple[str, ...] = ()
    unmapped: tuple[str, ...] = ()
    lost: frozenset[str] = frozenset()
    span: Span | None = None
