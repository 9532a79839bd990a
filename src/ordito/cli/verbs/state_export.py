"""`ordito state export`."""

from __future__ import annotations

import click

from ordito.cli.delivery import deliver, out_option
from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.cli.settings import Format
from ordito.cli.structured import json_text
from ordito.cli.verb import verb

HELP = """Write everything that is recorded as JSON, or with -o yaml as YAML: instances, links, attributes, inputs,
outputs and counts. Sensitive values are not shown."""


@verb("export", HELP, named="state export")
@click.argument("names", nargs=-1, metavar="[INSTANCE|NODE]...")
@out_option
def command(session: Session, names: tuple[str, ...], out: str) -> ExitCode:
    """Export the records."""
    from ordito.app.state.show import StateRequest, export

    found = export(StateRequest(session.settings.directory, names))
    if session.stream is not None and not out:
        session.stream.say("result", {"result": found})
        return ExitCode.DONE
    if session.settings.output is Format.YAML:
        from ordito.ensemble.yaml_writer import block

        text = "".join(block(found))
    else:
        text = json_text(found, indent=2) + "\n"
    return deliver(session, text.encode(), out)
