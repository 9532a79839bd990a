"""Results that are documents of their own: to standard output, or with ``--out`` into a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session

F = TypeVar("F", bound=Callable[..., Any])


def out_option(function: F) -> F:
    """The option of verbs that write a document; the verb gets it as ``out``."""
    return click.option("--out", metavar="FILE", default="", help="Write to this file instead of standard output.")(
        function
    )


def deliver(session: Session, document: bytes, out: str) -> ExitCode:
    """Write a document, whole or not at all. Raises ``EnsembleError`` where its file cannot be written."""
    if not out:
        session.out.write(document.decode("utf-8"))
    else:
        from ordito.ensemble.files import write_whole

        write_whole(Path(out), [document])
        session.note(f"written: {out}")
    return ExitCode.DONE
