"""Results that are documents of their own: to standard output, or with ``--out`` into a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session

F = TypeVar("F", bound=Callable[..., Any])

STANDARD_OUTPUT = ("", "-", "/dev/stdout")
"""The values of ``--out`` that mean standard output."""


def out_option(function: F) -> F:
    """Add the option of verbs that write a document; the verb gets it as ``out``."""
    return click.option("--out", metavar="FILE", default="", help="Write to this file instead of standard output (-).")(
        function
    )


def deliver(session: Session, document: bytes, out: str, sources: Sequence[str] = ()) -> ExitCode:
    """Write a document, completely or not at all, and never over one of the ``sources`` that it was made from. Raises
    ``Refused`` where it cannot be written."""
    if out in STANDARD_OUTPUT:
        session.out.write(document.decode("utf-8"))
    else:
        from ordito.app.output_file import write_document
        from ordito.app.place import place_of

        manifest = place_of(session.settings.directory).layout.manifest
        write_document(out, document, (*sources, str(manifest)))
        session.note(f"written: {out}")
    return ExitCode.DONE
