"""What exists, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ordito.app.status import InstanceStatus, StatusResult
from ordito.cli.channel import Channel
from ordito.cli.progress.lines import plural
from ordito.cli.text_width import pad, printable, width
from ordito.instances.records import number_of

MOST_IN_TREE = 200
"""Instances above which the status is plain lines, one an instance."""

STYLES = {
    "ok": "good",
    "degraded": "change",
    "pending": "change",
    "unknown": "change",
    "error": "bad",
    "absent": "faint",
}


def status_data(found: StatusResult) -> dict[str, object]:
    """The status for programs."""
    last = found.status.last_job
    return {
        "service": found.service,
        "environment": found.status.environment,
        "status": found.effective,
        "revision": found.status.revision,
        "last_job": msgspec.to_builtins(last) if last else None,
        "job": {**msgspec.to_builtins(found.job), "outcome": found.job.outcome} if found.job else None,
        "instances": {i.instance.id: _instance_data(i) for i in found.instances},
        "outputs": found.status.outputs,
    }


def _instance_data(found: InstanceStatus) -> dict[str, object]:
    instance = found.instance
    data: dict[str, object] = {
        "node": instance.node,
        "type": found.type,
        "state": instance.state,
        "local": instance.local,
        "effective": found.effective,
        "host": instance.host,
        "attributes": found.attributes,
        "failed": dict(instance.failed),
        "orphaned": found.orphaned,
        "note": instance.note,
    }
    return {key: value for key, value in data.items() if value not in ("", {}, False)}


def write_status(found: StatusResult, channel: Channel) -> None:
    """The status for people: a tree by hosting; plain lines where there are very many instances."""
    name = channel.paint("strong", found.service or "nothing is deployed")
    effective = _painted(found.effective, channel) if found.instances else "no instances"
    about = [plural(len(found.instances), "instance"), f"revision {found.status.revision}"]
    if found.status.environment:
        about.append(f"environment {printable(found.status.environment)}")
    channel.line(f"{name}  {effective}  ({', '.join(about)})")
    if len(found.instances) > MOST_IN_TREE:
        _write_rows([("", i) for i in found.instances], channel)
    else:
        _write_rows(list(_tree(found.instances, channel)), channel)
    if found.job is not None:
        by = f"is being run by {found.job.holder}" if found.job.holder else "was interrupted"
        done = f"{found.job.done} of {plural(found.job.steps, 'step')} done"
        channel.line(f"job {found.job.job} ({found.job.workflow}) {by}: {done}")
    elif found.status.last_job is not None:
        last = found.status.last_job
        channel.line(f"last job: {last.id} ({last.workflow}) {last.status}")


def _write_rows(rows: Sequence[tuple[str, InstanceStatus]], channel: Channel) -> None:
    names = max((width(lead + i.instance.id) for lead, i in rows), default=0)
    states = max((width(i.instance.state) for _, i in rows), default=0)
    for lead, found in rows:
        instance = found.instance
        said = _painted(found.effective, channel)
        if found.effective != instance.local:
            said += f" (itself {instance.local})"
        notes = [instance.note, "no longer in the service" if found.orphaned else ""]
        if instance.failed:
            notes.append(f"failed: {', '.join(instance.failed)}")
        note = "; ".join(filter(None, notes))
        line = f"{pad(lead + instance.id, names)}  {pad(instance.state, states)}  {said}"
        channel.line(f"  {line}  {printable(note)}".rstrip())


def _painted(status: str, channel: Channel) -> str:
    return channel.paint(STYLES.get(status, "strong"), status)


def _tree(instances: Sequence[InstanceStatus], channel: Channel) -> Iterator[tuple[str, InstanceStatus]]:
    """Every instance with the branches before its name, below the instance that hosts it.

    It has a stack of its own, since users choose how deep hosting goes.
    """
    branches = UNICODE_BRANCHES if channel.is_unicode else ASCII_BRANCHES
    shown = {i.instance.id for i in instances}
    hosted: dict[str, list[InstanceStatus]] = {}
    for found in sorted(instances, key=lambda i: (i.instance.node, number_of(i.instance.id)), reverse=True):
        hosted.setdefault(found.instance.host if found.instance.host in shown else "", []).append(found)
    # What stands before the instance itself, and before those below it.
    stack = [("", "", found) for found in hosted.get("", ())]
    while stack:
        own, below, found = stack.pop()
        yield own, found
        for index, child in enumerate(hosted.get(found.instance.id, ())):
            # The list is in reverse, as a stack wants it: the first one is shown last.
            branch, deeper = ("last", "gap") if index == 0 else ("child", "line")
            stack.append((below + branches[branch], below + branches[deeper], child))


UNICODE_BRANCHES = {"child": "├── ", "last": "└── ", "line": "│   ", "gap": "    "}
ASCII_BRANCHES = {"child": "|-- ", "last": "`-- ", "line": "|   ", "gap": "    "}
