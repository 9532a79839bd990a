"""`ordito webhooks`: who is told of the events of a project, over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, TypeVar

import click
import msgspec

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import WEBHOOKS_VERBS, VerbGroup
from ordito.cli.kept_things import in_project, listing, removing, show, showing
from ordito.cli.progress.report import NextCommand
from ordito.cli.served import given_text, in_path, server_of
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.results.webhooks import DeliveriesData, DeliveryData, MadeWebhook, WebhookData, WebhooksData

F = TypeVar("F", bound=Callable[..., Any])

NAMED = "[PROJECT/]ID"
WEBHOOK = in_project("webhooks")

webhooks_command = VerbGroup("webhooks", WEBHOOKS_VERBS, {}, "Webhooks: receivers that a server tells of events.")


def _row(one: WebhookData) -> tuple[str, ...]:
    state = "paused" if one.paused else "posts"
    return one.id, one.url, ", ".join(one.events) or "all", ", ".join(one.ensembles) or "all", state


def _facts(one: WebhookData) -> Iterator[tuple[str, str]]:
    yield "url", one.url
    yield "events", ", ".join(one.events) or "all"
    yield "ensembles", ", ".join(one.ensembles) or "all of the project"
    yield "state", "paused: nothing is posted" if one.paused else "posts"
    yield "made", f"{one.created} by {one.by}"
    yield "secret", (one.secret or "") if isinstance(one, MadeWebhook) else ""


list_command = listing(
    "webhooks",
    WebhookData,
    WebhooksData,
    ("WEBHOOK", "URL", "EVENTS", "ENSEMBLES", "STATE"),
    _row,
    "List the webhooks of a project.",
)
show_command = showing(
    "webhooks show", NAMED, WEBHOOK, WebhookData, _facts, "Show a webhook. Its secret is not given back."
)
remove_command = removing("webhooks remove", NAMED, WEBHOOK, "Remove a webhook, with what waits to be posted to it.")


def _options(function: F) -> F:
    for option in (
        click.option(
            "--secret-file", metavar="FILE", help="Sign what is posted with the secret in this file (- to read)."
        ),
        click.option("--only", "ensembles", metavar="ENSEMBLE", multiple=True, help="Events of it alone; repeatable."),
        click.option("--event", "events", metavar="TYPE", multiple=True, help="Events of this type; repeatable."),
    ):
        function = option(function)
    return function


def _secret(file: str | None) -> str | None:
    return given_text(file, "the secret").rstrip("\r\n") if file else None


@verb("create", named="webhooks create")
@click.argument("project")
@click.argument("url")
@_options
def create_command(
    session: Session,
    project: str,
    url: str,
    events: tuple[str, ...],
    ensembles: tuple[str, ...],
    secret_file: str | None,
) -> ExitCode:
    """Make a webhook of a project: events are posted to URL as JSON, signed with a secret.

    The server makes the secret and it is shown now, and never again; or it is read from a file, or from standard input,
    with --secret-file. Without options it gets all events of all ensembles. What the server may reach is said by its
    setting `egress`."""
    body = {"url": url, "events": events, "ensembles": ensembles, "secret": _secret(secret_file)}
    path = f"/projects/{in_path(project)}/webhooks"
    made = server_of(session).do("POST", path, MadeWebhook, body)
    show(session, made, f"{project}/{made.id}", _facts)
    words = session.settings.command("webhooks", "test", f"{project}/{made.id}")
    session.next(NextCommand(words, "see whether it arrives"))
    return ExitCode.DONE


@verb("change", named="webhooks change")
@click.argument("name", metavar=NAMED)
@click.option("--url", metavar="URL", help="Where events are posted from now on.")
@_options
@click.option("--all-events", is_flag=True, help="Events of all types.")
@click.option("--all-ensembles", is_flag=True, help="Events of all ensembles of the project.")
@click.option("--pause/--resume", "paused", default=None, help="Post nothing, or go on with the oldest event.")
def change_command(
    session: Session,
    name: str,
    secret_file: str | None,
    *,
    all_events: bool,
    all_ensembles: bool,
    **given: Any,
) -> ExitCode:
    """Change a webhook, pause it, or let it go on. What is not named stays as it is."""
    if (given["events"] and all_events) or (given["ensembles"] and all_ensembles):
        raise click.UsageError("--event and --all-events, and --only and --all-ensembles, exclude each other")
    given["secret"] = _secret(secret_file)
    wanted = {field: value for field, value in given.items() if value not in (None, ())}
    wanted |= {"events": ()} if all_events else {}
    wanted |= {"ensembles": ()} if all_ensembles else {}
    if not wanted:
        raise click.UsageError("say what is to be different, as in --pause")
    from ordito.client.edits import edited

    place = WEBHOOK(session, name)
    answer = edited(place.connection, "PATCH", place.path, lambda _: wanted)
    return show(session, msgspec.json.decode(answer.body, type=WebhookData), place.shown, _facts)


DELIVERY = ("DELIVERY", "EVENT", "STATE", "ATTEMPTS", "NEXT", "OUTCOME")


@verb("deliveries", named="webhooks deliveries")
@click.argument("name", metavar=NAMED)
@click.option("--state", type=click.Choice(["waiting", "done"]), help="Only those that wait, or that are done.")
@click.option("--most", type=click.IntRange(min=1), default=50, show_default=True, metavar="N", help="At most so many.")
def deliveries_command(session: Session, name: str, state: str | None, most: int) -> ExitCode:
    """List what was posted to a webhook and what waits, the latest first: for seven days."""
    place = WEBHOOK(session, name)
    query = {"state": state} if state else {}
    rows = place.connection.all(f"{place.path}/deliveries", DeliveryData, query)
    session.show(DeliveriesData(place.shown, tuple(islice(rows, most))), _write_deliveries)
    return ExitCode.DONE


def _write_deliveries(found: DeliveriesData, channel: Channel) -> None:
    rows = [(one.id, one.type, one.state, str(one.attempts), one.next or "-", one.outcome) for one in found.deliveries]
    write_columns(DELIVERY, rows, channel)


def _posted(session: Session, name: str, last: str) -> ExitCode:
    place = WEBHOOK(session, name)
    found = place.connection.do("POST", f"{place.path}/{last}", DeliveryData)
    session.note(f"{found.type} is posted to {place.shown}, as {found.id}")
    session.show(found)
    words = session.settings.command("webhooks", "deliveries", place.shown)
    session.next(NextCommand(words, "see what came of it"))
    return ExitCode.DONE


@verb("again", named="webhooks again")
@click.argument("name", metavar=NAMED)
@click.argument("delivery")
def again_command(session: Session, name: str, delivery: str) -> ExitCode:
    """Post one event to a webhook once more."""
    return _posted(session, name, f"deliveries/{in_path(delivery)}/again")


@verb("test", named="webhooks test")
@click.argument("name", metavar=NAMED)
def test_command(session: Session, name: str) -> ExitCode:
    """Post an event that says nothing to a webhook, to see whether it arrives."""
    return _posted(session, name, "test")
