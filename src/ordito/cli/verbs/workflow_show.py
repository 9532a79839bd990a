"""`ordito workflow show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import msgspec

from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_view import as_text
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.app.workflow_list import ShownInput, ShownStep, ShownWorkflow

HELP = """Show a workflow of the service that is deployed: what it takes, what it asks for, and its steps.

NAME is one that `ordito workflow list` shows. What it would do now is shown by `ordito plan workflow NAME`."""


@verb("show", HELP, named="workflow show")
@click.argument("name")
def command(session: Session, name: str) -> ExitCode:
    """Show a workflow."""
    from ordito.app.workflow_list import show_workflow

    found = show_workflow(session.settings.directory, name)
    session.result(msgspec.to_builtins(found), lambda channel: _write(found, channel))
    return ExitCode.DONE


def _write(workflow: ShownWorkflow, channel: Channel) -> None:
    channel.line(channel.paint("strong", printable(f"Workflow {workflow.name}")))
    instead = f"{workflow.replaces}, which is made otherwise" if workflow.replaces else ""
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
