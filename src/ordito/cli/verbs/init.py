"""`ordito init`."""

from __future__ import annotations

import shlex

import click

from ordito.app.init import InitRequest, init
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """Make a new project in DIR (default: the current directory): a small service that deploys at once.

No file is overwritten."""


@verb("init", HELP)
@click.argument("directory", metavar="[DIR]", default=".")
@click.option("--template", default="hello", show_default=True, help="What to begin with.")
def command(session: Session, directory: str, template: str) -> ExitCode:
    """Make a new project."""
    made = init(InitRequest(directory, template))

    def text(channel: Channel) -> None:
        for file in made.files:
            channel.line(f"made {file}" if directory == "." else f"made {directory}/{file}")

    session.result({"directory": made.directory, "files": list(made.files)}, text)
    begin = "" if directory == "." else f"cd {shlex.quote(directory)} && "
    deploy = session.settings.plain_command("deploy")
    session.next(NextCommand(f"{begin}{deploy}", "deploy it; ensemble.yaml says what, and will say what exists"))
    return ExitCode.DONE
