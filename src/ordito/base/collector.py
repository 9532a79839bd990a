"""Python's collector of cyclic garbage, paused while a document becomes a plan, or records become what exists.

What is built on that way stays until the end, and its size is bounded by that of what is read: to look through it
over and over again costs several times the work itself and frees nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (10_000, 20, 20)
"""When garbage is collected afterwards. The steps of a job make and drop many small records and no circles; what it
keeps grows, and is looked through less often like this: a tenth of the time of 100,000 steps."""


@contextmanager
def paused_collector() -> Iterator[None]:
    """Collect nothing inside; what was built there is not looked at again afterwards."""
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
    """Collect what was built inside ``paused_collector`` and is not needed any more: for who builds such things again
    and again in one process."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
