"""The entry point of the command. Every call pays the cost of starting, so nothing is imported before it is needed."""

from __future__ import annotations

import gc
import os
import signal
import sys

THRESHOLDS = (10_000, 20, 20)
"""Those of ``base.collector``, which is not imported for them."""


def main(arguments: list[str] | None = None) -> None:
    """Run one command line (default: that of this process), and exit with its exit code."""
    # What is imported stays: to search it for garbage again and again costs a tenth of a short command.
    gc.set_threshold(*THRESHOLDS)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # While the program is read in Ctrl-C just ends it, as nobody is there yet who could say so.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    if arguments == ["--version"] and sys.stdout is not None:
        # Before click is imported, which costs more than all the rest of this answer.
        from ordito import __version__

        try:
            sys.stdout.write(f"ordito {__version__}\n")
            sys.stdout.flush()
        except OSError as error:
            from ordito.cli.border import unwritten

            return unwritten(error)
        return 0
    if asked := os.environ.get("_ORDITO_COMPLETE"):
        from ordito.cli.completion import complete

        return complete(asked)
    from ordito.cli.border import run_guarded

    return run_guarded(arguments)
