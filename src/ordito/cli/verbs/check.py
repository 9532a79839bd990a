"""`ordito check` and `ordito discover`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import click

from ordito.app.requests import CheckRequest, DiscoverRequest
from ordito.base.text import listed
from ordito.base.text_width import width
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_verb import job_verb
from ordito.cli.progress.report import NextCommand, last_lines
from ordito.cli.session import Session
from ordito.cli.text_width import one_line, pad, printable
from ordito.instances.status import WORSE

if TYPE_CHECKING:
    from ordito.app.drift import DriftResult
    from ordito.app.workflow_run import WorkflowRequest
    from ordito.cli.channel import Channel
    from ordito.cli.progress.ledger import Ledger
    from ordito.results.drift import CheckedData, DriftData


# What the verbs that look at instances have in common: `ordito check` and `ordito discover`.

MOST_HEALED = 12
"""How many instances a proposed command names; if more are not ok, a deployment is proposed, which repairs them all."""

MOST_UNLOOKED = 12
LINES_SHOWN = 5
"""How many last lines are shown of a check that finds an instance not ok."""


detailed_option = click.option("--detailed-exitcode", is_flag=True, help="Exit with 2 if an instance is not ok.")


def _look(session: Session, request: WorkflowRequest, *, detailed_exitcode: bool) -> ExitCode:
    """Run the checks, and show what was found."""
    if session.settings.wanted_server:
        from ordito.cli.remote_checks import look_there

        return look_there(session, request, partial(_end, session, request, detailed_exitcode=detailed_exitcode))
    from ordito.app.drift import look
    from ordito.cli.conversation import LookingConversation

    conversation = LookingConversation(session)
    return _end(session, request, look(request, conversation), conversation.ledger, detailed_exitcode=detailed_exitcode)


def _end(
    session: Session, request: WorkflowRequest, result: DriftResult, ledger: Ledger, *, detailed_exitcode: bool
) -> ExitCode:
    from ordito.cli.job_view import exit_code, write_report
    from ordito.results.drift import drift_data

    if result.report is not None:
        write_report(result.report, ledger, session)
    found = drift_data(request.wanted.workflow, result, ledger.complaints)
    session.show(found, write_drift)
    unwell = ExitCode.CHANGES if detailed_exitcode and not found.well else ExitCode.DONE
    if result.report is None:
        return unwell
    helps = list(_next(found, result.report.causes.locked))
    if any(map(_printed, found.instances.values())):
        helps.insert(0, (("jobs", "logs", result.report.job), "read all that the checks printed"))
    commands = [NextCommand(session.settings.command(*words), purpose) for words, purpose in helps]
    if commands:
        session.next(*commands)
    code = exit_code(result.report)
    return unwell if code is ExitCode.DONE else code


def _next(found: DriftData, locked: Mapping[str, str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The words of commands that make sense after it, with their purposes."""
    if found.drift:
        yield ("status",), "see what that means for other instances"
    if found.to_heal:
        if len(found.to_heal) <= MOST_HEALED:
            yield ("heal", *found.to_heal), "repair what is not ok"
        else:
            yield ("deploy",), "repair what is not ok, and create what is missing"
    away = [name for name, one in found.instances.items() if one.unreachable]
    if away:
        yield ("hosts", "check"), "see which hosts of the inventory can be reached"
        yield ("heal", *away), "replace hosts that stay unreachable, with everything on them"
    if locked:
        from ordito.cli.job_view import check_locked

        yield check_locked(locked)


def write_drift(found: DriftData, channel: Channel) -> None:
    """What was found, for people: each instance, and below it what differs."""
    from ordito.cli.status_view import painted

    longest = max(map(width, found.instances), default=0)
    for name, one in found.instances.items():
        said = painted(one.local, channel)
        if one.failure:
            said = f"not checked, recorded: {said} ({printable(one_line(one.failure))})"
        elif one.recorded.local != one.local:
            said = f"{painted(one.recorded.local, channel)} -> {said}"
        channel.line(f"{pad(name, longest)}  {said}")
        for line in _differences(one, channel):
            channel.line(f"  {line}")
    for line in _totals(found):
        channel.line(line)


def _differences(found: CheckedData, channel: Channel) -> Iterator[str]:
    from ordito.cli.job_view import as_text

    why = found.reason or ""
    if found.unreachable:
        yield f"cannot be reached{': ' if why else ''}{printable(one_line(why))}"
    elif printed := _printed(found):
        # Its last line is the end of the message, and stands below with those before it.
        yield f"it says: {printable(one_line(why.removesuffix(f': {printed[-1].strip()}')))}"
        yield from last_lines(printed, channel)
    elif why:
        yield f"it says: {printable(one_line(why))}"
    if found.recorded.state != found.state:
        yield f"state: {found.recorded.state} -> {found.state}"
    for name, value in (found.attributes or {}).items():
        old, new = (as_text(v) if v is not None else "(no value)" for v in (value.before, value.after))
        yield f"attribute {name}: {printable(old)} -> {printable(new)}"


def _printed(found: CheckedData) -> list[str]:
    """The last lines that its check printed, if they say more than the message."""
    lines = [line for line in found.tail or () if line.strip()]
    return lines[-LINES_SHOWN:] if len(lines) > 1 else []


def _totals(found: DriftData) -> Iterator[str]:
    from ordito.cli.progress.lines import plural

    workflow, unlooked = found.workflow, found.not_checkable
    if not found.instances and not unlooked:
        yield f"Nothing to {workflow}: nothing is deployed."
        return
    if unlooked:
        yield f"Not checkable, because their nodes implement no {workflow}: {listed(unlooked, MOST_UNLOOKED)}."
    if found.unwell:
        yield f"Recorded as not ok: {listed(found.unwell, MOST_UNLOOKED)}."
    if not found.instances:
        how = f"implement {workflow} of the interface type ordito.interfaces.Maintain (profile:ordito)"
        yield f"Nothing to {workflow}: {how}."
        return
    checked = found.instances.values()
    counts = Counter(one.local for one in checked if not one.failure)
    parts = [f"{counts[status]} {status}" for status in WORSE if counts[status]]
    failed = sum(bool(one.failure) for one in checked)
    parts += [f"{failed} could not be reached"] if failed else []
    new = [name for name, one in found.instances.items() if one.drift]
    said = f"New: {listed(new, MOST_UNLOOKED)}." if new else "Nothing is new."
    yield f"{plural(len(found.instances), 'instance')}: {', '.join(parts)}. {said}"


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
