"""A node or an instance, for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from ordito.app.describe import Dependency, InstanceDescription, NodeDescription, Operated
from ordito.base.change_ids import time_of
from ordito.base.sensitive import shown
from ordito.base.text import spans
from ordito.cli.channel import Channel
from ordito.cli.job_view import as_text
from ordito.cli.status_view import painted
from ordito.cli.text_width import pad, printable, width
from ordito.ensemble.job_history import TaskLine
from ordito.instances.records import note_of

FORMAT = "ordito.describe/1"

AWAY = "not lost yet: see whether its storage is available, and check again; it is replaced only on request"

Described = NodeDescription | InstanceDescription
Rows = list[tuple[str, str]]


def description_data(found: Described) -> dict[str, object]:
    """A description for programs."""
    own = _instance_data(found) if isinstance(found, InstanceDescription) else _node_data(found)
    events = [msgspec.to_builtins(event) for event in found.events]
    return {"format": FORMAT, **own, "events": events, "next": [" ".join(step.words) for step in found.next]}


def _instance_data(found: InstanceDescription) -> dict[str, object]:
    i = found.instance
    return {
        "kind": "instance",
        "instance": i.id,
        "node": i.node,
        "type": found.type,
        "host": i.host,
        "place": found.place,
        "index": i.index,
        "state": i.state,
        "local": i.local,
        "effective": found.effective,
        "optional": found.optional,
        "note": note_of(i),
        "status_reason": i.status_reason,
        "with_host": i.with_host,
        "created": i.created,
        "last_config_change": i.last_config_change,
        "last_state_change": i.last_state_change,
        "properties": shown(dict(found.properties)),
        "attributes": shown(dict(found.attributes)),
        "requirements": [msgspec.to_builtins(d) for d in found.dependencies],
        "operations": [msgspec.structs.asdict(o) for o in found.operated],
    }


def _node_data(found: NodeDescription) -> dict[str, object]:
    return {
        "kind": "node",
        "node": found.name,
        "type": found.type,
        "declared": found.declared,
        "description": found.description,
        "status": found.status,
        "wanted": found.wanted,
        "kept": msgspec.to_builtins(found.kept),
        "optional": found.optional,
        "protected": found.protected,
        "orphaned": found.lost,
        "requirements": dict(found.requirements),
        "operations": dict(found.operations),
        "metadata": dict(found.metadata),
        "instances": {
            b.instance.id: {"state": b.instance.state, "local": b.instance.local, "effective": b.effective}
            for b in found.instances
        },
    }


def write_description(found: Described, channel: Channel) -> None:
    """A description for people: a headline, and a section for each kind of information."""
    if isinstance(found, InstanceDescription):
        head, sections = _of_instance(found, channel)
    else:
        head, sections = _of_node(found, channel)
    channel.line(head)
    for title, rows in (*sections, ("Last operations", [_event(event) for event in found.events])):
        if rows:
            channel.line(channel.paint("strong", title))
            longest = max(width(name) for name, _ in rows)
            channel.lines(f"  {pad(name, longest)}  {text}".rstrip() for name, text in rows)


def _of_instance(found: InstanceDescription, channel: Channel) -> tuple[str, list[tuple[str, Rows]]]:
    i = found.instance
    status = painted(found.effective, channel)
    if found.effective != i.local:
        because = ", ".join(d.target for d in found.decisive)
        status += f" (itself {i.local}" + (f"; because of {because})" if because else ")")
    about = [
        ("node", i.node),
        ("type", found.type),
        ("host", i.host),
        ("runs on", printable(found.place)),
        ("state", i.state),
        ("index", str(i.index)),
        ("priority", "optional" if found.optional else ""),
        ("note", note_of(i)),
        ("data", AWAY if found.is_away else ""),
        ("created", _at(i.created, found)),
        ("configured last", _at(i.last_config_change, found)),
        ("changed last", _changed(found)),
    ]
    return f"{channel.paint('strong', i.id)}  {status}", [
        ("About", [(name, text) for name, text in about if text]),
        ("Properties", _values(found.properties)),
        ("Attributes", _values(found.attributes)),
        ("Requirements", [_requirement(d, channel) for d in found.dependencies]),
        ("Carried out", [_operated(o) for o in found.operated if not o.failed]),
        ("Failed", [_operated(o) for o in found.operated if o.failed]),
    ]


def _wanted(found: NodeDescription) -> str:
    if found.kept is not None:
        kept = found.kept
        return f"{kept.count}, kept from scale (job {kept.job}); the template asks for {kept.over}"
    return "" if found.wanted is None else str(found.wanted)


def _of_node(found: NodeDescription, channel: Channel) -> tuple[str, list[tuple[str, Rows]]]:
    about = [
        ("type", found.type),
        ("declared", found.declared),
        ("description", printable(found.description)),
        ("wanted", _wanted(found)),
        ("priority", "optional" if found.optional else ""),
        ("protected", "it is removed or replaced only on request" if found.protected else ""),
        ("orphaned", "no longer in the service" if found.lost else ""),
    ]
    instances = [
        (b.instance.id, "  ".join(filter(None, (b.instance.state, painted(b.effective, channel), printable(b.place)))))
        for b in found.instances
    ]
    return f"{channel.paint('strong', found.name)}  {painted(found.status or 'no instances', channel)}", [
        ("About", [(name, text) for name, text in about if text]),
        ("Instances", instances),
        ("Requirements", list(found.requirements.items())),
        ("Operations", list(found.operations.items())),
        ("Metadata", _values(found.metadata)),
    ]


def _values(values: Mapping[str, object]) -> Rows:
    return [(n, "(no value)" if v is None else printable(as_text(shown(v)))) for n, v in values.items()]


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
    seconds = f" in {event.seconds:.1f}s" if math.isfinite(event.seconds) else ""
    said = f"{event.target} {event.operation} {event.outcome}{seconds}"
    return event.start, f"{said}  {printable(event.summary)}".rstrip()


def _changed(found: InstanceDescription) -> str:
    """When it changed last; and if no operation changed it, that a job noticed it."""
    instance = found.instance
    changed = _at(instance.last_state_change, found)
    return f"{changed}, since it was created" if instance.was_found_changed else changed


def _at(change: str, found: InstanceDescription) -> str:
    return f"{found.times.get(change) or time_of(change)}  {change}" if change else ""
