"""Policies for people: what triggers wait for, and what they did about events."""

from __future__ import annotations

from collections.abc import Iterator

from ordito.base.text import listed
from ordito.cli.channel import Channel, write_columns
from ordito.cli.handling_view import say_waiting
from ordito.cli.job_view import as_text
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.ensemble.job_format import moment
from ordito.results.policies import EventOfTrigger, PoliciesData, TriggerData

MOST_NAMED = 8


def write_list(found: PoliciesData, channel: Channel) -> None:
    """Write a line for each trigger, and one for each policy without triggers."""
    rows: list[tuple[str, ...]] = []
    for name, policy in found.policies.items():
        about = listed(policy.targets, MOST_NAMED) or "everything"
        for trigger, one in policy.triggers.items():
            last = next(iter(one.events), None)
            said = f"{last.at} {_outcome(last)}" if last is not None else "never heard it"
            rows.append((f"{name}.{trigger}", about, one.event, said))
        if not policy.triggers:
            rows.append((name, about, "-", "heeded" if policy.enforced else "kept and not enforced"))
    write_columns(("POLICY", "TARGETS", "EVENT", "LAST"), rows, channel)


def write_policy(found: PoliciesData, channel: Channel) -> None:
    """All that is known about a policy."""
    ((name, policy),) = found.policies.items()
    channel.line(channel.paint("strong", f"{name} ({policy.type})"))
    if policy.description:
        channel.line(f"  {printable(policy.description)}")
    channel.line(f"  targets: {printable(', '.join(policy.targets)) or 'everything in the topology'}")
    if not policy.enforced:
        channel.line("  It is kept and not enforced.")
    for key, value in (policy.properties or {}).items():
        channel.line(f"  {key}: {printable(as_text(value))}")
    for trigger, one in policy.triggers.items():
        channel.line(f"  trigger {channel.paint('strong', trigger)}")
        for line in _trigger(one):
            channel.line(f"    {printable(line)}")


def _trigger(found: TriggerData) -> Iterator[str]:
    yield f"waits for {found.event}"
    if found.schedule:
        ends = found.schedule
        yield f"from {ends.get('start_time', 'ever')} to {ends.get('end_time', 'ever')}"
    if found.evaluations > 1 or found.period:
        within = f" within {found.period}" if found.period else " in a row"
        yield f"its condition must hold in {found.evaluations} evaluations{within} ({found.method})"
    for entity, hits in found.held.items():
        yield f"{entity}: it has held in {hits} of {found.evaluations}"
    yield f"then: {', '.join(found.actions)}"
    for made in found.events:
        yield f"{made.at}  {made.event} of {made.entity}: {_outcome(made)}"


def _outcome(made: EventOfTrigger) -> str:
    if made.done:
        return made.said
    return f"job {made.job} carries out its actions" if made.job else "its actions wait"


def say_what_waits(found: PoliciesData, session: Session) -> None:
    """List the notices that wait to be handled."""
    if found.waiting:
        for entry in found.waiting[:MOST_NAMED]:
            session.note(f"waits since {moment(entry.at)}: {entry.event} of {entry.entity}")
        say_waiting(len(found.waiting), session)
