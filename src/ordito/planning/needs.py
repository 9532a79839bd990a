"""Which steps a job can do without, by what the metadata of nodes say, and which of them depend on what others come to.

An optional operation that fails does not hold up what depends on it. An optional node that fails does, in its own
chain and where it hosts others; what else requires it goes on without it, and is not linked with it.
"""

from __future__ import annotations

from ordito.model.service import NodeTemplate, Relationship
from ordito.model.settings import NO_SETTINGS
from ordito.planning.draft import Draft
from ordito.planning.members import DraftStep
from ordito.work.plan import StepCondition


class ChainNeeds:
    """What a job needs of the steps in the chains of one node's instances."""

    __slots__ = ("_draft", "_node", "_settings")

    def __init__(self, draft: Draft, node: NodeTemplate) -> None:
        self._draft = draft
        self._node = node.name
        self._settings = node.settings

    @property
    def are_said(self) -> bool:
        """Whether the metadata say anything; else only operations of relationships are to be marked."""
        return self._settings is not NO_SETTINGS

    def mark(self, step: DraftStep, relationship: Relationship | None, *, installs: bool) -> None:
        """Mark a step. An optional node counts as such when it is made; what is left of it is removed as of any."""
        settings = self._settings
        if settings is not NO_SETTINGS:
            step.non_blocking = settings.of(self._draft.calls.all[step.call].name).is_optional
            step.optional = step.non_blocking or (installs and settings.is_optional)
        if installs and relationship is not None and not relationship.is_hosting:
            far = relationship.target if relationship.source == self._node else relationship.source
            target = self._draft.service.nodes.get(far)
            if target is not None and target.settings.is_optional and far == relationship.target:
                step.condition = StepCondition.IF_FAR_IS_UP
