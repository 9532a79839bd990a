"""Transform: drop every step that does nothing, and hand its edges on.

Steps that were done already, and joins, only keep an order. If such a step has at most one predecessor, or at most one
successor, its edges can be joined without becoming more; the others stay as joins. Joins that nothing follows any more,
or nothing precedes, are dropped. What is left is put into an order that satisfies all edges.
"""

from __future__ import annotations

from collections.abc import Iterator

from ordito.planning.draft import Draft
from ordito.planning.planned_instances import DraftStep
from ordito.work.plan import Action

JOIN = Action.JOIN


def reduce(draft: Draft) -> None:
    """Reduce the draft; sets its order, and its edges among the steps in it."""
    works = bytearray([(s.action is not JOIN and not s.done) or bool(s.gate) or s.barrier for s in draft.steps])
    graph = _Graph(draft)
    order = graph.in_order()
    if len(order) < len(works):
        _report_cycle(draft, order)
    useful = bytearray(works)
    passive = [number for number in order if not works[number]]
    for number in reversed(passive):
        useful[number] = any(useful[after] for after, _ in graph.after(number))
    edges = _Edges(draft, graph, works, useful)
    for number in passive:
        if useful[number]:
            edges.settle(number)
    draft.order = [number for number in order if useful[number] and number not in edges.gone]
    edges.write()


class _Graph:
    """The edges from each step, by their places in the draft, in flat lists, since there may be very many."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._out: list[list[int]] = [[] for _ in draft.steps]
        for place, before in enumerate(draft.befores):
            self._out[before].append(place)

    def in_order(self) -> list[int]:
        """The steps in an order that satisfies all edges, those that were added earlier first; none of a cycle."""
        waits = [0] * len(self._out)
        afters = self._draft.afters
        for after in afters:
            waits[after] += 1
        order = [number for number, count in enumerate(waits) if not count]
        for number in order:  # grows while it is read
            for place in self._out[number]:
                after = afters[place]
                waits[after] -= 1
                if not waits[after]:
                    order.append(after)
        return order

    def after(self, number: int) -> Iterator[tuple[int, int]]:
        """The steps that wait for a step, each with the reason."""
        draft = self._draft
        return ((draft.afters[place], draft.edge_reasons[place]) for place in self._out[number])


class _Edges:
    """The edges that are left: those among steps that work, unchanged, and those that steps without work hand on.
    ``gone`` are steps that others have been joined around."""

    def __init__(self, draft: Draft, graph: _Graph, works: bytearray, useful: bytearray) -> None:
        self._draft = draft
        self._graph = graph
        self._works = works
        self._useful = useful
        self.gone: set[int] = set()
        self._into: dict[int, dict[int, int]] = {}
        """The edges into each step that does nothing, {step before: reason}."""
        self._left: dict[tuple[int, int], int] = {}
        for before, after, reason in zip(draft.befores, draft.afters, draft.edge_reasons, strict=True):
            if works[before] and useful[after]:
                self._add(before, after, reason)

    def settle(self, number: int) -> None:
        """Hand on the edges of a step that does nothing, after the steps before it were handled; or keep it."""
        draft, own = self._draft, self._into.pop(number, {})
        step = draft.steps[number]
        follow = [(after, reason) for after, reason in self._graph.after(number) if self._useful[after]]
        if _may_go(draft, step, own, follow):
            self.gone.add(number)
            for after, reason in follow:
                for before, earlier in own.items():
                    self._add(before, after, earlier if step.done else reason)
            return
        for before, reason in own.items():
            self._left.setdefault((before, number), reason)
        for after, reason in follow:
            self._add(number, after, reason)

    def write(self) -> None:
        """Put the edges into the draft, in the order of the steps that they lead to."""
        draft = self._draft
        place = [0] * len(draft.steps)
        for position, number in enumerate(draft.order):
            place[number] = position
        edges = list(self._left)
        into = [place[after] for _, after in edges]
        # Sorted by what a list gives, not by what a function does: there are very many.
        order = sorted(range(len(edges)), key=into.__getitem__)
        reasons = list(self._left.values())
        draft.befores = [edges[number][0] for number in order]
        draft.afters = [edges[number][1] for number in order]
        draft.edge_reasons = [reasons[number] for number in order]

    def _add(self, before: int, after: int, reason: int) -> None:
        if self._works[after]:
            self._left.setdefault((before, after), reason)
        else:
            self._into.setdefault(after, {}).setdefault(before, reason)


def _may_go(draft: Draft, step: DraftStep, own: dict[int, int], follow: list[tuple[int, int]]) -> bool:
    """Whether a step that does nothing can be replaced by edges, no more of them, that mean the same. A gate asks each
    step before it how it ended, and several steps are not the same as one that joins them. A step that runs after
    failures makes what follows it run after them, so it stays if what follows would not."""
    if not own:
        return True
    if any(draft.steps[after].gate for after, _ in follow):
        left_out = (draft.steps[b].gate or draft.steps[b].action is Action.FILTER for b in own)
        if len(own) > 1 or (step.action is JOIN and not step.gate and any(left_out)):
            return False  # What may be left out before a join says nothing to what is behind it.
    if step.after_failure and any(not draft.steps[after].after_failure for after, _ in follow):
        return False
    return len(own) == 1 or len(follow) == 1


def _report_cycle(draft: Draft, order: list[int]) -> None:
    free = set(order)
    stuck = [step.id for number, step in enumerate(draft.steps) if number not in free]
    draft.diagnostics.error("plan-cycle", f"these steps would wait for each other: {', '.join(stuck[:12])}", None)
