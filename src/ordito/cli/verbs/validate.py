"""`ordito validate`."""

from __future__ import annotations

import click

from ordito.app.given_inputs import GivenInputs
from ordito.app.validate import ValidateRequest, ValidateResult, validate
from ordito.cli.channel import Channel
from ordito.cli.diagnostics import as_json
from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.lines import plural
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """Check SERVICE (a definitions file, or a folder that holds one) and the inputs given with it.

Without SERVICE, the one of the ensemble is checked, or where there is no ensemble that in the current directory.
Nothing is touched, and no ensemble is needed."""


@verb("validate", HELP, takes_inputs=True)
@click.argument("service", required=False)
def command(session: Session, service: str | None, inputs: GivenInputs) -> ExitCode:
    """Check a service."""
    result = validate(ValidateRequest(service or "", inputs, session.settings.directory))
    if session.stream is not None or session.writes_text:
        session.diagnostics(result.diagnostics)
    session.result(_data(result), lambda channel: _text(result, channel))
    return ExitCode.DONE


def _data(result: ValidateResult) -> dict[str, object]:
    return {
        "valid": True,
        "service": result.name,
        "nodes": result.nodes,
        "relationships": result.relationships,
        "inputs": list(result.inputs),
        "outputs": list(result.outputs),
        "diagnostics": as_json(result.diagnostics),
    }


def _text(result: ValidateResult, channel: Channel) -> None:
    found = f"{plural(result.nodes, 'node')}, {plural(result.relationships, 'relationship')}"
    channel.line(f"{result.name} is valid: {found}")
