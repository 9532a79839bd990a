"""The executors that come with the program."""

from __future__ import annotations

import os

from ordito.executors.local import LocalExecutor


def local_executors(base: str | os.PathLike[str]) -> tuple[LocalExecutor, ...]:
    """The executors for this machine; ``base`` is a folder for scratch files that is theirs alone."""
    return (LocalExecutor(base),)
