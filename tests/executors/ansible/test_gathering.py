"""What becomes ready at nearly the same time goes together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ordito.executors.ansible.executor import Gathering
from tests.executors.place import auntil


class Begun:
    """The batches that have begun; each ends when it is told to."""

    def __init__(self, *, quiet: float = 0.0, longest: float = 60.0, most: int = 10) -> None:
        self.batches: list[list[int]] = []
        self.ends: list[asyncio.Event] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.gathering: Gathering[int] = Gathering(self.begin, quiet=quiet, longest=longest, most=most)

    def begin(self, items: list[int]) -> None:
        self.batches.append(items)
        self.ends.append(asyncio.Event())
        self.tasks.append(asyncio.get_running_loop().create_task(self.until_told(self.ends[-1])))

    async def until_told(self, end: asyncio.Event) -> None:
        with self.gathering.running():
            await end.wait()

    async def settle(self, condition: Callable[[], bool]) -> None:
        await auntil(condition, "batches")


def test_two_hundred_that_come_one_by_one_while_the_places_are_taken_need_few_batches() -> None:
    """As many processes run as may; what comes meanwhile waits in one further batch for each playbook."""

    async def run() -> Begun:
        begun = Begun(most=2)
        for number in range(200):
            begun.gathering.add("play", number)
            # Each could begin a batch of its own: nothing else comes for a while.
            await asyncio.sleep(0.002)
        assert len(begun.batches) == 2
        for index in range(3):
            await begun.settle(lambda index=index: len(begun.ends) > index)  # type: ignore[misc]
            begun.ends[index].set()
        await asyncio.gather(*begun.tasks)
        return begun

    begun = asyncio.run(run())
    assert len(begun.batches) == 3
    assert sorted(item for batch in begun.batches for item in batch) == list(range(200))


def test_keys_stay_apart_and_what_is_dropped_does_not_begin() -> None:
    async def run() -> Begun:
        begun = Begun()
        for key, number in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
            begun.gathering.add(key, number)
        assert begun.gathering.drop(lambda number: number == 4) == [4]
        await begun.settle(lambda: len(begun.batches) == 2)
        for end in begun.ends:
            end.set()
        await asyncio.gather(*begun.tasks)
        return begun

    assert sorted(asyncio.run(run()).batches) == [[1, 3], [2]]


def test_nothing_waits_for_longer_than_it_may() -> None:
    async def run() -> Begun:
        begun = Begun(quiet=60.0, longest=0.0)
        begun.gathering.add("a", 1)
        await begun.settle(lambda: bool(begun.batches))
        begun.ends[0].set()
        await asyncio.gather(*begun.tasks)
        return begun

    assert asyncio.run(run()).batches == [[1]]
