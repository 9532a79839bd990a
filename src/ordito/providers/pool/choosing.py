"""Choosing the host of an instance: the first suitable one, in an order that spreads instances over hosts, or packs
them."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, islice

import msgspec

from ordito.providers.pool.allocations import Lost
from ordito.providers.pool.fitting import HostRequest, Taken, lacks, unfit
from ordito.providers.pool.hosts import PoolHost
from ordito.work.providing import Delegation

MOST_TOLD = 10
CHECK = "ordito hosts check"


class Choosing:
    """Chooses hosts for one instance after another, from the allocations at its creation and those made since.

    A pool may have thousands of hosts, and a plan may ask for many more. So hosts are grouped by how many instances
    they have, full ones are not tried again, and a request that was refused once is refused again at once, since
    nothing is released meanwhile. ``file`` is the inventory, for messages.
    """

    def __init__(
        self, hosts: Collection[PoolHost], taken: Mapping[str, Sequence[Taken]], lost: Mapping[str, Lost], file: str
    ) -> None:
        self._hosts = tuple(hosts)
        self._lost = lost
        self._file = file
        self._places = {host.name: place for place, host in enumerate(self._hosts)}
        self._taken: list[list[Taken]] = [[] for _ in self._hosts]
        self._of_node: dict[str, dict[int, int]] = {}
        self._by_load: list[list[int]] = [list(range(len(self._hosts)))]
        self._has_all: dict[tuple[bytes, int], bool] = {}
        self._refused: dict[tuple[bytes, frozenset[str]], str] = {}
        for on_host in taken.values():
            for one in on_host:
                self.take(one)

    def take(self, taken: Taken) -> None:
        """Add an allocation; hosts that are not in the inventory are ignored."""
        place = self._places.get(taken.host)
        if place is None:
            return
        there = self._taken[place]
        if not self._is_full(place):
            places = self._by_load[len(there)]
            del places[bisect_left(places, place)]
        there.append(taken)
        if not self._is_full(place):
            while len(self._by_load) <= len(there):
                self._by_load.append([])
            insort(self._by_load[len(there)], place)
        of_node = self._of_node.setdefault(taken.node, {})
        of_node[place] = of_node.get(place, 0) + 1

    def choose(self, asked: Delegation, asking: HostRequest) -> tuple[PoolHost | None, str]:
        """The host that an instance would get, or None and the reasons, for people."""
        wanted = msgspec.msgpack.encode(asking)
        refused = self._refused.get((wanted, asked.apart))
        if refused is not None:
            return None, refused
        for place in self._tried(asked.node, packs=asking.packs):
            if self._has(place, asking, wanted) and not self._problems(place, asked, asking):
                return self._hosts[place], ""
        problem = self._refused[wanted, asked.apart] = self._no_host(asked, asking)
        return None, problem

    def _tried(self, node: str, *, packs: bool) -> Iterator[int]:
        """The hosts that are not full, in the order in which they are tried: with ``packs`` those with the most
        instances first; else those with the fewest instances of the same node, then with the fewest instances. Equal
        ones are in the order of the inventory."""
        if packs:
            yield from chain.from_iterable(reversed(self._by_load))
            return
        of_node = self._of_node.get(node, {})
        yield from (place for place in chain.from_iterable(self._by_load) if place not in of_node)
        rest = (place for place in of_node if not self._is_full(place))
        yield from sorted(rest, key=lambda place: (of_node[place], len(self._taken[place]), place))

    def _is_full(self, place: int) -> bool:
        return len(self._taken[place]) >= self._hosts[place].instances

    def _has(self, place: int, asking: HostRequest, wanted: bytes) -> bool:
        """Whether a host would have what is asked for if it were free."""
        known = self._has_all.get((wanted, place))
        if known is None:
            known = self._has_all[wanted, place] = not any(lacks(self._hosts[place], asking))
        return known

    def _problems(self, place: int, asked: Delegation, asking: HostRequest) -> list[str]:
        """Why an instance cannot have a host, for people; empty if it can."""
        host, there = self._hosts[place], self._taken[place]
        if host.name in self._lost:
            return [f"could not be reached, and is not used before `{CHECK} {host.name}` succeeds"]
        return unfit(host, asking, there) or _beside(asked, there)

    def _no_host(self, asked: Delegation, asking: HostRequest) -> str:
        """The message that no host is suitable, with the request and why each host is not."""
        full = (place for place in range(len(self._hosts)) if self._is_full(place))
        reasons = [
            f"{self._hosts[place].name} {' and '.join(self._problems(place, asked, asking))}"
            for place in islice(chain(self._tried(asked.node, packs=asking.packs), full), MOST_TOLD)
        ]
        told = "; ".join(reasons) or "there is none"
        more = f"; and {len(self._hosts) - MOST_TOLD} more" if len(self._hosts) > MOST_TOLD else ""
        return f"no host of {self._file} is free and suitable ({asking.describe()}): {told}{more}"


def _beside(asked: Delegation, taken: Sequence[Taken]) -> list[str]:
    """Why an instance must be on another host than those that have this one, for people; empty if it may share it."""
    others = [t.instance for t in taken if t.ensemble == asked.ensemble and t.node in asked.apart]
    return [f"has {others[0]}, which must be on another host"] if others else []
