"""An executor without processes, for whole commands: it records what is called and in which order, fails where it is
told to, and sees that no two operations run at one time on one instance."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from random import Random

from ordito.work.invocation import Ending, InDoubt, Invocation, Outcome, Progress, Started

Answer = Callable[[str], Outcome | None]
"""How the operation of a step ends, by the step's id; None for well."""

FAILED = Outcome(Ending.FAILED, exit_code=1, message="it was told to fail")


def always_well(step: str) -> Outcome | None:
    """Every operation ends well."""
    return None


MOST_TURNS = 10_000


class Hands:
    """Carries out nothing, takes turns of the loop for it, and remembers."""

    def __init__(self) -> None:
        self.log: list[tuple[str, bool]] = []
        """The ids of the steps as they began (False) and ended (True)."""
        self.environments: dict[str, dict[str, str]] = {}
        self.answer: Answer = always_well
        self.random: Random | None = None
        self.waits_for: dict[str, str] = {}
        """Operations that end only when another has, both by the ids of their steps."""

    def forget(self) -> None:
        """Begin again, for another job."""
        self.log, self.environments = [], {}

    def accepts(self, processor_kinds: Sequence[str], protocol: str = "") -> bool:
        """Everything that is an implementation."""
        return any(kind.startswith("tosca.artifacts.Implementation") for kind in processor_kinds)

    def batch_key(self, invocation: Invocation) -> str:
        """Each for itself."""
        return invocation.step

    async def run(self, batch: Sequence[Invocation]) -> AsyncIterator[tuple[str, Progress]]:
        """Do nothing, a while."""
        for invocation in batch:
            step = invocation.step
            self.log.append((step, False))
            self.environments[step] = dict(invocation.environment)
            yield step, Started(1, 1, "boot", "here")
            for _ in range(self.random.randrange(6) if self.random else 1):
                await asyncio.sleep(0)
            await self._wait(step)
            self.log.append((step, True))
            told = self.answer(step)
            if told is None:
                told = Outcome(Ending.SUCCEEDED, exit_code=0, outputs=dict.fromkeys(invocation.outputs, "x"))
            yield step, told

    async def _wait(self, step: str) -> None:
        other = self.waits_for.get(step)
        for _ in range(MOST_TURNS):
            if other is None or (other, True) in self.log:
                return
            await asyncio.sleep(0)
        raise AssertionError(f"{other} did not run while {step} did")

    async def cancel(self, step: str) -> None:
        """Nothing runs for long."""

    async def settle(self, doubt: InDoubt) -> Outcome | None:
        """Nothing is known of what ran before."""
        return None

    def close(self) -> None:
        """Nothing is kept."""
