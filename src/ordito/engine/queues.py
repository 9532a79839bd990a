"""Ready queues: a heap for each host, and a heap of the best steps of hosts with a free place.

The step that is furthest from the end of the plan goes first, then the one that comes first in the plan. Both together
are one number, the *key* of a step. Each host has at most one valid offer, the best of its ready steps; outdated
offers, and steps that are not to start any more, are dropped when they come up. So every step costs a few heap
operations, however many hosts there are.

No two operations run on one instance at the same time: a step whose instance is busy is set aside when its turn comes,
and put back into its host's queue when the instance is free; so is a step of a pair that occupies both ends. In a plan
that ``overlaps``, neither instances nor hosts hold steps up.
"""

from __future__ import annotations

import heapq
from array import array

from ordito.work.plan import Plan

_NONE = -1


class Queues:
    """The ready steps of a plan, which wait for a place on their host and in the job.

    ``on_host`` is the number of places of a host for which the plan gives none. ``ready`` has a flag for each step that
    may be handed out; the caller owns and changes it. The orchestrator ("" as host) has as many places as the job.
    """

    def __init__(self, plan: Plan, parallel: int, on_host: int, ready: bytearray) -> None:
        self._ready = ready
        self._places = parallel
        hosts: dict[str, int] = {}
        places = [""] * len(plan.steps) if plan.overlaps else [step.runs_on for step in plan.steps]
        self._host = array("i", [hosts.setdefault(name, len(hosts)) for name in places])
        self._free = [max(1, plan.capacity.get(name, on_host)) if name else parallel for name in hosts]
        instances: dict[str, int] = {}
        if plan.overlaps:
            self._instance = array("i", range(len(plan.steps)))
        else:
            self._instance = array("i", [instances.setdefault(step.instance, len(instances)) for step in plan.steps])
        self._far = array("i", [_NONE]) * len(plan.steps)
        """The other instance that a step occupies, ``_NONE`` for most."""
        if not plan.overlaps and any(call.holds_far for call in plan.calls):
            for number, step in enumerate(plan.steps):
                if step.far and step.call >= 0 and plan.calls[step.call].holds_far:
                    self._far[number] = instances.setdefault(step.far, len(instances))
        self._busy = bytearray(max(len(instances), len(plan.steps)) + 1)
        self._aside: dict[int, list[int]] = {}
        self._heaps: list[list[int]] = [[] for _ in hosts]
        self._offered = [_NONE] * len(hosts)
        self._offers: list[int] = []
        self._count = max(1, len(plan.steps))
        longest = max([step.chain for step in plan.steps], default=0)
        keys = [(longest - step.chain) * self._count + index for index, step in enumerate(plan.steps)]
        self._key = array("q", keys)

    def put(self, step: int) -> None:
        """A step has become ready."""
        host = self._host[step]
        heapq.heappush(self._heaps[host], self._key[step])
        self._offer(host)

    def take(self) -> list[int]:
        """Hand out ready steps, best first, until no host with a free place has any, or the job has no place left. They
        occupy their places until they are released."""
        taken: list[int] = []
        while self._offers and self._places:
            key = heapq.heappop(self._offers)
            step = key % self._count
            host = self._host[step]
            if self._offered[host] != key:
                continue
            self._offered[host] = _NONE
            heap = self._heaps[host]
            if heap and heap[0] == key and self._free[host] and self._ready[step]:
                heapq.heappop(heap)
                near, far = self._instance[step], self._far[step]
                if self._busy[near]:
                    heapq.heappush(self._aside.setdefault(near, []), key)
                elif far != _NONE and self._busy[far]:
                    heapq.heappush(self._aside.setdefault(far, []), key)
                    self._wake(near)
                else:
                    self.occupy(step)
                    taken.append(step)
            self._offer(host)
        return taken

    def occupy(self, step: int) -> None:
        """Take a place for a step that was not handed out: it runs already."""
        self._free[self._host[step]] -= 1
        self._busy[self._instance[step]] = True
        if self._far[step] != _NONE:
            self._busy[self._far[step]] = True
        self._places -= 1

    def release(self, step: int) -> None:
        """A step gives its place back."""
        host = self._host[step]
        self._free[host] += 1
        self._places += 1
        for instance in (self._instance[step], self._far[step]):
            if instance != _NONE:
                self._busy[instance] = False
                self._wake(instance)
        self._offer(host)

    def _wake(self, instance: int) -> None:
        """Put back the best step that waits for an instance. That suffices: when it ends in its turn, or is found to
        wait for another one, the next follows."""
        aside = self._aside.get(instance)
        if aside:
            self.put(heapq.heappop(aside) % self._count)

    def waiting_with(self, step: int) -> list[int]:
        """The ready steps that wait for a place on the host of a step, best first."""
        waiting = (key % self._count for key in sorted(self._heaps[self._host[step]]))
        return [other for other in waiting if self._ready[other] and other != step]

    def _offer(self, host: int) -> None:
        """Offer the best ready step of a host that has a free place."""
        heap = self._heaps[host]
        while heap and not self._ready[heap[0] % self._count]:
            heapq.heappop(heap)
        if not heap or self._free[host] <= 0:
            return
        if self._offered[host] == _NONE or heap[0] < self._offered[host]:
            self._offered[host] = heap[0]
            heapq.heappush(self._offers, heap[0])
