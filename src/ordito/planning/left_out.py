"""Pairs that a plan leaves out because one of their ends, which is not part of it, is not up: they are made when that
end is healed."""

from __future__ import annotations

from collections.abc import Iterator

from ordito.base.text import listed
from ordito.instances.states import CONFIGURED
from ordito.model.service import Relationship
from ordito.planning.draft import Draft
from ordito.planning.members import PlannedInstance
from ordito.planning.pairing import Pairing

MOST_NAMED = 3


def warn_of_left_out(draft: Draft, relationship: Relationship, pairing: Pairing) -> None:
    """Warn of the pairs of a relationship of which one end comes up and the other is not up. A source that is stopped
    needs no word: it is linked once it is started."""
    if relationship.is_hosting:
        return
    sources, targets = pairing.of_node(relationship.source), pairing.of_node(relationship.target)
    down = [m for m in sources if _is_missed(m) and m.record.state != CONFIGURED]
    if not down and not any(map(_is_missed, targets)):
        return
    pairs: list[str] = []
    missed: dict[str, PlannedInstance] = {}
    for source, target, missing in _left_out(sources, relationship, pairing):
        pairs.append(f"{source.id} with {target.id}")
        missed[missing.id] = missing
    if pairs:
        draft.diagnostics.warning(
            "pair-left-out",
            f"not linked: {listed(pairs, MOST_NAMED)}; not up:"
            f" {listed([f'{m.id} ({m.record.local})' for m in missed.values()], MOST_NAMED)}",
            relationship.span,
            hint=f"they are linked when it is up again: `ordito heal {next(iter(missed))}`",
        )


def _left_out(
    sources: list[PlannedInstance], relationship: Relationship, pairing: Pairing
) -> Iterator[tuple[PlannedInstance, PlannedInstance, PlannedInstance]]:
    """The pairs that are left out, each with that end which is the reason."""
    for source in sources:
        is_down = _is_missed(source) and source.record.state != CONFIGURED
        for target in pairing.targets(source, relationship) if source.rises or is_down else ():
            if source.rises and _is_missed(target):
                yield source, target, target
            elif is_down and target.rises:
                yield source, target, source


def _is_missed(member: PlannedInstance) -> bool:
    return not member.is_up and not member.falls
