"""`ordito diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ordito.cli.asked.upgrade import asked
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.app.proposals.upgrade import UpgradeAsked

HELP = """Show what is different between what is recorded as deployed and what a service says. Nothing is changed.

NEW is a definitions file, a folder that holds one, or an archive; without it, the ensemble's own service. For each node
it says what `ordito upgrade` would do with its instances (added, removed, replace, update, reconfigure, restart,
relink, scale, adopt), because of what, and which operations would run."""


@verb("diff", HELP, takes_inputs=True)
@asked
@click.option("--full", is_flag=True, help="Leave nothing out, however long it gets.")
@click.option(
    "--detailed-exitcode", is_flag=True, help="End with 2 where there are differences, 0 where there are none."
)
def command(session: Session, asked: UpgradeAsked, *, full: bool, detailed_exitcode: bool) -> ExitCode:
    """Compare."""
    from ordito.app.diff import diff_of
    from ordito.app.given_changes import words_of_changes
    from ordito.app.plan import PlanRequest, plan
    from ordito.cli.diff_view import diff_data, write_diff
    from ordito.cli.progress.report import NextCommand
    from ordito.cli.text_width import printable

    settings = session.settings
    result = plan(PlanRequest(settings.directory, asked, settings.wanted_environment, hosts=settings.hosts))
    if result.unfinished:
        session.warn(f"job {result.unfinished} is not finished; things are compared as they are now")
    proposal = result.proposal
    assert proposal is not None  # What nothing is deployed for is refused.
    session.diagnostics(proposal.diagnostics)
    found = diff_of(proposal)
    against = proposal.read.package.shown(proposal.read.package.main)
    data = {**diff_data(found), "unfinished": result.unfinished}

    def text(channel: Channel) -> None:
        if found.is_empty:
            channel.line(f"No differences: what is recorded as deployed is what {printable(against)} says.")
        else:
            write_diff(found, against, channel, full=full)

    session.result(data, text)
    if result.unfinished:
        session.next(NextCommand(settings.command("jobs", "resume"), "carry on with that job"))
    elif not found.is_empty:
        words = ["upgrade", asked.service] if asked.service else ["upgrade"]
        words += [*words_of_changes(asked.changes, asked.hooks), *asked.part.words]
        words += [word for name in asked.inputs.forgotten for word in ("--forget-input", name)]
        words += [
            flag for flag, is_given in (("--force", asked.force), ("--reset-counts", asked.reset_counts)) if is_given
        ]
        purpose = "do this" if asked.inputs.is_empty else "do this, with the same values of inputs"
        session.next(NextCommand(settings.command(*words), purpose))
    return ExitCode.CHANGES if detailed_exitcode and not found.is_empty else ExitCode.DONE
