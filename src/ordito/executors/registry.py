"""The executors that come with the program."""

from __future__ import annotations

import os
from pathlib import Path

from ordito.executors.ansible.executor import AnsibleExecutor
from ordito.executors.local import LocalExecutor
from ordito.work.invocation import Executor


def local_executors(base: str | os.PathLike[str], area: str = "") -> tuple[Executor, ...]:
    """The executors for this machine; below ``base`` each has a folder for scratch files that is its alone;
    ``area`` is a word that tells what this ensemble has on other hosts from what others have there."""
    return (LocalExecutor(base), AnsibleExecutor(Path(base).with_name("playbooks")).for_ensemble(area))
