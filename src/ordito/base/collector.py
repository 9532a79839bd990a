"""Python's collector of cyclic garbage, paused while a plan is made from a document or the state from records.

What is built meanwhile stays until the end, and its size is bounded by the size of the input. To search it for garbage
again and again costs several times the work itself and frees nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (10_000, 20, 20)
"""The thresholds of ``gc`` afterwards. The steps of a job make and drop many small records, without cycles, while what
is kept grows. With these thresholds it is searched less often, which saves a tenth of the time of 100,000 steps."""


@contextmanager
def paused_collector() -> Iterator[None]:
    """Collect no garbage inside the block; what was built there is not searched afterwards either."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)
        gc.enable()


def let_go() -> None:
    """Collect what was built inside ``paused_collector`` and is no longer needed: for processes that run such blocks
    many times."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
