"""The command's way in. What it costs to start is paid by every call, so nothing is imported before it is needed."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> int:
    """Run one command line (default: this process's) and give its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if given == ["--version"]:
        # Before click is imported, which costs more than all the rest of this answer.
        from ordito import __version__

        sys.stdout.write(f"ordito {__version__}\n")
        return 0
    from ordito.cli.border import run

    return run(given)
