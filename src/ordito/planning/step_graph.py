"""The steps of a plan in the making, and which of them waits for which.

Steps are numbered by their place in ``steps``; edges are three parallel lists of numbers, so that hundreds of thousands
of them stay cheap.
"""

from __future__ import annotations

from ordito.planning.planned_instances import Chain, DraftStep
from ordito.work.plan import Action, Gate


class StepGraph:
    """Steps, edges and their reasons; transforms that lay chains add to it, and ``reduce`` orders it."""

    def __init__(self) -> None:
        self.steps: list[DraftStep] = []
        self.befores: list[int] = []
        self.afters: list[int] = []
        self.edge_reasons: list[int] = []
        """Of each edge: the step that comes first, the one that waits for it, and the number of the reason."""
        self.reasons: dict[str, int] = {"": 0}
        """The number of each reason."""
        self.order: list[int] = []
        """The steps that are left in the end, in their order."""

    def add(self, step: DraftStep) -> int:
        """Add a step; returns its number."""
        self.steps.append(step)
        return len(self.steps) - 1

    def sequence(self, steps: list[DraftStep], reason: int) -> list[int]:
        """Add steps each of which waits for the one before; returns their numbers."""
        first, count = len(self.steps), len(steps)
        self.steps += steps
        numbers = list(range(first, first + count))
        self.befores += numbers[:-1]
        self.afters += numbers[1:]
        self.edge_reasons += [reason] * (count - 1)
        return numbers

    def join(self, name: str, reason: int, *, after_failure: bool = False, gate: Gate = Gate.NONE) -> int:
        """Add a step that only joins others."""
        name = f"join.{name}.{len(self.steps)}"
        return self.add(DraftStep(name, Action.JOIN, after_failure=after_failure, reason=reason, gate=gate))

    def barrier(self, reason: int) -> int:
        """Add a join that only success passes: whatever waits for it begins only then, even if it runs after
        failures."""
        name = f"barrier.{len(self.steps)}"
        return self.add(DraftStep(name, Action.JOIN, after_failure=True, reason=reason, barrier=True))

    def edge(self, before: int, after: int, reason: int) -> None:
        """Have one step wait for another."""
        self.befores.append(before)
        self.afters.append(after)
        self.edge_reasons.append(reason)

    def edges(self, befores: list[int], afters: list[int], reason: int) -> None:
        """Have each of some steps wait for each of others; only for few of either."""
        for before in befores:
            for after in afters:
                self.edge(before, after, reason)

    def why(self, reason: str) -> int:
        """The number of a reason; each text is kept once."""
        return self.reasons.setdefault(reason, len(self.reasons))

    def extend(self, chain: Chain, place: int, step: int, reason: int) -> None:
        """Insert a step at a place of a chain's sequence, after what was put there before: at the end at once, between
        others when ``weave`` is called."""
        place = max(0, place - chain.offset)
        if place >= chain.made:
            self.edge(chain.end, step, reason)
            chain.steps.append(step)
            chain.end = step
            return
        if chain.between is None:
            chain.between = {}
        chain.between.setdefault(place, []).append((step, reason))

    def weave(self, chain: Chain, then: int = 0) -> None:
        """Insert what was gathered for a chain between the steps that it was made with; ``then`` is the reason why
        these wait for it, if they have one of their own."""
        if chain.between is None:
            return
        made, woven, first = chain.steps, [], 0
        for place, added in sorted(chain.between.items()):
            woven += made[first:place]
            first = place
            before = -1
            if place:
                # The edge that was between the two leads to what comes between them now.
                self.afters[chain.first_edge + place - 1] = added[0][0]
            for step, reason in added:
                if before >= 0:
                    self.edge(before, step, reason)
                before = step
                woven.append(step)
            self.edge(before, made[place], then or added[-1][1])
        chain.steps = [*woven, *made[first:]]
        chain.begin = chain.steps[0]
        chain.between = None
