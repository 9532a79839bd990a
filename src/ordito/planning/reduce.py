"""Transform: drop every step that does nothing, and hand its edges on.

A step that was done already, and a join, only stand for an order. Where one of them has at most one predecessor, or at
most one successor, its edges can be joined without becoming more; the others stay as joins. What nothing follows any
more, or nothing precedes, falls away. What is left is put into an order that satisfies all edges.
"""

from __future__ import annotations

from array import array

from ordito.planning.draft import Draft, DraftStep
from ordito.work.plan import Action

Edge = tuple[int, int]
"""A step at the other end, and the reason."""


def reduce(draft: Draft) -> None:
    """Reduce the draft; sets its order, and its edges among the steps in it."""
    order, successors = _topological(draft)
    useful = _useful(draft, order, successors)
    into = _spliced(draft, order, successors, useful)
    draft.order = [number for number in order if useful[number] and number in into]
    draft.befores, draft.afters, draft.edge_reasons = [], [], []
    for number in draft.order:
        for before, reason in into[number].items():
            draft.edge(before, number, reason)


def _topological(draft: Draft) -> tuple[list[int], list[list[Edge]]]:
    """The steps in an order that satisfies all edges, the earlier made first, and the edges from each step."""
    count = len(draft.steps)
    waits = array("i", bytes(4 * count))
    successors: list[list[Edge]] = [[] for _ in range(count)]
    for before, after, reason in zip(draft.befores, draft.afters, draft.edge_reasons, strict=True):
        successors[before].append((after, reason))
        waits[after] += 1
    order = [number for number in range(count) if not waits[number]]
    for number in order:  # grows while it is read
        for after, _ in successors[number]:
            waits[after] -= 1
            if not waits[after]:
                order.append(after)
    if len(order) < count:
        _report_cycle(draft, waits)
    return order, successors


def _useful(draft: Draft, order: list[int], successors: list[list[Edge]]) -> bytearray:
    """Which steps work, or have something after them that does."""
    useful = bytearray(len(draft.steps))
    for number in reversed(order):
        works = _works(draft.steps[number])
        useful[number] = works or any(useful[after] for after, _ in successors[number])
    return useful


def _spliced(
    draft: Draft, order: list[int], successors: list[list[Edge]], useful: bytearray
) -> dict[int, dict[int, int]]:
    """The edges into each step that stays, {step before: reason}."""
    into: dict[int, dict[int, int]] = {number: {} for number in order if useful[number]}
    for number in order:
        if not useful[number]:
            continue
        step = draft.steps[number]
        own = into[number]
        follow = [(after, reason) for after, reason in successors[number] if useful[after]]
        if _works(step) or not _may_go(draft, step, own, follow):
            for after, reason in follow:
                into[after].setdefault(number, reason)
            continue
        del into[number]
        for after, reason in follow:
            for before, earlier in own.items():
                into[after].setdefault(before, earlier if step.done else reason)
    return into


def _may_go(draft: Draft, step: DraftStep, own: dict[int, int], follow: list[Edge]) -> bool:
    """Whether a step that does nothing can be replaced by edges, no more of them, that mean the same.

    A tolerant step makes what follows it indifferent to failures before it, so it stays where what follows is not
    tolerant itself.
    """
    if not own:
        return True
    if step.tolerant and any(not draft.steps[after].tolerant for after, _ in follow):
        return False
    return len(own) == 1 or len(follow) == 1


def _works(step: DraftStep) -> bool:
    return step.action is not Action.JOIN and not step.done


def _report_cycle(draft: Draft, waits: array[int]) -> None:
    stuck = [draft.steps[number].id for number in range(len(draft.steps)) if waits[number]]
    draft.diagnostics.error("plan-cycle", f"these steps would wait for each other: {', '.join(stuck[:12])}", None)
