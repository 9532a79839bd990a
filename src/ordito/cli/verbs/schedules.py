"""`ordito schedules`: what a server asks of an ensemble by the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from ordito.app.requests import Request
from ordito.base.text import as_text
from ordito.cli.channel import write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import SCHEDULES_VERBS, VerbGroup
from ordito.cli.kept_things import RemotePlace, removing, show, showing
from ordito.cli.planned import WorkflowCommand, workflow_option
from ordito.cli.remote import ensemble_of
from ordito.cli.request_options import how_jobs_run, takes
from ordito.cli.served import in_path
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.results.schedules import SchedulesData, ScheduleShownData

if TYPE_CHECKING:
    from ordito.client.looks import RemoteEnsemble
    from ordito.work.options import JobOptions

HEAL = "heal"

F = TypeVar("F", bound=Callable[..., Any])

schedules_command = VerbGroup("schedules", SCHEDULES_VERBS, {}, "What a server asks of an ensemble by the clock.")


@verb("list", named="schedules list")
def list_command(session: Session) -> ExitCode:
    """List the schedules of an ensemble."""
    ensemble = ensemble_of(session.settings, session.verb)
    found = tuple(ensemble.connection.all(f"{ensemble.path}/schedules", ScheduleShownData))
    rows = [(one.name, one.workflow, one.cron, one.zone, one.apply, one.next or "paused", one.said) for one in found]
    titles = ("SCHEDULE", "WORKFLOW", "WHEN", "ZONE", "APPLY", "NEXT", "")
    session.show(SchedulesData(found), lambda _, channel: write_columns(titles, rows, channel))
    return ExitCode.DONE


class _ScheduleName(msgspec.Struct, frozen=True):
    id: str
    name: str


def _place(session: Session, name: str) -> RemotePlace:
    """Where a schedule is that is named by its name or its id. Raises ``ServerError``."""
    ensemble = ensemble_of(session.settings, session.verb)
    known = ensemble.connection.all(f"{ensemble.path}/schedules", _ScheduleName)
    found = next((one.id for one in known if one.name == name), name)
    return RemotePlace(ensemble.connection, f"{ensemble.path}/schedules/{in_path(found)}", name)


def _facts(one: ScheduleShownData) -> Iterator[tuple[str, str]]:
    fields = ((name, value) for name, value in one.request.items() if name != "workflow" and value not in ("", [], {}))
    yield "workflow", one.workflow
    yield "with", ", ".join(f"{name}: {as_text(value)}" for name, value in fields)
    yield "inputs", ", ".join(one.inputs)
    yield "environment", one.environment or ""
    yield "when", f"{one.cron} ({one.zone})"
    yield "apply", "as far as the rules allow" if one.apply == "auto" else "no: it is only planned"
    yield "next", one.next or "none: it is paused"
    yield "last", one.last or "not yet"
    yield "plan", one.plan or ""
    yield "said", one.said
    yield "made", f"{one.created}; it acts for {one.by}"


show_command = showing(
    "schedules show", "SCHEDULE", _place, ScheduleShownData, _facts, "Show a schedule, and what came of its last turn."
)
remove_command = removing("schedules remove", "SCHEDULE", _place, "Remove a schedule. What it has begun goes on.")


def _clock(*, is_new: bool) -> Callable[[F], F]:
    at = "Minute, hour, day of the month, month, day of the week, as in '30 3 * * mon-fri'."

    def decorate(function: F) -> F:
        for option in (
            click.option("--pause/--resume", "paused", default=None, help="Let no turn come, or let them come again."),
            click.option("--auto/--ask", default=None, help="Carry it out as far as the rules allow, or only plan it."),
            click.option("--zone", metavar="ZONE", help="The time zone of --at, as in Europe/Berlin (default: UTC)."),
            click.option("--at", "cron", metavar="CRON", required=is_new, help=at),
        ):
            function = option(function)
        return function

    return decorate


def _wanted(cron: str | None, zone: str | None, auto: bool | None, paused: bool | None) -> dict[str, object]:
    given = {"cron": cron, "zone": zone, "apply": None if auto is None else "auto" if auto else "ask", "paused": paused}
    return {name: value for name, value in given.items() if value is not None}


def _asked(ensemble: RemoteEnsemble, request: Request, options: JobOptions) -> dict[str, object]:
    """What is asked for at each turn. Raises ``Refused`` and ``ServerError``."""
    from ordito.cli.remote_jobs import package_of
    from ordito.client.asked import asked_options, asked_request

    return {"request": asked_request(request, package_of(ensemble, request)), "options": asked_options(options)}


def _of_workflow(last: str, text: str, carry_out: Callable[..., ExitCode]) -> Callable[..., click.Command]:
    """Makes the commands of a verb about a workflow: with the words of that workflow, and how its jobs run."""

    def make(workflow: str, kind: type[Request]) -> click.Command:
        @verb(
            last,
            text.format(workflow=workflow, about=kind.about),
            takes_inputs="inputs" in kind.__struct_fields__,
            named=f"schedules {last}",
        )
        @click.argument("schedule")
        @_clock(is_new=last == "create")
        @takes(kind)
        @how_jobs_run(without=("commit",))
        def command(session: Session, schedule: str, request: Request, options: JobOptions, **clock: Any) -> ExitCode:
            """Make or change a schedule of one workflow."""
            return carry_out(session, schedule, request, options, _wanted(**clock))

        if workflow == HEAL:
            # What is not ok when the time comes, nobody can name now.
            for param in command.params:
                param.required = param.required and param.name != "names"
        return command

    return make


# ------------------------------------------------------------------------------------------------------------- create


@verb("create", named="schedules create")
@click.argument("schedule")
@workflow_option("What to ask for at each turn")
@_clock(is_new=True)
def _without_workflow(_: Session, schedule: str, **__: Any) -> ExitCode:
    """Make a schedule: a workflow is asked for by the clock, with the words and options that follow.

    It acts for whoever made or changed it last, as long as they may carry that workflow out. A check with --auto finds
    drift; heal without names heals what is recorded as not ok; deploy with --ask only tells what differs. A turn that
    was missed runs once, an hour late at most."""
    raise click.UsageError(f"say what {schedule} is to ask for, as in --workflow check")


CREATE = "Make a schedule that asks for {workflow} by the clock. {about}"


def _create(
    session: Session, name: str, request: Request, options: JobOptions, wanted: Mapping[str, object]
) -> ExitCode:
    ensemble = ensemble_of(session.settings, session.verb)
    body = {"name": name, **wanted, **_asked(ensemble, request, options)}
    body["environment"] = session.settings.wanted_environment
    made = ensemble.connection.do("POST", f"{ensemble.path}/schedules", ScheduleShownData, body)
    return show(session, made, made.name, _facts)


create_command = WorkflowCommand(_without_workflow, _of_workflow("create", CREATE, _create))


# ------------------------------------------------------------------------------------------------------------- change


@verb("change", named="schedules change")
@click.argument("schedule")
@workflow_option("Ask for this from now on")
@_clock(is_new=False)
def _of_clock(session: Session, schedule: str, **clock: Any) -> ExitCode:
    """Change a schedule, pause it, or let it go on. What is not named stays as it is; who changes it answers for it.

    With --workflow, and the words and options of that workflow, it asks for that from now on."""
    wanted = _wanted(**clock)
    if not wanted:
        raise click.UsageError("say what is to be different, as in --pause")
    return _changed(session, _place(session, schedule), wanted)


CHANGE = "Let a schedule ask for {workflow} from now on. {about}"


def _change(
    session: Session, name: str, request: Request, options: JobOptions, wanted: Mapping[str, object]
) -> ExitCode:
    asked = _asked(ensemble_of(session.settings, session.verb), request, options)
    return _changed(session, _place(session, name), {**wanted, **asked})


def _changed(session: Session, place: RemotePlace, wanted: Mapping[str, object]) -> ExitCode:
    if session.settings.environment is not None:
        raise click.UsageError("the environment of a schedule stays as it is: leave --env out, or make another one")
    from ordito.client.edits import edited

    answer = edited(place.connection, "PATCH", place.path, lambda _: wanted)
    found = msgspec.json.decode(answer.body, type=ScheduleShownData)
    return show(session, found, found.name, _facts)


change_command = WorkflowCommand(_of_clock, _of_workflow("change", CHANGE, _change))
