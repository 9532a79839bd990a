"""`ordito plans`: what was asked of a server, from the request to its job."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import PLANS_VERBS, VerbGroup
from ordito.cli.options import keep
from ordito.cli.progress.report import NextCommand
from ordito.cli.remote import connection_of, ensemble_of
from ordito.cli.request_options import Duration
from ordito.cli.served import done, in_path, server_of, write_facts
from ordito.cli.session import Session
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.planning.preview import Totals
    from ordito.results.server_plans import AskedPlan, AskedPlansData, RulesData, WantedApprovals

F = TypeVar("F", bound=Callable[..., Any])

plans_command = VerbGroup("plans", PLANS_VERBS, {}, "What was asked of a server, from the request to its job.")


@verb("list", named="plans list")
@click.option("--state", default="open", show_default=True, help="Only those in this state, open, or all.")
@click.option("--mine", is_flag=True, help="What waits for you, in all ensembles: to be approved, or to go on.")
def list_command(session: Session, state: str, *, mine: bool) -> ExitCode:
    """List the plans of an ensemble, the newest first."""
    from ordito.results.server_plans import AskedPlan, AskedPlansData

    if mine:
        found = tuple(connection_of(session.settings, session.verb).all("/inbox", AskedPlan))
    else:
        from ordito.client.plans import plans_of

        found = tuple(plans_of(ensemble_of(session.settings, session.verb), "" if state == "all" else state))
    session.show(AskedPlansData(found), _write_list)
    return ExitCode.DONE


def _write_list(found: AskedPlansData, channel: Channel) -> None:
    rows = [
        (one.id, f"{one.project}/{one.ensemble}", one.workflow, one.state, one.by.name, one.created, one.comment)
        for one in found.plans
    ]
    write_columns(("PLAN", "ENSEMBLE", "WORKFLOW", "STATE", "BY", "ASKED", ""), rows, channel)


@verb("show", named="plans show")
@click.argument("plan")
@click.option("--steps", is_flag=True, help="Show what it does too, as `ordito plan` does.")
def show_command(session: Session, plan: str, *, steps: bool) -> ExitCode:
    """Show a plan: how far it has come, who has asked, which approvals it needs and has, its risks, its job."""
    from ordito.client.plans import plan_named, shown_plan
    from ordito.results.plan import PlanData

    ensemble = ensemble_of(session.settings, session.verb)
    found = plan_named(ensemble, plan)
    session.show(found, _write)
    if steps and session.writes_text:
        from ordito.cli.plan_view import write_plan

        shown = shown_plan(ensemble, found)
        if isinstance(shown, PlanData):
            write_plan(shown, session.out)
    command = session.settings.command
    ways = {"approve": "approve exactly this plan", "apply": "carry it out", "discard": "leave it"}
    session.next(*(NextCommand(command("plans", way, found.id), purpose) for way, purpose in ways.items()
                   if way in found.allowed))  # fmt: skip
    return ExitCode.DONE


SINCE = {
    "fresh": "nothing has changed",
    "moved": "the ensemble has moved on; it is looked again whether the plan still comes out the same",
    "stale": "what it depends on has changed: make it anew",
}
"""Whether what a plan was made from is as it was."""


def _write(found: AskedPlan, channel: Channel) -> None:
    queue = found.queue
    rows = (
        ("ensemble", f"{found.project}/{found.ensemble}"),
        ("workflow", found.workflow),
        ("state", found.state),
        ("asked", f"{found.created} by {found.by.kind} {found.by.name}"),
        ("comment", found.comment),
        ("changes", _changes(found.totals)),
        ("risks", ", ".join(found.risks)),
        ("since then", SINCE.get(found.fresh, found.fresh)),
        ("needs", "; ".join(map(_needed, found.approvals.wanted))),
        ("decided", "; ".join(f"{one.who}: {one.decision} {one.comment}".rstrip() for one in found.approvals.given)),
        ("queue", f"place {queue.place}, {queue.frozen or queue.holder or 'next'}" if queue is not None else ""),
        ("applied by", found.applied_by),
        ("job", f"{found.job} {found.job_status}".rstrip() if found.job else ""),
        ("problem", found.problem.failure.message if found.problem is not None else ""),
    )
    write_facts(f"Plan {found.id}", rows, channel)


def _changes(totals: Totals | None) -> str:
    if totals is None:
        return ""
    return f"{totals.made} to create, {totals.changed} to change, {totals.removed} to remove"


def _needed(one: WantedApprovals) -> str:
    who = " or ".join((*one.roles, *one.groups)) or "anybody who may approve"
    return f"{one.count} of {who} ({one.given} given)"


def _deciding(decision: str, session: Session, plan: str, comment: str) -> ExitCode:
    from ordito.client.plans import decide, plan_named

    ensemble = ensemble_of(session.settings, session.verb)
    found = decide(ensemble, plan_named(ensemble, plan), decision, comment)
    session.note(f"Plan {found.id} is {found.state}.")
    session.show(found)
    if decision == "approve":
        session.next(NextCommand(session.settings.command("plans", "show", found.id), "see how far it has come"))
    return ExitCode.DONE


def _comment(function: F) -> F:
    return click.option("--comment", metavar="TEXT", default="", help="Why, for everybody who looks at it.")(function)


@verb("approve", named="plans approve")
@click.argument("plan")
@_comment
def approve_command(session: Session, plan: str, comment: str) -> ExitCode:
    """Approve exactly the plan that is there now. It goes on once all approvals that it needs are given."""
    return _deciding("approve", session, plan, comment)


@verb("reject", named="plans reject")
@click.argument("plan")
@_comment
def reject_command(session: Session, plan: str, comment: str) -> ExitCode:
    """Reject a plan: it is not carried out."""
    return _deciding("reject", session, plan, comment)


@verb("apply", named="plans apply")
@click.argument("plan")
@click.option("--detach", is_flag=True, expose_value=False, callback=keep, help="End once the plan is queued.")
@click.option(
    "--wait-approval",
    type=Duration(),
    metavar="DURATION",
    expose_value=False,
    callback=keep,
    help="Wait so long for others who approve; else the exit code is 9.",
)
def apply_command(session: Session, plan: str) -> ExitCode:
    """Carry a plan out, exactly as it was made, or not at all if what it depends on has changed; and follow its job.

    It needs the permission for its workflow."""
    from ordito.cli.job_verb import finisher
    from ordito.cli.remote_jobs import follow_plan
    from ordito.client.plans import READY, apply_plan, plan_named

    ensemble = ensemble_of(session.settings, session.verb)
    found = plan_named(ensemble, plan)
    if found.state == READY:
        found = apply_plan(ensemble, found)
    return follow_plan(session, ensemble, found, finisher(found.workflow))


@verb("discard", named="plans discard")
@click.argument("plan")
def discard_command(session: Session, plan: str) -> ExitCode:
    """Discard a plan that has not begun: its author, or who may control."""
    from ordito.client.plans import discard_plan

    found = discard_plan(ensemble_of(session.settings, session.verb), plan)
    session.note(f"Plan {found.id} is {found.state}.")
    session.show(found)
    return ExitCode.DONE


# ------------------------------------------------------------------------------------ what keeps plans from being begun


def _path_of(where: str, last: str) -> str:
    """The path of what is set for a project, for one ensemble of it, or for the whole server."""
    project, _, ensemble = where.partition("/")
    if not project:
        return f"/{last}"
    names = in_path(project)
    return f"/projects/{names}/{f'ensembles/{in_path(ensemble)}/' if ensemble else ''}{last}"


@verb("rules", named="plans rules")
@click.argument("where", metavar="PROJECT[/ENSEMBLE]")
@click.option("--set", "file", metavar="FILE", help="A YAML file with all rules, in place of those there are.")
def rules_command(session: Session, where: str, file: str | None) -> ExitCode:
    """Show or set which plans of a project, or of one ensemble besides, need the approval of somebody else."""
    from ordito.client.edits import edited
    from ordito.results.server_plans import RulesData

    connection, path = server_of(session), _path_of(where, "rules")
    if file is None:
        answer = connection.ask("GET", path)
    else:
        rules = _rules_in(file)
        answer = edited(connection, "PUT", path, lambda _: rules)
    session.show(msgspec.json.decode(answer.body, type=RulesData), _write_rules)
    return ExitCode.DONE


def _rules_in(path: str) -> object:
    """The rules in a file, as they are sent. Raises ``InvalidDocument``."""
    from ordito.app.inputs.gathered import plain
    from ordito.source.package import load_file

    diagnostics = Diagnostics()
    document = load_file(path, diagnostics)
    if document is None or diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    found = plain(document.root)
    return found if isinstance(found, dict) else {"rules": found}


def _write_rules(found: RulesData, channel: Channel) -> None:
    rows = [
        (
            ", ".join(one.when.workflows) or "any",
            ", ".join(one.when.environments) or "any",
            ", ".join(one.when.risks) or "any",
            str(one.count),
            ", ".join((*one.by.roles, *one.by.groups)) or "all who may approve",
            "counts" if one.author_may else "does not count",
        )
        for one in found.rules
    ]
    write_columns(("WORKFLOW", "ENVIRONMENT", "RISK", "APPROVALS", "BY", "AUTHOR"), rows, channel)


@verb("freeze", named="plans freeze")
@click.argument("where", metavar="[PROJECT[/ENSEMBLE]]", required=False, default="")
@click.option("--reason", metavar="TEXT", required=True, help="Why, for all who see it.")
@click.option("--hours", type=click.FloatRange(min=0, min_open=True), help="When it ends by itself (default: never).")
def freeze_command(session: Session, where: str, reason: str, hours: float | None) -> ExitCode:
    """Let no plan begin in a project, in an ensemble, or on the whole server. What runs goes on."""
    server_of(session).ask("PUT", _path_of(where, "freeze"), body={"reason": reason, "hours": hours})
    return done(session, "frozen", where or "everything")


@verb("thaw", named="plans thaw")
@click.argument("where", metavar="[PROJECT[/ENSEMBLE]]", required=False, default="")
def thaw_command(session: Session, where: str) -> ExitCode:
    """End a freeze: what has waited for it begins."""
    server_of(session).ask("DELETE", _path_of(where, "freeze"))
    return done(session, "not frozen any more", where or "everything")
