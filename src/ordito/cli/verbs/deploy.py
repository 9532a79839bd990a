"""The verbs that change what is deployed: `ordito deploy`, `upgrade`, `rollback` and `undeploy`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec import UNSET

from ordito.app.requests import DeployRequest, RollbackRequest, UndeployRequest, UpgradeRequest
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_verb import carry_out, finisher, job_verb
from ordito.cli.session import Session
from ordito.work.workflows import UPGRADE

if TYPE_CHECKING:
    from ordito.app.workflow_run import WorkflowRequest, WorkflowResult
    from ordito.cli.conversation import CliConversation


@job_verb(DeployRequest)
def deploy_command(session: Session, request: WorkflowRequest) -> ExitCode:
    """Bring the running system to its description.

    SERVICE is a definitions file, a folder that holds one, or an archive. The first deployment makes the ensemble: a
    directory that records the service, its inputs, and everything that exists. Later ones need no SERVICE. Inputs that
    are given later are remembered until ensemble.yaml says something else. What is done is not done again. What runs
    and is now described differently is changed (`ordito diff` shows how). What is no longer in the service is kept
    unless --prune is given.

    SERVICE may also be a plan that `ordito plan --out FILE` has saved, whatever its workflow: exactly that plan is
    carried out, or nothing if what it depends on has changed."""
    # A saved plan may be one of another workflow.
    return carry_out(session, request, finisher(request.wanted.workflow))


def finish_deploy(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    """Report the end of a deployment."""
    from ordito.cli.job_view import exit_code, show_end, suggest, write_report

    report = result.report
    if report is None:
        return _nothing_to_do(result, session)
    write_report(report, conversation.ledger, session)
    show_end(report, session)
    suggest(report, session)
    return exit_code(report)


def _nothing_to_do(result: WorkflowResult, session: Session) -> ExitCode:
    from ordito.cli.job_view import suggest_looking, warn_of_changed_inputs, write_outputs
    from ordito.cli.plan_view import write_kept, write_left_out
    from ordito.results.jobs import NoJobData, shown_outputs
    from ordito.results.plan import plan_data

    outputs = result.before.outputs
    service = result.proposal.service.name if result.proposal is not None else ""
    changed = result.proposal.inputs.changed if result.proposal is not None else ()
    upgrades = result.proposal is not None and result.proposal.workflow == UPGRADE
    plan = result.proposal.plan if result.proposal is not None else None
    nothing = f"Nothing to {'change' if upgrades else 'do'}: according to the records"
    what = f"the named part of {service}" if plan is not None and plan.summary.is_part else service
    session.note(f"{nothing} {what} is as described. No operation was run, no file was changed.")
    if result.proposal is not None and result.proposal.plan.summary.is_part:
        write_left_out(plan_data(result.proposal, whole=False), session.err)
    if plan is not None:
        write_kept(plan.summary.kept, session.err)
    for warning in result.proposal.plan.summary.warnings if result.proposal is not None else ():
        session.note(warning)  # It says itself that it is a warning.
    if changed:
        warn_of_changed_inputs(changed, session)
    if result.ignored:
        names = ", ".join(result.ignored)
        session.note(f"These inputs change nothing that exists, so they are not remembered: {names}")
    workflow = result.proposal.workflow if result.proposal is not None else "deploy"
    found = NoJobData(workflow=workflow, outputs=shown_outputs(outputs), changed_inputs=tuple(changed))
    session.show(found, lambda one, channel: write_outputs(one.outputs or {}, channel))
    if result.proposal is not None:
        suggest_looking(result.proposal, session)
    return ExitCode.DONE


@job_verb(UpgradeRequest)
@click.option("--explain", is_flag=True, help="First show what is different, why, and what runs for it.")
def upgrade_command(session: Session, request: WorkflowRequest, *, explain: bool) -> ExitCode:
    """Change what runs into what a service says now.

    NEW is a definitions file, a folder that holds one, or an archive. From then on it is the ensemble's service, until
    ensemble.yaml names another one; without NEW the ensemble's own service is read again. What has changed is changed
    with as few operations as possible (`ordito diff` shows them), what is new is added, and what is no longer in the
    service is removed last.

    After a failure nothing that depends on it is done. Continue with `ordito jobs resume`, with `ordito upgrade` again,
    or with `ordito rollback`. With --on-failure rollback the job undoes everything by itself."""
    return carry_out(session, request, finish_upgrade, explains=explain)


def finish_upgrade(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    """Report the end of an upgrade."""
    return finish_deploy(result, conversation, session)


MOST_NAMED = 12


@job_verb(RollbackRequest)
def rollback_command(session: Session, request: WorkflowRequest) -> ExitCode:
    """Go back to an earlier revision: change what runs into what it was then, with the files and inputs of that time.

    REVISION is a number that `ordito revisions` shows. Without it, what was begun after the last complete revision is
    undone; if nothing was, the target is the last revision that deployed something else (a repeated deployment of the
    same, as a repair, does not count). What lifecycle steps have done since then is undone, newest first, before and
    after the changes to the resources; no lifecycle step is carried out."""
    return carry_out(session, request, finish_rollback)


def finish_rollback(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    """Report the end of a rollback."""
    from ordito.app.rollback_leftovers import leftovers
    from ordito.cli.job_view import exit_code, show_end, suggest, write_report
    from ordito.cli.progress.report import NextCommand
    from ordito.cli.text_width import printable
    from ordito.results.jobs import NoJobData

    report = result.report
    if report is None:
        said = "according to the records, what runs is what was deployed then"
        session.note(f"Nothing to do: {said}. No operation was run, no file was changed.")
        session.show(NoJobData(workflow="rollback"))
        return ExitCode.DONE
    write_report(report, conversation.ledger, session)
    code = exit_code(report)
    # What is different at a server is seen there.
    is_here = not session.settings.wanted_server
    left = leftovers(session.settings.directory) if code is ExitCode.DONE and is_here else ()
    show_end(report, session, different=left or UNSET)
    if left:
        session.warn("not everything is as it was then:")
        for what in left[:MOST_NAMED]:
            session.note(f"  {printable(what)}")
        session.next(NextCommand(session.settings.command("diff"), "see what is different"))
        return ExitCode.ROLLBACK_INCOMPLETE
    suggest(report, session)
    return code


@job_verb(UndeployRequest)
def undeploy_command(session: Session, request: WorkflowRequest) -> ExitCode:
    """Remove everything that was deployed, with the service as it was deployed last.

    It continues after failures: everything that can be removed is removed, and every failure is listed."""
    return carry_out(session, request, finish_undeploy)


def finish_undeploy(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    """Report the end of a removal."""
    from ordito.cli.job_view import exit_code, show_end, show_kept, suggest, warn_of_orphans, write_report
    from ordito.results.jobs import NoJobData

    report = result.report
    staying = result.proposal.plan.summary.kept if result.proposal is not None else result.kept
    if report is None:
        kept = result.proposal.orphans if result.proposal is not None else ()
        reason = "the service that was deployed has no instances" if kept else "nothing is deployed"
        reason = "everything that exists is kept" if staying else reason
        session.note(f"Nothing to do: {reason}.")
        if kept:
            warn_of_orphans(kept, session)
        show_kept(staying, session)
        names = (*kept, *(change.instance for change in staying))
        session.show(NoJobData(workflow="undeploy", kept=names))
        return ExitCode.DONE
    write_report(report, conversation.ledger, session)
    show_kept(staying, session)
    if report.written and report.after.left > len(staying):
        left = report.after.left - len(staying)
        records = "1 instance keeps its record" if left == 1 else f"{left} instances keep their records"
        session.warn(f"{records}: the template's own undeploy has neither deleted them nor set their state to deleted")
    show_end(report, session, with_outputs=False, kept=tuple(change.instance for change in staying))
    suggest(report, session)
    return exit_code(report)
