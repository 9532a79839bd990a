"""Verbs that begin a job, given to the workers of a store: the plan is made and asked about here, and one of them makes
it again and carries it out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from ordito.app.errors import Declined, Refused
from ordito.app.requests import DescriptionRequest, GivenInputs, Request
from ordito.app.saved_plan import SavedPlanRequest, is_saved_plan
from ordito.app.stores import queue_item
from ordito.app.unattended import made_plan
from ordito.app.work_items import AskedRequest, PlanItem
from ordito.app.workflow_run import WorkflowRequest, WorkflowResult
from ordito.base.sensitive import is_sensitive
from ordito.base.text import listed
from ordito.cli.conversation import CliConversation
from ordito.cli.exit_codes import ExitCode
from ordito.cli.in_store import store_request
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.client.asked import asked_request
from ordito.ensemble.owner import current_user
from ordito.ensemble.store import read_ensemble
from ordito.results.workers import ItemData
from ordito.work.records import AskedBy

Finish = Callable[[WorkflowResult, CliConversation, Session], ExitCode]


def queue(session: Session, request: WorkflowRequest, finish: Finish) -> ExitCode:
    """Plan, ask, and leave it to the workers of the store."""
    settings = session.settings
    if request.hosts is not None:
        raise Refused("local-only", "--hosts names a file of this machine, and a worker carries it out", "leave it out")
    asked = _asked(request.wanted, request.environment)
    made = made_plan(settings.directory, asked, is_seen=True)
    conversation = CliConversation(session)
    if made is None or made.proposal.is_empty:
        with read_ensemble(settings.directory) as ensemble:
            before = ensemble.status
        return finish(WorkflowResult(made.proposal if made is not None else None, before), conversation, session)
    secret = [name for name, value in made.proposal.inputs.asked.items() if is_sensitive(value)]
    if secret and not settings.key:
        raise Refused(
            "local-only",
            f"these inputs are sensitive, and are sealed with the key of the workers in a store: {listed(secret)}",
            "name its file with --key FILE; `ordito store init --key FILE` makes one",
        )
    conversation.found(made.proposal.diagnostics)
    if not conversation.approve(made.proposal):
        raise Declined
    item = PlanItem(
        "",
        asked,
        AskedBy(current_user()),
        request.options,
        was_seen=not settings.yes,
        most_risks=None if settings.yes else tuple(made.risks),
    )
    queued = queue_item(store_request(settings, settings.ensemble), item, item.by.by, _package(request.wanted))
    session.note(f"Item {queued} waits for the workers of the store.")
    session.show(ItemData(queued, "waiting"), lambda one, channel: channel.line(one.item))
    session.next(NextCommand(settings.command("queue", "follow", queued), "wait for its end"))
    return ExitCode.DONE


def _package(wanted: Request) -> bytes:
    """The archive of the service that a command names, which the worker may not have; empty for none."""
    if not isinstance(wanted, DescriptionRequest) or not wanted.service:
        return b""
    from ordito.authoring.package import PackageRequest
    from ordito.client.packages import archived

    return archived(wanted.service, PackageRequest("", choices=wanted.choices, hooks=wanted.hooks))


def _asked(wanted: Request, environment: str | None) -> AskedRequest:
    """The request as plain data. Raises ``Refused`` for what names files that a worker does not have."""
    if isinstance(wanted, SavedPlanRequest) or (
        isinstance(wanted, DescriptionRequest) and wanted.service and is_saved_plan(wanted.service)
    ):
        raise Refused("local-only", "a saved plan is carried out where it was made", "leave --detach out")
    said = msgspec.convert(asked_request(wanted), _Said)
    if isinstance(wanted, DescriptionRequest) and wanted.service:
        wanted = msgspec.structs.replace(wanted, service=str(Path(wanted.service).absolute()))
    if isinstance(given := getattr(wanted, "inputs", None), GivenInputs):
        # What is forgotten is no value.
        wanted = msgspec.structs.replace(wanted, inputs=GivenInputs(forgotten=given.forgotten))
    fields: dict[str, object] = msgspec.to_builtins(wanted)
    return AskedRequest(wanted.WORKFLOW, fields, said.inputs, environment, said.input_texts)


class _Said(msgspec.Struct, frozen=True):
    inputs: dict[str, object] = {}
    input_texts: dict[str, str] = {}
