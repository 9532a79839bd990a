"""In which wave of a plan each step is: all steps of a wave can run at the same time, and wait for earlier ones only.

A step comes as early as what it waits for allows, and then as early as its instance and its host have a place: on one
instance one operation runs at a time, on a host as many as it is allowed to have (§7.2.3), as in the engine. What runs
nothing takes no place.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import msgspec

from ordito.work.plan import Action, Plan, Step

JOIN = Action.JOIN


class Waves(msgspec.Struct, frozen=True):
    """The wave of each step, from 0. ``held`` are the hosts on which steps come later than they would because others
    run there, with the number of those that may run there at one time."""

    of_steps: Sequence[int]
    held: dict[str, int]


def runs(plan: Plan, step: Step) -> bool:
    """Whether a step runs anything, or asks a provider."""
    return step.action is Action.DELEGATE or (step.action is not Action.JOIN and bool(plan.calls[step.call].artifact))


def waves(plan: Plan, on_host: int = 1, *, joins: int = 0) -> Waves:
    """The waves of a plan. ``on_host`` operations run at one time on a host of which the plan says nothing, 0 for any
    number, whatever the plan says; ``joins`` is how many waves a step takes that only joins others."""
    found = array("i", bytes(4 * len(plan.steps)))
    ended = array("i", bytes(4 * len(plan.steps)))
    held: dict[str, int] = {}
    # Most instances have one operation after the other by the order alone: where the last one ended says that.
    last: dict[str, int] = {}
    hosts: dict[str, _Places] = {}
    edges, edge, count = plan.edges, 0, len(plan.edges)
    # Edges are in the order of the steps that they lead to, and steps in an order that satisfies them.
    for number, step in enumerate(plan.steps):
        wave = 0
        while edge < count and edges[edge][1] == number:
            before = ended[edges[edge][0]]
            if before > wave:  # noqa: PLR1730  (a call for each of very many edges)
                wave = before
            edge += 1
        if step.action is JOIN:
            found[number], ended[number] = wave, wave + joins
            continue
        if not plan.overlaps and runs(plan, step):
            name = step.instance
            earliest = wave = max(wave, last.get(name, 0))
            host = _host(plan, step, hosts, on_host)
            if host is not None:
                wave = host.free(wave)
                host.take(wave)
                if wave > earliest:
                    held[step.runs_on] = host.places
            last[name] = wave + 1
        found[number], ended[number] = wave, wave + 1
    return Waves(found, held)


def _host(plan: Plan, step: Step, hosts: dict[str, _Places], on_host: int) -> _Places | None:
    if not (step.runs_on and on_host):
        return None
    found = hosts.get(step.runs_on)
    if found is None:
        found = hosts[step.runs_on] = _Places(max(1, plan.capacity.get(step.runs_on, on_host)))
    return found


class _Places:
    """The places of an instance, or of a host, wave after wave."""

    __slots__ = ("_next", "_taken", "places")

    def __init__(self, places: int) -> None:
        self.places = places
        self._taken: dict[int, int] = {}
        # Where all places of a wave are taken, one after which there may be some: the way there gets shorter each time.
        self._next: dict[int, int] = {}

    def free(self, wave: int) -> int:
        """The first wave from one on in which there is a place."""
        passed: list[int] = []
        while (later := self._next.get(wave)) is not None:
            passed.append(wave)
            wave = later
        for before in passed:
            self._next[before] = wave
        return wave

    def take(self, wave: int) -> None:
        """Take a place in a wave that has one."""
        taken = self._taken[wave] = self._taken.get(wave, 0) + 1
        if taken == self.places:
            self._next[wave] = wave + 1
