"""`ordito deploy`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordito.cli.asked.deploy import asked
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import making_options
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.work.records import JobOptions
from ordito.work.workflows import UPGRADE

if TYPE_CHECKING:
    from ordito.app.proposal import Asked
    from ordito.app.workflow_run import WorkflowResult
    from ordito.cli.conversation import CliConversation

HELP = """Bring the running system to its description.

SERVICE is a definitions file, a folder that holds one, or an archive. The first deployment makes the ensemble: a
directory that knows the service, its inputs, and everything that exists. Later ones need no SERVICE. Inputs given
later are remembered until ensemble.yaml says something else. What is done already is not done again; what runs and is
wanted otherwise is changed (`ordito diff` shows how), and what the service has lost is kept unless --prune is given.

SERVICE may also be a plan that `ordito plan --out FILE` has saved, whatever its workflow: exactly that plan is carried
out, or none if what it depends on is different now."""


@verb("deploy", HELP, takes_inputs=True)
@asked
@making_options
def command(session: Session, asked: Asked, options: JobOptions, wait_lock: float) -> ExitCode:
    """Deploy."""
    from ordito.app.workflow_run import WorkflowRequest, run_workflow
    from ordito.cli.conversation import CliConversation
    from ordito.cli.planned import environment_for, finisher, hosts_for

    conversation = CliConversation(session)
    request = WorkflowRequest(
        session.settings.directory,
        asked,
        options,
        wait_lock,
        environment_for(asked, session.settings.wanted_environment),
        hosts_for(asked, session.settings),
    )
    result = run_workflow(request, conversation)
    # A saved plan may be one of another workflow.
    return finisher(asked.workflow)(result, conversation, session)


def finish(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    """Say what came of a deployment."""
    from ordito.cli.job_view import exit_code, report_data, suggest, write_outputs, write_report

    report = result.report
    if report is None:
        return _nothing_to_do(result, session)
    write_report(report, conversation.ledger, session)
    code = exit_code(report)
    is_complete = code is ExitCode.DONE
    session.result(report_data(report), lambda channel: write_outputs(report.outputs, channel, complete=is_complete))
    suggest(report, session)
    return code


def _nothing_to_do(result: WorkflowResult, session: Session) -> ExitCode:
    from ordito.cli.job_view import suggest_looking, warn_of_changed_inputs, write_outputs
    from ordito.cli.plan_view import write_kept, write_left_out

    outputs = result.before.outputs
    service = result.proposal.service.name if result.proposal is not None else ""
    changed = result.proposal.changed_inputs if result.proposal is not None else ()
    upgrades = result.proposal is not None and result.proposal.workflow == UPGRADE
    plan = result.proposal.plan if result.proposal is not None else None
    nothing = "Nothing to change" if upgrades else "Nothing to do"
    what = f"what was named of {service}" if plan is not None and plan.is_part else service
    session.note(f"{nothing}: by the record {what} is as it should be. No operation was run, no file was changed.")
    if plan is not None and plan.is_part:
        write_left_out(plan, session.err)
    if plan is not None:
        write_kept(plan.kept, session.err)
    for warning in result.proposal.plan.warnings if result.proposal is not None else ():
        session.note(warning)  # It says itself that it is a warning.
    if changed:
        warn_of_changed_inputs(changed, session)
    if result.ignored:
        names = ", ".join(result.ignored)
        session.note(f"These inputs change nothing that exists, so they were not remembered: {names}")
    data = {
        "job": None,
        "workflow": result.proposal.workflow if result.proposal is not None else "deploy",
        "status": "ok",
        "outputs": outputs,
        "changed_inputs": list(changed),
    }
    session.result(data, lambda channel: write_outputs(outputs, channel))
    if result.proposal is not None:
        suggest_looking(result.proposal, session)
    return ExitCode.DONE
