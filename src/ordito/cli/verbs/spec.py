"""`ordito spec`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ordito.base.diagnostics import Severity
from ordito.cli.channel import Channel
from ordito.cli.columns import write_columns
from ordito.cli.diagnostics import as_json
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_view import as_text
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.app.show_spec import SpecResult

HELP = """Show what your part of ensemble.yaml comes to now: merged, evaluated, in the environment that is worked in.

Secrets are not shown. Nothing is changed."""


@verb("spec", HELP)
def command(session: Session) -> ExitCode:
    """Show the user's part."""
    from ordito.app.show_spec import SpecRequest, show_spec

    found = show_spec(SpecRequest(session.settings.directory, session.settings.wanted_environment))
    session.diagnostics(found.found)
    session.result(_data(found), lambda channel: _text(found, channel))
    failed = any(d.severity is Severity.ERROR for d in found.found)
    return ExitCode.REFUSED if failed else ExitCode.DONE


def _data(found: SpecResult) -> dict[str, object]:
    return {
        "service": found.service,
        "environment": found.environment,
        "environments": list(found.environments),
        "inputs": {name: msgspec.to_builtins(value) for name, value in found.inputs.items()},
        "variables": dict(found.variables),
        "lock": found.lock,
        "files": list(found.files),
        "diagnostics": as_json(found.found),
    }


def _text(found: SpecResult, channel: Channel) -> None:
    channel.line(f"service      {printable(found.service or 'none is named')}")
    others = [name for name in found.environments if name != found.environment]
    also = f"  (there are also: {', '.join(others)})" if others else ""
    channel.line(f"environment  {printable((found.environment or 'none') + also)}")
    channel.line(f"lock         {found.lock}")
    for file in found.files:
        channel.line(f"merged in    {printable(file)}")
    if found.inputs:
        rows = [(name, as_text(value.value), value.origin) for name, value in found.inputs.items()]
        write_columns(("INPUT", "VALUE", "FROM"), rows, channel)
    if found.variables:
        write_columns(("VARIABLE", "VALUE"), [(n, as_text(v)) for n, v in found.variables.items()], channel)
