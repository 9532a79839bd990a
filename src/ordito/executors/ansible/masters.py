"""What outlives Ansible and must not outlive the batch: connections that ssh keeps open, and, where Ansible had to be
ended, what it has started in containers."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ordito.executors.process_table import STEP, look_up, send
from ordito.executors.slots import remove


def end_masters(sockets: str) -> None:
    """End the processes of ssh that hold connections open with sockets in a folder, and remove the folder."""
    folder = Path(sockets)
    if folder.is_dir() and any(folder.iterdir()):
        title = f"ssh: {sockets}/".encode()
        found = [look_up(int(p.name)) for p in Path("/proc").iterdir() if p.name.isdigit() and _title(p, title)]
        send([process for process in found if process is not None], signal.SIGTERM)
    remove(sockets)


def _title(process: Path, title: bytes) -> bool:
    try:
        return process.joinpath("cmdline").read_bytes().startswith(title)
    except OSError:
        return False


END_MARKED = """\
for place in /proc/[0-9]*; do
    tr '\\0' '\\n' <"$place/environ" 2>/dev/null | grep -qxF "$0" || continue
    [ "${place#/proc/}" = $$ ] || kill -9 "${place#/proc/}"
done
"""
PATIENCE = 30.0
"""Seconds that a container may take for it."""


def end_in_containers(containers: Sequence[Sequence[str]], marker: str) -> None:
    """End what commands of a batch have left running in containers; each is the words that run something in one."""
    for words in containers:
        command = [*words, "/bin/sh", "-c", END_MARKED, f"{STEP}={marker}"]
        try:
            subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=PATIENCE)
        except (OSError, subprocess.TimeoutExpired):
            continue  # A container whose engine does not answer runs nothing that could be ended.
