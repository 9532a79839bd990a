"""Differences between what is deployed and what a service says: ``ordito.diff/1``, the result of ``ordito diff``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, UnsetType

from ordito.app.diff import HookDiff, InputDiff
from ordito.results.answer import ResultData

if TYPE_CHECKING:
    from ordito.app.diff import Diff, NodeDiff


class CauseData(msgspec.Struct, frozen=True):
    """A value that has changed; None for no value."""

    what: str
    before: object
    after: object
    declared: str


class NodeDiffData(msgspec.Struct, frozen=True, kw_only=True):
    """The instances of a node that are changed in the same way for the same reason."""

    node: str
    kind: str = msgspec.field(name="class")
    """The class of the change."""

    instances: tuple[str, ...]
    reason: str
    declared: str
    """The place of the node in the template."""

    causes: tuple[CauseData, ...]
    """The values that have changed."""

    operations: tuple[str, ...]
    """The operations that run on each of them, in order, without those that do nothing."""


class DiffData(ResultData, frozen=True, kw_only=True, tag="ordito.diff/1"):
    """All differences. New names may be added to the format; a change of meaning gets a new number."""

    service: str
    environment: str
    different: bool
    inputs: tuple[InputDiff, ...]
    nodes: tuple[NodeDiffData, ...]
    hooks: tuple[HookDiff, ...]
    """The lifecycle steps that would be carried out."""

    totals: Mapping[str, int]
    """The numbers of instances by class."""

    unchanged: int
    """How many instances stay as they are."""

    takes_over: bool
    """Whether the files of the service have changed, even if no operation is needed for that."""

    warnings: tuple[str, ...]
    unfinished: str | UnsetType = UNSET
    """The job that must be resumed first, "" for none."""


def diff_data(diff: Diff, unfinished: str | UnsetType = UNSET) -> DiffData:
    """All differences."""
    return DiffData(
        service=diff.service,
        environment=diff.environment,
        different=not diff.is_empty,
        inputs=diff.inputs,
        nodes=tuple(map(_node, diff.nodes)),
        hooks=diff.hooks,
        totals=diff.totals,
        unchanged=diff.unchanged,
        takes_over=diff.takes_over,
        warnings=diff.warnings,
        unfinished=unfinished,
    )


def _node(found: NodeDiff) -> NodeDiffData:
    causes = tuple(CauseData(cause.what, cause.before, cause.after, cause.declared) for cause in found.causes)
    return NodeDiffData(
        node=found.node,
        kind=found.kind,
        instances=found.instances,
        reason=found.reason,
        declared=found.declared,
        causes=causes,
        operations=found.operations,
    )
