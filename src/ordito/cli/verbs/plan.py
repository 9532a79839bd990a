"""The verbs that show what would be done: `ordito plan` and `ordito diff`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from ordito.app.requests import REQUESTS, Request, UpgradeRequest
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_verb import environment_for, hosts_for
from ordito.cli.planned import PlanCommand
from ordito.cli.request_options import takes
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.work.workflows import workflow_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ordito.app.proposal import Proposal
    from ordito.base.diagnostics import Diagnostic
    from ordito.results.answer import Result
    from ordito.results.diff import DiffData
    from ordito.results.given import ComparedData
    from ordito.results.plan import PlanData


PLAN_HELP = """Show what a command would do, and why. Nothing is changed.

`ordito plan` plans a deployment; `ordito plan WORKFLOW` another workflow, with the arguments of its verb: {workflows}.

{about}"""


def _make(workflow: str, kind: type[Request]) -> click.Command:
    """The command that plans one workflow."""
    text = PLAN_HELP.format(workflows=", ".join(REQUESTS), about=kind.about)

    @verb("plan", text, takes_inputs="inputs" in kind.__struct_fields__, named=f"plan {workflow}")
    @takes(kind)
    @click.option("--summary", is_flag=True, help="Show what happens to each node, without the order.")
    @click.option("--full", is_flag=True, help="Show every step with its reason.")
    @click.option("--explain", is_flag=True, help="Show the reason of every step, and of everything that it waits for.")
    @click.option("--detailed-exitcode", is_flag=True, help="Exit with 2 if there are changes, 0 if there are none.")
    @click.option("--out", metavar="FILE", default="", help="Save the plan: `ordito deploy FILE` carries it out.")
    def command(
        session: Session,
        request: Request,
        *,
        summary: bool,
        full: bool,
        explain: bool,
        detailed_exitcode: bool,
        out: str,
    ) -> ExitCode:
        """Plan."""
        _check_out(out)
        chosen = [n for n, given in (("--summary", summary), ("--full", full), ("--explain", explain)) if given]
        if len(chosen) > 1:
            raise click.UsageError(f"{' and '.join(chosen)} exclude each other")
        code = _plan(session, request, chosen[0] if chosen else "", out)
        return code if detailed_exitcode or code is not ExitCode.CHANGES else ExitCode.DONE

    return command


plan_command = PlanCommand(_make)


def _check_out(out: str) -> None:
    from ordito.cli.delivery import STANDARD_OUTPUT

    if out and out in STANDARD_OUTPUT:
        raise click.UsageError("a plan is saved to a file; use -o json to write it for programs")


def _plan(session: Session, request: Request, view: str, out: str) -> ExitCode:
    if session.settings.wanted_server:
        from ordito.cli.remote_jobs import plan_there

        return plan_there(session, request, partial(_write, view), out)
    from ordito.app.plan import PlanRequest, plan
    from ordito.results.plan import plan_data

    environment = environment_for(request, session.settings.wanted_environment)
    result = plan(
        PlanRequest(session.settings.directory, request, environment, out, hosts=hosts_for(request, session.settings))
    )
    if result.unfinished:
        session.warn(f"job {result.unfinished} is not finished; this is planned from the current state")
    proposal = result.proposal
    if proposal is None or proposal.is_empty:
        return _nothing_to_do(request.workflow, proposal, session, result.unfinished, out)
    session.diagnostics(proposal.diagnostics)

    # Who reads text does not see the order of very many steps, unless it is to be explained.
    whole = view == "--explain" or not session.writes_text
    session.show(plan_data(proposal, result.unfinished, whole=whole), partial(_write, view))
    _say_saved(out, session)
    return ExitCode.CHANGES


def _write(view: str, found: PlanData, channel: Channel) -> None:
    from ordito.cli.plan_view import Level, write_explanation, write_plan

    if view == "--explain":
        write_explanation(found, channel)
    else:
        write_plan(found, channel, Level(view.removeprefix("--") or "usual"))


def _nothing_to_do(workflow: str, proposal: Proposal | None, session: Session, unfinished: str, out: str) -> ExitCode:
    from ordito.cli.job_view import suggest_looking, warn_of_changed_inputs, warn_of_orphans
    from ordito.results.plan import NothingPlannedData, plan_data

    said = "nothing is deployed"
    if proposal is not None:
        session.diagnostics(proposal.diagnostics)
        for warning in proposal.plan.summary.warnings:
            session.note(warning)  # It says itself that it is a warning.
        if workflow_of(workflow).describes:
            what = f"{'the named part of ' if proposal.plan.summary.is_part else ''}{proposal.service.name}"
            said = f"according to the records {what} is as described"
            if proposal.inputs.changed:
                warn_of_changed_inputs(proposal.inputs.changed, session)
        elif proposal.orphans:
            said = "the service that was deployed has no instances"
            warn_of_orphans(proposal.orphans, session)
        elif proposal.existing:
            said = f"{workflow} would change nothing"
    found: Result = NothingPlannedData(workflow=workflow, unfinished=unfinished)
    if proposal is not None:
        found = plan_data(proposal, unfinished)
    session.show(found, lambda _, channel: channel.line(f"Nothing to do: {said}."))
    if proposal is not None and workflow_of(workflow).describes:
        suggest_looking(proposal, session)
    if proposal is not None:
        _say_saved(out, session)
    return ExitCode.DONE


def _say_saved(out: str, session: Session) -> None:
    if out:
        from ordito.cli.progress.report import NextCommand

        session.note(f"written: {out}")
        session.next(NextCommand(session.settings.command("deploy", out), "carry out exactly this plan"))


@verb("diff", takes_inputs=True)
@takes(UpgradeRequest)
@click.option("--full", is_flag=True, help="Show everything, however long it is.")
@click.option("--detailed-exitcode", is_flag=True, help="Exit with 2 if there are differences, 0 if there are none.")
def diff_command(session: Session, request: UpgradeRequest, *, full: bool, detailed_exitcode: bool) -> ExitCode:
    """Show the differences between what is recorded as deployed and what a service says. Nothing is changed.

    NEW is a definitions file, a folder that holds one, or an archive; without it, the ensemble's own service is used.
    For each node it shows what `ordito upgrade` would do with its instances (added, removed, replace, update,
    reconfigure, restart, relink, scale, adopt), why, and which operations would run."""
    from ordito.cli.diff_view import write_diff
    from ordito.cli.progress.report import NextCommand
    from ordito.cli.text_width import printable

    settings = session.settings
    compared, diagnostics = _compared_there(session, request) if settings.wanted_server else _compared(session, request)
    found, against = compared.diff, compared.against
    if found.unfinished:
        session.warn(f"job {found.unfinished} is not finished; the current state is compared")
    session.diagnostics(diagnostics)

    def write(found: DiffData, channel: Channel) -> None:
        if found.different:
            write_diff(found, against, channel, full=full)
        else:
            channel.line(f"No differences: what is recorded as deployed is what {printable(against)} says.")

    session.show(found, write)
    if found.unfinished:
        session.next(NextCommand(settings.command("jobs", "resume"), "continue that job"))
    elif found.different:
        purpose = "do this" if request.inputs.is_empty else "do this, with the same values of inputs"
        session.next(NextCommand(settings.command(*request.words), purpose))
    return ExitCode.CHANGES if detailed_exitcode and found.different else ExitCode.DONE


def _compared(session: Session, request: UpgradeRequest) -> tuple[ComparedData, Sequence[Diagnostic]]:
    """What differs, and what is to be said of the documents; the lines of these are shown with it."""
    from ordito.app.diff import diff_of
    from ordito.app.plan import PlanRequest, plan
    from ordito.results.diff import diff_data
    from ordito.results.given import compared_data

    settings = session.settings
    result = plan(PlanRequest(settings.directory, request, settings.wanted_environment, hosts=settings.hosts))
    proposal = result.proposal
    assert proposal is not None  # What nothing is deployed for is refused.
    found = diff_data(diff_of(proposal), result.unfinished)
    return compared_data(proposal, found), proposal.diagnostics


def _compared_there(session: Session, request: UpgradeRequest) -> tuple[ComparedData, Sequence[Diagnostic]]:
    from ordito.cli.remote import ensemble_of
    from ordito.cli.remote_jobs import UNNAMED, package_of
    from ordito.client.asked import compared
    from ordito.results.findings import diagnostic_of

    ensemble = ensemble_of(session.settings, session.verb)
    found = compared(ensemble, request, package_of(ensemble, request), session.settings.wanted_environment)
    return found, [diagnostic_of(one) for one in found.diagnostics if one.code != UNNAMED]
