"""`ordito package`."""

from __future__ import annotations

import click

from ordito.app.given_changes import GivenHooks
from ordito.app.given_choices import GivenChoices
from ordito.cli.change_options import step_options
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import choice_options, fetch_option
from ordito.cli.progress.lines import plural
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """Pack DIR, which holds a service template, into an archive (CSAR). Without DIR the current folder is packed.

The service is checked first, as strictly as for a deployment, and the archive is read again before it is put in its
place. All files below DIR come along, except hidden ones, ensembles with their secrets, keys,
inputs.yaml and hosts.yaml, and other archives. DIR may also be a
definitions file: then its folder is packed, with that file as its entry. The blocks of lifecycle steps come along from
wherever they are. The same files make the same archive."""


@verb("package", HELP)
@click.argument("service", metavar="[DIR]", default=".")
@click.option("--out", metavar="FILE", default="", help="The archive to make (default: DIR.csar).")
@click.option(
    "--other",
    "others",
    metavar="FILE",
    multiple=True,
    help="A definitions file below DIR for substitution; may be repeated.",
)
@click.option("--created-by", metavar="NAME", default="", help="Who makes it (default: the template_author).")
@click.option("--only-named", is_flag=True, help="Leave out files that the service does not name.")
@fetch_option
@choice_options
@step_options
def command(  # noqa: PLR0913  (one for each option)
    session: Session,
    service: str,
    out: str,
    others: tuple[str, ...],
    created_by: str,
    *,
    only_named: bool,
    fetch: bool,
    choices: GivenChoices,
    hooks: GivenHooks,
) -> ExitCode:
    """Pack a service."""
    from ordito.app.package import PackageRequest, package

    made = package(PackageRequest(service, out, others, created_by, only_named, fetch, choices, hooks))
    session.diagnostics(made.diagnostics)

    def text(channel: Channel) -> None:
        channel.line(f"packed {plural(len(made.files), 'file')} into {made.archive}")

    session.result(
        {"archive": made.archive, "sha256": made.sha256, "entry": made.entry, "files": list(made.files)}, text
    )
    session.next(NextCommand(session.settings.command("deploy", made.archive), "deploy it, here or elsewhere"))
    return ExitCode.DONE
