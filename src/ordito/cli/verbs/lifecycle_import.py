"""`ordito lifecycle import`."""

from __future__ import annotations

import os

import click
import msgspec

from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.lines import plural
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """Take the lifecycle steps of a MODULE in CUE, a file or a folder, over into a file of lifecycle steps.

It asks the program `cue`, which you have to have (0.9 or later), on the path or where CUE_EXE says. Put the file beside
the service as lifecycle.json, or give it with --lifecycle."""


@verb("import", HELP, named="lifecycle import")
@click.argument("module", metavar="MODULE")
@click.option("--value", metavar="NAME", default="", help="The value that is the module, where the file is not it.")
@click.option("--out", metavar="FILE", default="", help="Write it to this file instead of standard output.")
def command(session: Session, module: str, value: str, out: str) -> ExitCode:
    """Import steps."""
    from ordito.app.import_steps import ImportRequest, import_steps

    found = import_steps(ImportRequest(module, value, "" if out == "-" else out), os.environ)
    if found.out:
        data = {"out": found.out, "steps": found.steps}
        session.result(data, lambda channel: channel.line(f"{found.out}: {plural(found.steps, 'lifecycle step')}"))
    else:
        steps = msgspec.json.decode(found.text)
        session.result(steps, lambda channel: channel.write(found.text), bare=True)
    return ExitCode.DONE
