"""`ordito output`."""

from __future__ import annotations

import click

from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_view import as_text, write_outputs
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """Show the outputs of the service as things are now.

With NAME, its bare value and nothing else, so that a script can use it. What is sensitive is not shown, unless you ask
for one output with --reveal."""


@verb("output", HELP)
@click.argument("name", required=False)
@click.option("--reveal", is_flag=True, help="Show the value of NAME though it is sensitive.")
def command(session: Session, name: str | None, reveal: bool) -> ExitCode:
    """Show outputs."""
    from ordito.app.output import OutputRequest, output

    if reveal and not name:
        raise click.UsageError("--reveal shows one output: name it")
    result = output(OutputRequest(session.settings.directory, name or "", reveal))
    found = result.outputs
    if result.caveat:
        session.warn(f"these are the outputs as the last job left them: {result.caveat}")

    def text(channel: Channel) -> None:
        if name:
            channel.line(as_text(found[name]))
        else:
            write_outputs(found, channel)

    session.result(dict(found), text, bare=True)
    return ExitCode.DONE
