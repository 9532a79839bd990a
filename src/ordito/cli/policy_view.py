"""Policies for people and for programs: what triggers wait for, and what they did about events."""

from __future__ import annotations

from collections.abc import Iterator

from ordito.app.policies import NoticeHandled, PoliciesView, PolicyView, TriggerView
from ordito.base.sensitive import shown
from ordito.base.text import listed
from ordito.cli.channel import Channel, write_columns
from ordito.cli.handling_view import entry_data, say_waiting
from ordito.cli.job_view import as_text
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.ensemble.job_format import moment

FORMAT = "ordito.policies/1"
MOST_MADE = 10
MOST_NAMED = 8


def policies_data(found: PoliciesView) -> dict[str, object]:
    """The policies for programs."""
    return {
        "format": FORMAT,
        "policies": {view.policy.name: _policy_data(view) for view in found.policies},
        "waiting": [entry_data(entry) for entry in found.waiting],
    }


def _policy_data(view: PolicyView) -> dict[str, object]:
    policy = view.policy
    return {
        "type": policy.type,
        "targets": list(policy.targets),
        "nodes": list(policy.nodes),
        "enforced": view.is_heeded,
        "triggers": {t.trigger.name: _trigger_data(t) for t in view.triggers},
    }


def _trigger_data(view: TriggerView) -> dict[str, object]:
    trigger = view.trigger
    return {
        "event": trigger.event,
        "schedule": {name: shown(as_text(value)) for name, value in trigger.schedule.items()},
        "period": trigger.period,
        "evaluations": view.wanted,
        "method": trigger.method if trigger.condition is not None else "",
        "actions": list(view.actions),
        "held": view.hits,
        "evaluated": {
            entity: [{"at": moment(e.at), "holds": e.holds, "values": shown(dict(e.values))} for e in kept[-MOST_MADE:]]
            for entity, kept in view.remembered.items()
        },
        "events": [_made_data(made) for made in view.made[:MOST_MADE]],
    }


def _made_data(made: NoticeHandled) -> dict[str, object]:
    notice = made.entry.notice
    return {
        "number": made.entry.number,
        "event": notice.event,
        "entity": notice.entity,
        "at": moment(notice.at),
        "said": made.firing.said,
        "done": made.firing.is_done,
        "job": made.firing.job or None,
    }


def write_list(found: PoliciesView, channel: Channel) -> None:
    """Write a line for each trigger, and one for each policy without triggers."""
    rows: list[tuple[str, ...]] = []
    for view in found.policies:
        about = listed(view.policy.targets, MOST_NAMED) or "everything"
        for trigger in view.triggers:
            last = next(iter(trigger.made), None)
            said = f"{moment(last.entry.notice.at)} {_outcome(last)}" if last is not None else "never heard it"
            rows.append((f"{view.policy.name}.{trigger.trigger.name}", about, trigger.trigger.event, said))
        if not view.triggers:
            rows.append((view.policy.name, about, "-", "heeded" if view.is_heeded else "kept and not enforced"))
    write_columns(("POLICY", "TARGETS", "EVENT", "LAST"), rows, channel)


def write_policy(view: PolicyView, channel: Channel) -> None:
    """All that is known about a policy."""
    policy = view.policy
    channel.line(channel.paint("strong", f"{policy.name} ({policy.type})"))
    if policy.description:
        channel.line(f"  {printable(policy.description)}")
    channel.line(f"  targets: {printable(', '.join(policy.targets)) or 'everything in the topology'}")
    if not view.is_heeded:
        channel.line("  It is kept and not enforced.")
    for name, value in view.properties.items():
        channel.line(f"  {name}: {printable(as_text(value))}")
    for trigger in view.triggers:
        channel.line(f"  trigger {channel.paint('strong', trigger.trigger.name)}")
        for line in _trigger(trigger):
            channel.line(f"    {printable(line)}")


def _trigger(view: TriggerView) -> Iterator[str]:
    trigger = view.trigger
    yield f"waits for {trigger.event}"
    if trigger.schedule:
        ends = trigger.schedule
        yield f"from {as_text(ends.get('start_time', 'ever'))} to {as_text(ends.get('end_time', 'ever'))}"
    if view.wanted > 1 or trigger.period:
        within = f" within {trigger.period}" if trigger.period else " in a row"
        yield f"its condition must hold in {view.wanted} evaluations{within} ({trigger.method})"
    for entity, hits in view.hits.items():
        yield f"{entity}: it has held in {hits} of {view.wanted}"
    yield f"then: {', '.join(view.actions)}"
    for made in view.made[:MOST_MADE]:
        notice = made.entry.notice
        yield f"{moment(notice.at)}  {notice.event} of {notice.entity}: {_outcome(made)}"


def _outcome(made: NoticeHandled) -> str:
    firing = made.firing
    if firing.is_done:
        return firing.said
    return f"job {firing.job} carries out its actions" if firing.job else "its actions wait"


def say_what_waits(found: PoliciesView, session: Session) -> None:
    """List the notices that wait to be handled."""
    if found.waiting:
        for entry in found.waiting[:MOST_NAMED]:
            session.note(f"waits since {moment(entry.notice.at)}: {entry.notice.event} of {entry.notice.entity}")
        say_waiting(len(found.waiting), session)
