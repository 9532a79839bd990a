"""Python's collector of cyclic garbage, paused while a document becomes a plan, or records become what exists.

What is built on that way stays until the end, and its size is bounded by that of what is read: to look through it
over and over again costs several times the work itself and frees nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
        gc.enable()
