"""`ordito state adopt`."""

from __future__ import annotations

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import commit_option, wait_lock_option
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.settings import refused_value
from ordito.cli.verb import verb

HELP = """Record something that exists already as the next instance of NODE: as made and started, and nothing is run.

The template says what the node is. This ensemble did not create it: undeploying keeps it unless that is asked for."""


@verb("adopt", HELP, named="state adopt")
@click.argument("node", metavar="NODE")
@click.option(
    "-a",
    "--attribute",
    "attributes",
    metavar="NAME=VALUE",
    multiple=True,
    help="An attribute's value; may be repeated.",
)
@wait_lock_option
@commit_option("auto")
def command(session: Session, node: str, attributes: tuple[str, ...], wait_lock: float, commit: str) -> ExitCode:
    """Adopt."""
    from ordito.app.state.adopt import AdoptRequest, adopt
    from ordito.cli.conversation import CliConversation
    from ordito.cli.kept_view import recorded_data, write_kept

    request = AdoptRequest(session.settings.directory, node, _values(attributes), wait_lock, commit)
    done = adopt(request, CliConversation(session))
    session.note(f"{done.instance} is recorded as made and started; job {done.recorded.job}.")
    write_kept(done.recorded.kept, session)
    session.result({**recorded_data(done.recorded), "instance": done.instance}, lambda _: None)
    session.next(
        NextCommand(session.settings.command("describe", done.instance), "see what is recorded of it"),
        NextCommand(session.settings.command("plan"), "see what deploying would do now"),
    )
    return ExitCode.DONE


def _values(given: tuple[str, ...]) -> dict[str, str]:
    values: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f'"{text}" is not of the form NAME=VALUE')
        if wrong := refused_value(value):
            raise click.UsageError(f"-a {name.strip()}={wrong}")
        values[name.strip()] = value
    return values
