"""`ordito check` and `ordito discover`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from ordito.app.requests import CheckRequest, DiscoverRequest
from ordito.base.sensitive import shown
from ordito.base.text import listed
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_verb import job_verb
from ordito.cli.progress.report import NextCommand, last_lines
from ordito.cli.session import Session
from ordito.cli.text_width import one_line, pad, printable, width
from ordito.instances.records import StatusReason
from ordito.instances.status import ABSENT, ERROR, UNKNOWN, WORSE
from ordito.work.invocation import Outcome

if TYPE_CHECKING:
    from ordito.app.drift import CheckedInstance, DriftResult
    from ordito.app.workflow_run import WorkflowRequest
    from ordito.cli.channel import Channel
    from ordito.instances.records import Instance


# What the verbs that look at instances have in common: `ordito check` and `ordito discover`.

MOST_HEALED = 12
"""How many instances a proposed command names; if more are not ok, a deployment is proposed, which repairs them all."""

BROKEN = frozenset({ERROR, UNKNOWN, ABSENT})
"""The statuses that healing may repair."""

NOBODY_KNOWS = frozenset({StatusReason.UNREACHABLE, StatusReason.UNANSWERED})
"""Reasons not to propose healing: the status of the instance could not be found out."""

MOST_UNLOOKED = 12
LINES_SHOWN = 5
"""How many last lines are shown of a check that finds an instance not ok."""
FORMAT = "ordito.drift/1"


detailed_option = click.option("--detailed-exitcode", is_flag=True, help="Exit with 2 if an instance is not ok.")


def _look(session: Session, request: WorkflowRequest, *, detailed_exitcode: bool) -> ExitCode:
    """Run the checks, and show what was found."""
    from ordito.app.drift import look
    from ordito.cli.conversation import LookingConversation
    from ordito.cli.job_view import exit_code, write_report

    conversation = LookingConversation(session)
    result = look(request, conversation)
    complaints = conversation.ledger.complaints
    if result.report is not None:
        write_report(result.report, conversation.ledger, session)
    data = drift_data(request.wanted.workflow, result, {name: outcome.message for name, outcome in complaints.items()})
    session.result(data, lambda channel: write_drift(request.wanted.workflow, result, complaints, channel))
    unwell = ExitCode.CHANGES if detailed_exitcode and not result.is_well else ExitCode.DONE
    if result.report is None:
        return unwell
    found = list(_next(result))
    if any(_printed(outcome) for outcome in complaints.values()):
        found.insert(0, (("jobs", "logs", result.report.job), "read all that the checks printed"))
    commands = [NextCommand(session.settings.command(*words), purpose) for words, purpose in found]
    if commands:
        session.next(*commands)
    code = exit_code(result.report)
    return unwell if code is ExitCode.DONE else code


def _next(result: DriftResult) -> Iterator[tuple[tuple[str, ...], str]]:
    """The words of commands that make sense after it, with their purposes."""
    if result.differs:
        yield ("status",), "see what that means for other instances"
    broken = _to_heal(result.found)
    if broken:
        if len(broken) <= MOST_HEALED:
            yield ("heal", *(record.id for record in broken)), "repair what is not ok"
        else:
            yield ("deploy",), "repair what is not ok, and create what is missing"
    away = [found.after.id for found in result.found if found.after.status_reason is StatusReason.UNREACHABLE]
    if away:
        yield ("hosts", "check"), "see which hosts of the inventory can be reached"
        yield ("heal", *away), "replace hosts that stay unreachable, with everything on them"
    if result.report is not None and result.report.causes.locked:
        from ordito.cli.job_view import check_locked

        yield check_locked(result.report.causes.locked)


def _to_heal(found: Sequence[CheckedInstance]) -> list[Instance]:
    """The instances that are not ok and can be healed, in the order of the checks: required ones first. What is hosted
    on something absent comes back with its host."""
    absent = {f.after.id for f in found if f.after.local == ABSENT}
    broken = (f.after for f in found if f.after.local in BROKEN and not f.failure)
    return [r for r in broken if r.host not in absent and r.status_reason not in NOBODY_KNOWS]


def drift_data(workflow: str, result: DriftResult, whys: Mapping[str, str]) -> dict[str, object]:
    """The findings, for programs."""
    report = result.report
    return {
        "format": FORMAT,
        "workflow": workflow,
        "job": report.job if report else None,
        "status": report.status if report else "ok",
        "drift": result.differs,
        "well": result.is_well,
        "instances": {f.after.id: _data(f, whys.get(f.after.id, "")) for f in result.found},
        "not_checkable": list(result.unlooked),
    }


def _data(found: CheckedInstance, why: str) -> dict[str, object]:
    before, after = found.before, found.after
    data: dict[str, object] = {"node": after.node, "local": after.local, "state": after.state, "drift": found.differs}
    if (before.local, before.state) != (after.local, after.state):
        data["before"] = {"local": before.local, "state": before.state}
    if found.attributes:
        data["attributes"] = {
            name: {"before": shown(drift.before), "after": shown(drift.after)}
            for name, drift in found.attributes.items()
        }
    if why:
        data["reason"] = why
    if found.failure:
        data["failure"] = found.failure
    return data


def write_drift(workflow: str, result: DriftResult, complaints: Mapping[str, Outcome], channel: Channel) -> None:
    """What was found, for people: each instance, and below it what differs. ``complaints`` are the ends of operations
    that found instances not ok."""
    from ordito.cli.status_view import painted

    longest = max((width(f.after.id) for f in result.found), default=0)
    for found in result.found:
        said = painted(found.after.local, channel)
        if found.failure:
            said = f"not checked, recorded: {said} ({printable(one_line(found.failure))})"
        elif found.before.local != found.after.local:
            said = f"{painted(found.before.local, channel)} -> {said}"
        channel.line(f"{pad(found.after.id, longest)}  {said}")
        for line in _differences(found, complaints.get(found.after.id), channel):
            channel.line(f"  {line}")
    for line in _totals(workflow, result):
        channel.line(line)


def _differences(found: CheckedInstance, outcome: Outcome | None, channel: Channel) -> Iterator[str]:
    from ordito.cli.job_view import as_text

    before, after = found.before, found.after
    why = outcome.message if outcome is not None else ""
    if after.status_reason is StatusReason.UNREACHABLE:
        yield f"cannot be reached{': ' if why else ''}{printable(one_line(why))}"
    elif outcome is not None and (printed := _printed(outcome)):
        # Its last line is the end of the message, and stands below with those before it.
        yield f"it says: {printable(one_line(why.removesuffix(f': {printed[-1].strip()}')))}"
        yield from last_lines(printed, channel)
    elif why:
        yield f"it says: {printable(one_line(why))}"
    if before.state != after.state:
        yield f"state: {before.state} -> {after.state}"
    for name, drift in found.attributes.items():
        old, new = (as_text(shown(v)) if v is not None else "(no value)" for v in (drift.before, drift.after))
        yield f"attribute {name}: {printable(old)} -> {printable(new)}"


def _printed(outcome: Outcome) -> list[str]:
    """The last lines that an operation printed, if they say more than the message."""
    lines = [line for line in outcome.tail if line.strip()]
    return lines[-LINES_SHOWN:] if len(lines) > 1 else []


def _totals(workflow: str, result: DriftResult) -> Iterator[str]:
    from ordito.cli.progress.lines import plural

    if not result.found and not result.unlooked:
        yield f"Nothing to {workflow}: nothing is deployed."
        return
    if result.unlooked:
        yield f"Not checkable, because their nodes implement no {workflow}: {listed(result.unlooked, MOST_UNLOOKED)}."
    if result.unwell:
        yield f"Recorded as not ok: {listed(result.unwell, MOST_UNLOOKED)}."
    if not result.found:
        how = f"implement {workflow} of the interface type ordito.interfaces.Maintain (profile:ordito)"
        yield f"Nothing to {workflow}: {how}."
        return
    counts = Counter(f.after.local for f in result.found if not f.failure)
    parts = [f"{counts[status]} {status}" for status in WORSE if counts[status]]
    failed = sum(bool(f.failure) for f in result.found)
    parts += [f"{failed} could not be reached"] if failed else []
    new = [f.after.id for f in result.found if f.differs]
    said = f"New: {listed(new, MOST_UNLOOKED)}." if new else "Nothing is new."
    yield f"{plural(len(result.found), 'instance')}: {', '.join(parts)}. {said}"


@job_verb(CheckRequest)
@detailed_option
def check_command(session: Session, request: WorkflowRequest, *, detailed_exitcode: bool) -> ExitCode:
    """Run the check of every instance that has one, and show what differs from the records.

    A check (interface type ordito.interfaces.Maintain, profile:ordito) changes nothing. Its exit code gives the status
    of the instance: 0 ok, 1 error, 3 absent, anything else unknown. What it finds is recorded."""
    return _look(session, request, detailed_exitcode=detailed_exitcode)


@job_verb(DiscoverRequest)
@detailed_option
def discover_command(session: Session, request: WorkflowRequest, *, detailed_exitcode: bool) -> ExitCode:
    """Run the discover operation of every instance that has one, and show what differs from the records.

    It finds out what exists. Its exit code gives the status of the instance, like that of a check. An output with the
    name of an attribute, or mapped to one, becomes the value of that attribute."""
    return _look(session, request, detailed_exitcode=detailed_exitcode)
