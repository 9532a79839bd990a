"""`ordito workflow`: the workflows of the template."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ordito.app.requests import TemplateWorkflowRequest
from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import WORKFLOW_VERBS, VerbGroup
from ordito.cli.job_verb import carry_out, finisher, job_verb
from ordito.cli.job_view import as_text
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.app.workflow_list import ListedWorkflow, ShownInput, ShownStep
    from ordito.app.workflow_run import WorkflowRequest
    from ordito.results.topology import WorkflowData, WorkflowListData


workflow_command = VerbGroup("workflow", WORKFLOW_VERBS, {}, "Show the workflows of the template, and run them.")


@verb("list", named="workflow list")
def list_command(session: Session) -> ExitCode:
    """List the workflows of the deployed service, and those that every service has.

    A workflow of the template with the name deploy or undeploy replaces the one that Ordito makes."""
    from ordito.results.answer import Asked
    from ordito.results.topology import WORKFLOWS

    session.show(session.ask(WORKFLOWS, Asked()), _list)
    return ExitCode.DONE


def _list(found: WorkflowListData, channel: Channel) -> None:
    write_columns(("WORKFLOW", "INPUTS", "WHERE", "DESCRIPTION"), list(map(_row, found.workflows)), channel)


def _row(workflow: ListedWorkflow) -> tuple[str, ...]:
    where = workflow.place or "made for every service"
    where += f" (replaces the {workflow.replaces} that Ordito makes)" if workflow.replaces else ""
    texts = (workflow.name, " ".join(workflow.inputs), where, workflow.description)
    return tuple(printable(text) for text in texts)


@verb("show", named="workflow show")
@click.argument("name")
def show_command(session: Session, name: str) -> ExitCode:
    """Show a workflow of the deployed service: its inputs, its preconditions, and its steps.

    NAME is one that `ordito workflow list` shows. `ordito plan workflow NAME` shows what it would do now."""
    from ordito.results.topology import WORKFLOW, NamedAsked

    session.show(session.ask(WORKFLOW, NamedAsked(name)), _write)
    return ExitCode.DONE


def _write(workflow: WorkflowData, channel: Channel) -> None:
    channel.line(channel.paint("strong", printable(f"Workflow {workflow.name}")))
    instead = f"{workflow.replaces}, which Ordito makes otherwise" if workflow.replaces else ""
    for name, value in (
        ("description", workflow.description),
        ("where", workflow.place),
        ("instead of", instead),
        ("carried out by", workflow.implementation),
    ):
        if value:
            channel.line(printable(f"  {name:<14} {value}"))
    _section("inputs", [_input(i) for i in workflow.inputs], channel)
    _section("preconditions", list(workflow.preconditions), channel)
    for step in workflow.steps:
        _step(step, channel)
    _section("outputs", [f"{n}: {' '.join(map(str, path))}" for n, path in workflow.outputs.items()], channel)


def _section(title: str, lines: list[str], channel: Channel) -> None:
    if lines:
        channel.line(f"  {title}")
        for line in lines:
            channel.line(printable(f"    {line}"))


def _input(found: ShownInput) -> str:
    said = "required" if found.required else ""
    if found.default is not None:
        said = f"default {as_text(found.default)}"
    about = f": {found.description}" if found.description else ""
    return f"{found.name} ({', '.join(part for part in (found.type, said) if part)}){about}"


def _step(step: ShownStep, channel: Channel) -> None:
    about = f"{step.target}.{step.relationship}" if step.relationship else step.target
    on = f" on {about}" if about else ""
    at = f", at {step.operation_host}" if step.operation_host else ""
    channel.line(printable(f"  step {step.name}{on}{at}"))
    if step.filter:
        channel.line(printable(f"    if {step.filter}"))
    for activity in step.activities:
        channel.line(printable(f"    {activity}"))
    if step.on_success:
        channel.line(printable(f"    then {', '.join(step.on_success)}"))
    if step.on_failure:
        channel.line(printable(f"    on failure {', '.join(step.on_failure)}"))


@job_verb(TemplateWorkflowRequest, named="workflow run")
def run_command(session: Session, request: WorkflowRequest) -> ExitCode:
    """Run a workflow of the deployed template.

    Its preconditions are checked before anything runs. -i and -I give its inputs; operations that it calls get these
    rather than those of the topology. After a failed step no other one starts, except those that the workflow has for
    that (on_failure). Even if the failure was handled in this way, the job has failed and the exit code is 1."""
    return carry_out(session, request, finisher(request.wanted.workflow))
