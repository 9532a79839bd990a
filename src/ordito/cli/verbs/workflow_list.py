"""`ordito workflow list`."""

from __future__ import annotations

import msgspec

from ordito.cli.channel import Channel
from ordito.cli.columns import write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

HELP = """List the workflows of the service that is deployed, and those that every service has.

A workflow of the template that is named deploy or undeploy takes the place of the one that is made."""


@verb("list", HELP, named="workflow list")
def command(session: Session) -> ExitCode:
    """List workflows."""
    from ordito.app.workflow_list import ListedWorkflow, list_workflows

    found = list_workflows(session.settings.directory)

    def row(workflow: ListedWorkflow) -> tuple[str, ...]:
        where = workflow.place or "made for every service"
        where += f" (instead of the {workflow.replaces} that is made)" if workflow.replaces else ""
        texts = (workflow.name, " ".join(workflow.inputs), where, workflow.description)
        return tuple(printable(text) for text in texts)

    def text(channel: Channel) -> None:
        write_columns(("WORKFLOW", "INPUTS", "WHERE", "DESCRIPTION"), [row(w) for w in found], channel)

    session.result({"workflows": [msgspec.to_builtins(w) for w in found]}, text)
    return ExitCode.DONE
