"""The connections that ssh keeps open for Ansible: they outlive it, and must not outlive the batch."""

from __future__ import annotations

import signal
from pathlib import Path

from ordito.executors.process_table import look_up, send
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
