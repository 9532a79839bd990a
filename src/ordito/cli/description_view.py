"""A node or an instance, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ordito.base.text import spans
from ordito.base.text_width import width
from ordito.cli.channel import Channel
from ordito.cli.job_view import as_text
from ordito.cli.status_view import painted
from ordito.cli.text_width import pad, printable
from ordito.results.description import DescribedInstance, DescribedNode, DescriptionData

if TYPE_CHECKING:
    from ordito.app.describe import Dependency, Operated
    from ordito.ensemble.job_history import TaskLine

AWAY = "not lost yet: see whether its storage is available, and check again; it is replaced only on request"

Rows = list[tuple[str, str]]


def write_description(found: DescriptionData, channel: Channel) -> None:
    """A description for people: a headline, and a section for each kind of information."""
    if isinstance(found, DescribedInstance):
        head, sections = _of_instance(found, channel)
    else:
        head, sections = _of_node(found, channel)
    channel.line(head)
    for title, rows in (*sections, ("Last operations", [_event(event) for event in found.events])):
        if rows:
            channel.line(channel.paint("strong", title))
            longest = max(width(name) for name, _ in rows)
            channel.lines(f"  {pad(name, longest)}  {text}".rstrip() for name, text in rows)


def _of_instance(found: DescribedInstance, channel: Channel) -> tuple[str, list[tuple[str, Rows]]]:
    status = painted(found.effective, channel)
    if found.effective != found.local:
        because = ", ".join(d.target for d in found.decisive)
        status += f" (itself {found.local}" + (f"; because of {because})" if because else ")")
    about = [
        ("node", found.node),
        ("type", found.type),
        ("host", found.host),
        ("runs on", printable(found.place)),
        ("state", found.state),
        ("index", str(found.index)),
        ("priority", "optional" if found.optional else ""),
        ("note", found.note),
        ("data", AWAY if found.is_away else ""),
        ("created", _at(found.created, found)),
        ("configured last", _at(found.last_config_change, found)),
        ("changed last", _changed(found)),
    ]
    return f"{channel.paint('strong', found.instance)}  {status}", [
        ("About", [(name, text) for name, text in about if text]),
        ("Properties", _values(found.properties)),
        ("Attributes", _values(found.attributes)),
        ("Requirements", [_requirement(d, channel) for d in found.requirements]),
        ("Carried out", [_operated(o) for o in found.operations if not o.failed]),
        ("Failed", [_operated(o) for o in found.operations if o.failed]),
    ]


def _wanted(found: DescribedNode) -> str:
    if found.kept is not None:
        kept = found.kept
        return f"{kept.count}, kept from scale (job {kept.job}); the template asks for {kept.over}"
    return "" if found.wanted is None else str(found.wanted)


def _of_node(found: DescribedNode, channel: Channel) -> tuple[str, list[tuple[str, Rows]]]:
    about = [
        ("type", found.type),
        ("declared", found.declared),
        ("description", printable(found.description)),
        ("wanted", _wanted(found)),
        ("priority", "optional" if found.optional else ""),
        ("protected", "it is removed or replaced only on request" if found.protected else ""),
        ("orphaned", "no longer in the service" if found.orphaned else ""),
    ]
    instances = [
        (name, "  ".join(filter(None, (one.state, painted(one.effective, channel), printable(one.place or "")))))
        for name, one in found.instances.items()
    ]
    return f"{channel.paint('strong', found.node)}  {painted(found.status or 'no instances', channel)}", [
        ("About", [(name, text) for name, text in about if text]),
        ("Instances", instances),
        ("Requirements", list(found.requirements.items())),
        ("Operations", list(found.operations.items())),
        ("Metadata", _values(found.metadata)),
    ]


def _values(values: Mapping[str, object]) -> Rows:
    return [(n, "(no value)" if v is None else printable(as_text(v))) for n, v in values.items()]


def _requirement(found: Dependency, channel: Channel) -> tuple[str, str]:
    statuses: dict[str, list[str]] = {}
    for name, status in found.instances.items():
        statuses.setdefault(status, []).append(name)
    targets = ", ".join(f"{spans(names)} {painted(status, channel)}" for status, names in statuses.items())
    said = f"contributes {painted(found.contribution, channel)}" if found.contribution else "not needed for its status"
    optional = " (optional)" if found.optional else ""
    return found.requirement, f"{found.target}{optional}: {targets or 'no instances'}; {said}"


def _operated(found: Operated) -> tuple[str, str]:
    return found.operation, f"{found.at}  {found.change}"


def _event(event: TaskLine) -> tuple[str, str]:
    seconds = f" in {event.seconds:.1f}s" if event.seconds is not None else ""
    said = f"{event.target} {event.operation} {event.outcome}{seconds}"
    return event.start, f"{said}  {printable(event.summary)}".rstrip()


def _changed(found: DescribedInstance) -> str:
    """When it changed last; and if no operation changed it, that a job noticed it."""
    changed = _at(found.last_state_change, found)
    was_noticed = found.last_state_change > found.last_config_change
    return f"{changed}, since it was created" if was_noticed else changed


def _at(change: str, found: DescribedInstance) -> str:
    return f"{found.began(change)}  {change}" if change else ""
