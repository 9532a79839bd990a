"""`ordito heal`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordito.cli.asked.heal import asked
from ordito.cli.exit_codes import ExitCode
from ordito.cli.moving import job_verb
from ordito.cli.session import Session
from ordito.cli.text_width import pad, width

if TYPE_CHECKING:
    from ordito.app.workflow_run import WorkflowResult
    from ordito.cli.conversation import CliConversation
    from ordito.instances.records import Instance

HELP = """Heal instances: check them, mend them, or make them anew.

1. The check of an instance, where it has one: if it says ok, there is nothing to heal.
2. Its operation heal (interface type ordito.interfaces.Maintain, profile:ordito), where it has one; then its check.
3. Where neither is there, or neither helped, or with --reinstall: its host with everything on it is removed, going on
past failures, and made again. Ids stay.

INSTANCE may also be a node that has one instance."""

NOT_NEEDED, MENDED, ANEW, FAILED = "not needed", "mended", "made anew", "failed"
SAID = {NOT_NEEDED: "is ok: nothing to heal", MENDED: "was mended in place", ANEW: "was made anew"}


def finish(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    """Say what came of a healing."""
    from ordito.app.proposals.heal import to_heal
    from ordito.cli.job_view import exit_code, report_data, suggest, write_report
    from ordito.cli.progress.report import NextCommand

    report, proposal = result.report, result.proposal
    if report is None or proposal is None:
        session.note("Nothing to do.")
        session.result({"job": None, "workflow": "heal", "status": "ok", "instances": {}}, lambda _: None)
        return ExitCode.DONE
    write_report(report, conversation.ledger, session)
    records = [proposal.snapshot.instances[i] for i in to_heal(proposal)]
    came_to = {record.id: _came_to(record, report.job) for record in records}
    longest = max(map(width, came_to), default=0)
    lines = [
        f"{pad(r.id, longest)}  {SAID.get(came_to[r.id], f'is {r.local}: it could not be healed')}" for r in records
    ]
    data = {r.id: {"healing": came_to[r.id], "local": r.local, "state": r.state} for r in records}
    session.result({**report_data(report), "instances": data}, lambda channel: channel.lines(lines))
    if spared := [i for i, how in came_to.items() if how == NOT_NEEDED]:
        session.next(NextCommand(session.settings.command("heal", *spared, "--reinstall"), "make it anew all the same"))
    suggest(report, session)
    return exit_code(report)


def _said(record: Instance, came_to: str) -> str:
    return SAID.get(came_to, f"is {record.local}: it could not be healed")


def _came_to(record: Instance, job: str) -> str:
    """What the job has done about an instance."""
    from ordito.instances.status import OPERATIONAL
    from ordito.work.probes import HEAL

    if record.local not in OPERATIONAL:
        return FAILED
    if record.created >= job:
        return ANEW
    mended = (one.change for key, one in record.applied.items() if key.rpartition(".")[2] == HEAL)
    return MENDED if any(change >= job for change in mended) else NOT_NEEDED


command = job_verb("heal", HELP, asked, finish)
