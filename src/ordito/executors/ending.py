"""Ending the processes of a step: first asked to end, then made to."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

from ordito.executors.process_table import Marker, Process, processes_of, send

SHORTEST_PAUSE = 0.01
LONGEST_PAUSE = 0.25
"""Seconds between two looks at the process table; each pause is twice as long as the one before."""

KILL_PATIENCE = 30.0
"""Seconds after which a process that was killed and is still there is given up: it hangs inside the kernel."""


async def end_processes(marker: Marker, grace: float, is_over: Callable[[], bool] = lambda: False) -> list[Process]:
    """TERM to every process of a step, after ``grace`` seconds KILL; returns when they are gone.

    Processes that appear meanwhile are ended as well. What is returned did not even end when it was killed.
    ``is_over`` is asked right before the first TERM: where it says so, nothing is ended.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    asked: set[tuple[int, int]] = set()
    pause = SHORTEST_PAUSE
    is_first = True
    while True:
        alive = await asyncio.to_thread(processes_of, marker)
        if (is_first and is_over()) or not alive:
            return []
        is_first = False
        elapsed = loop.time() - began
        if elapsed > grace + KILL_PATIENCE:
            return alive
        if elapsed >= grace:
            send(alive, signal.SIGKILL)
            pause = SHORTEST_PAUSE
        else:
            send([p for p in alive if (p.pid, p.start_time) not in asked], signal.SIGTERM)
            asked.update((p.pid, p.start_time) for p in alive)
            pause = min(2 * pause, LONGEST_PAUSE, max(grace - elapsed, SHORTEST_PAUSE))
        await asyncio.sleep(pause)
