"""A program of its own: it runs a shell, adopts what that leaves behind, tells of it, and ends it.

Its arguments are the file where the processes that were left are told, one line each, and the command of the shell. It
needs nothing but Python.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
# How long what was told to end may take for it, in seconds.
PATIENCE = 5.0


def children() -> dict[int, list[int]]:
    """The living processes of this machine by their parents."""
    found: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # The name of the program stands in brackets and may hold anything.
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state != "Z":
                found.setdefault(int(parent), []).append(int(entry.name))
    return found


def below(process: int) -> list[int]:
    """All that a process has begun, directly or not."""
    known = children()
    found = list(known.get(process, []))
    for one in found:
        found += known.get(one, [])
    return found


def reap() -> None:
    """Let go of those that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def command_of(process: int) -> str:
    """What a process was called with."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def left() -> list[int]:
    """What still runs after a while."""
    until = time.monotonic() + PATIENCE
    while found := below(os.getpid()):
        reap()
        if time.monotonic() > until:
            break
        time.sleep(0.02)
    return found


def main() -> None:
    """Run the shell."""
    library = ctypes.CDLL(None)
    library.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    library.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda *_: end())
    shell = subprocess.Popen(sys.argv[2:])
    # Standard input is the shell's alone: it ends with whoever writes there.
    os.close(0)
    # What has ended is let go of at once: who waits for the end of a process would see it for ever otherwise.
    while os.wait()[0] != shell.pid:
        pass
    Path(sys.argv[1]).write_text("".join(f"{one} {command_of(one)}\n" for one in left()))
    end()


def end() -> None:
    """End everything that is left."""
    while found := below(os.getpid()):
        for one in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        time.sleep(0.01)
        reap()
    # What was killed last may have been seen as ended before it could be let go of.
    reap()
    os._exit(0)


if __name__ == "__main__":
    main()
