"""`ordito heal`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from ordito.app.requests import HealRequest
from ordito.base.text import listed
from ordito.base.text_width import width
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_verb import carry_out, job_verb
from ordito.cli.session import Session
from ordito.cli.text_width import pad

if TYPE_CHECKING:
    from ordito.cli.channel import Channel
    from ordito.results.jobs import HealedData, HealingsData, JobEndData, NoJobData

    HealData = JobEndData | NoJobData | HealingsData
    from ordito.app.job.report import HealedReport
    from ordito.app.workflow_run import WorkflowRequest, WorkflowResult
    from ordito.cli.conversation import CliConversation


MOST_NAMED = 12
NOT_NEEDED = "not needed"
SAID = {
    NOT_NEEDED: "is ok: nothing to heal",
    "repaired": "was repaired in place",
    "restarted": "was stopped and started",
    "replaced": "was replaced",
    "taken for ok": "is taken as ok: no operation can heal it, and no operation can check it",
}


@job_verb(HealRequest)
def heal_command(session: Session, request: WorkflowRequest) -> ExitCode:
    """Heal instances, and do only as much as is needed.

    \b
    1. Run the check of an instance, if it has one: if it says ok, there is
       nothing to heal.
    2. Run its operation heal, if it has one (interface type
       ordito.interfaces.Maintain, profile:ordito); then run its check.
    3. Stop and start it alone; then run its check.
    4. Replace it in place, with everything it hosts, and continue after
       failures. Ids stay. With --reinstall healing begins here.
    5. If its host is not ok itself, replace the host with everything on it.
       With --scope host this comes after 2.

    What was replaced is checked. What keeps data is removed only if --allow-data-loss names it.
    INSTANCE may also be a node with one instance. Several are healed one after the other, each in its own job."""
    assert isinstance(request.wanted, HealRequest)
    if session.settings.wanted_server:
        return _heal_there(session, request, request.wanted)
    from ordito.app.errors import Refused
    from ordito.app.proposals.heal import NOTHING_HEALS, REQUIRED_FIRST, healings
    from ordito.app.workflow_run import run_workflow
    from ordito.cli.conversation import CliConversation

    ended: list[WorkflowResult] = []
    worst = ExitCode.DONE
    every = healings(request.directory, request.wanted, request.environment, request.hosts)
    for one in every:
        conversation = CliConversation(session)
        try:
            ended.append(run_workflow(msgspec.structs.replace(request, wanted=one), conversation))
        except Refused as refusal:
            is_beside = refusal.code == NOTHING_HEALS and len(every) > 1
            # What it requires was healed before, in vain.
            is_in_vain = refusal.code == REQUIRED_FIRST and ended
            if not (is_beside or is_in_vain):
                raise
            session.warn(f"{refusal.message}; it was not healed")
            worst = ExitCode.JOB_FAILED if worst is ExitCode.DONE else worst
            continue
        code = _end(ended[-1], conversation, session)
        worst = worst if code is ExitCode.DONE else code
        if code not in (ExitCode.DONE, ExitCode.JOB_FAILED, ExitCode.UNREACHABLE):
            break  # The command was to end.
    _say(ended, session)
    return worst


def _heal_there(session: Session, request: WorkflowRequest, wanted: HealRequest) -> ExitCode:
    """The same at a server: a plan for each instance, one after the other."""
    ended: list[WorkflowResult] = []
    worst = ExitCode.DONE

    def finish(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
        ended.append(result)
        return _end(result, conversation, session)

    for name in wanted.names:
        one = msgspec.structs.replace(request, wanted=msgspec.structs.replace(wanted, names=(name,)))
        code = carry_out(session, one, finish)
        worst = worst if code is ExitCode.DONE else code
        if code not in (ExitCode.DONE, ExitCode.JOB_FAILED, ExitCode.UNREACHABLE):
            break  # The command was to end, or somebody has to approve.
    if ended:
        _say(ended, session)
    return worst


def finish_heal(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    """Report the end of a healing."""
    code = _end(result, conversation, session)
    _say([result], session)
    return code


def _end(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    """Show the end of one job; returns the exit code."""
    from ordito.cli.job_view import exit_code, suggest, write_report

    if result.report is None:
        session.note("Nothing to do.")
        return ExitCode.DONE
    write_report(result.report, conversation.ledger, session)
    suggest(result.report, session)
    code = exit_code(result.report)
    healed = _healed(result)
    is_unknown = healed is not None and any(one.reason for one in healed.instances.values())
    return ExitCode.UNREACHABLE if code is ExitCode.DONE and is_unknown else code


def _healed(result: WorkflowResult) -> HealedReport | None:
    return result.report.healed if result.report is not None else None


def _say(ended: Sequence[WorkflowResult], session: Session) -> None:
    """Report the result for each instance, over all jobs."""
    from ordito.cli.job_view import check_locked, exit_code
    from ordito.cli.progress.report import NextCommand
    from ordito.results.jobs import HealedData, HealingsData, NoJobData, job_end_data

    reports: list[JobEndData] = []
    instances: dict[str, HealedData] = {}
    locked: dict[str, str] = {}
    missed: dict[str, None] = {}
    for result in ended:
        healed = _healed(result)
        if result.report is None or healed is None:
            continue
        if exit_code(result.report) is ExitCode.DONE:  # Of another the end of its job has said so.
            locked |= result.report.causes.locked
        instances |= {
            name: HealedData(one.healing, one.local, one.state, one.reason or UNSET, one.unlinked or UNSET)
            for name, one in healed.instances.items()
        }
        missed |= dict.fromkeys(healed.missed)
        reports.append(job_end_data(result.report))
    found: HealData = NoJobData(workflow="heal", instances=instances)
    if reports:
        one = msgspec.structs.replace(reports[0], instances=instances)
        found = one if len(reports) == 1 else HealingsData("heal", tuple(reports), instances)
    session.show(found, _write)
    if any(one.unlinked for one in instances.values()):
        session.next(NextCommand(session.settings.command("deploy"), "establish the relationships that have failed"))
    if missed:
        session.warn(f"{listed([*missed], MOST_NAMED)} existed before, and must still be created again")
        session.next(NextCommand(session.settings.command("deploy"), "create what is still missing"))
    not_needed = [name for name, one in instances.items() if one.healing == NOT_NEEDED]
    keep_data = any(healed.keeps_data for result in ended if (healed := _healed(result)) is not None)
    if not_needed and len(not_needed) == len(instances) and not keep_data:
        session.next(NextCommand(session.settings.command("heal", *not_needed, "--reinstall"), "replace it anyway"))
    if locked:
        words, purpose = check_locked(locked)
        session.next(NextCommand(session.settings.command(*words), purpose))


def _write(found: HealData, channel: Channel) -> None:
    instances = found.instances or {}
    longest = max(map(width, instances), default=0)
    channel.lines(f"{pad(name, longest)}  {_said(one)}" for name, one in instances.items())


def _said(found: HealedData) -> str:
    if found.reason:
        return f"was not changed and could not be healed, because of {found.reason} (see above)"
    if found.unlinked:
        return f"is {found.local} itself, but its relationship with {listed(found.unlinked, MOST_NAMED)} has failed"
    return SAID.get(found.healing, f"is {found.local}: it could not be healed")
