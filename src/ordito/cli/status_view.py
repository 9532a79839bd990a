"""What exists, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from ordito.base.json_text import json_text
from ordito.base.text import listed, spans
from ordito.base.text_width import width
from ordito.cli.channel import Channel
from ordito.cli.progress.lines import plural
from ordito.cli.session import Session
from ordito.cli.settings import Format
from ordito.cli.structured import write_data
from ordito.cli.text_width import pad, printable
from ordito.ensemble.status import WELL
from ordito.instances.records import number_of
from ordito.results.status import InstanceData, OpenJobData, StatusData
from ordito.work.plan import KeptCount
from ordito.work.workflows import workflow_of

MOST_NAMED = 5
MOST_IN_TREE = 200
"""With more rows than this the status is plain lines, one per instance."""

STYLES = {
    "ok": "good",
    "degraded": "change",
    "pending": "change",
    "unknown": "change",
    "error": "bad",
    "failed": "bad",
    "interrupted": "bad",
    "cancelled": "change",
    "absent": "faint",
}

UNREADABLE = "a service that cannot be read here"
"""Instead of the name of a deployed service that cannot be read, as in a clone without the key."""


def write_status(found: StatusData, channel: Channel, *, fold: bool = True) -> None:
    """The status for people: a tree by hosting, in which instances that agree are one row; plain lines, one per
    instance, if that would be very many rows."""
    name = channel.paint("strong", found.service or (UNREADABLE if found.caveat else "nothing is deployed"))
    effective = painted(found.status, channel) if found.instances else "no instances"
    about = [plural(sum(i.exists for i in found.instances.values()), "instance"), f"revision {found.revision}"]
    if found.environment:
        about.append(f"environment {printable(found.environment)}")
    channel.line(f"{name}  {effective}  ({', '.join(about)})")
    if ended := attempt_line(found):
        channel.line(ended)
    if len(found.instances) > MOST_IN_TREE:
        channel.line(f"  {_counted(found.instances.values(), channel)}")
    shown = list(islice(rows(found.instances, unicode=channel.is_unicode, fold=fold), MOST_IN_TREE + 1))
    if len(shown) > MOST_IN_TREE:
        shown = [AgreeingRow("", (one,)) for one in found.instances.items()]
    _write_rows(shown, channel)
    write_kept_counts(found.kept_counts, channel)
    channel.line(job_line(found))
    if found.waiting_notices:
        channel.line(f"{plural(found.waiting_notices, 'notice')} waiting to be handled")
    if found.failed_steps:
        named = listed(found.failed_steps, MOST_NAMED)
        channel.line(f"  failed: {printable(named)}; this may have left a state that the lifecycle does not know")


def attempt_line(found: StatusData) -> str:
    """Says that what was begun last is not complete, "" if it is. It says nothing about instances."""
    if found.attempt is not None:
        attempt = found.attempt
        if attempt.status in WELL:
            return f"revision {attempt.revision} is deployed in part: by job {attempt.job}{_by(attempt.workflow)}"
        what = "a rollback" if workflow_of(attempt.workflow).goes_back else f"an attempt at revision {attempt.revision}"
        return f"{what} is not complete: job {attempt.job}{_by(attempt.workflow)} {attempt.status}"
    last = found.last_job
    if found.half_removed and last is not None:
        return f"a removal is not complete: job {last.id}{_by(last.workflow)} {last.status}"
    return ""


def _by(workflow: str) -> str:
    return f" ({workflow})" if workflow else ""


def write_kept_counts(kept: Mapping[str, KeptCount], channel: Channel) -> None:
    """The numbers of instances set by scale, where the template asks for others, and since when."""
    for node, found in kept.items():
        about = f"{found.count} wanted, kept from scale (job {found.job}); the template asks for {found.over}"
        channel.line(f"  {printable(node)}: {about}")


def job_line(found: StatusData) -> str:
    """A line about the open job, else about the last one."""
    if found.job is not None:
        return f"job {open_job_line(found.job)}"
    last = found.last_job
    return f"last job: {last.id} ({last.workflow}) {last.status}" if last is not None else "no job has run yet"


def open_job_line(job: OpenJobData) -> str:
    """Who works on an unfinished job, whether it is rolled back, and how far it is."""
    if job.holder:
        said = f"is being {'rolled back' if job.rolling_back else 'run'} by {job.holder}"
    else:
        said = f"was interrupted{' while it was rolled back' if job.rolling_back else ''}"
    return f"{job.job} ({job.workflow}) {said}: {job.done} of {plural(job.steps, 'step')} ended"


def _counted(instances: Iterable[InstanceData], channel: Channel) -> str:
    """The number of instances of each status."""
    counts: dict[str, int] = {}
    for found in instances:
        counts[found.effective] = counts.get(found.effective, 0) + 1
    return ", ".join(f"{counts[status]} {painted(status, channel)}" for status in STYLES if status in counts)


def _write_rows(shown: Sequence[AgreeingRow], channel: Channel) -> None:
    titles = [row.lead + row.title for row in shown]
    names = max(map(width, titles), default=0)
    states = max((width(row.first.state) for row in shown), default=0)
    channel.lines(
        f"  {pad(title, names)}  {pad(row.first.state, states)}  {_said(row, channel)}".rstrip()
        for title, row in zip(titles, shown, strict=True)
    )


def _said(row: AgreeingRow, channel: Channel) -> str:
    """The text for instances that agree: their status, their own status if it differs, who created them, and what is
    special."""
    found = row.first
    said = painted(found.effective, channel)
    if found.effective != found.local:
        said += f" (itself {found.local})"
    failing = list(dict.fromkeys((*found.failed, *found.before_failure)))
    notes = [
        _made_by(row),
        "optional" if found.optional else "",
        found.note,
        "orphaned: no longer in the service" if found.orphaned else "",
        f"still as in {found.form}" if found.form else "",
        "changed since it was created" if found.drift and not found.note else "",
        f"failed: {', '.join(failing)}" if failing else "",
    ]
    special = "; ".join(filter(None, notes))
    return f"{said}  {printable(special)}" if special else said


def _made_by(row: AgreeingRow) -> str:
    """The names of instances at the provider that created them: ``pool: web-1, web-2``."""
    by: dict[str, list[str]] = {}
    for _, member in row.members:
        provider, name = member.made_by
        if provider:
            by.setdefault(provider, []).append(name)
    return "; ".join(f"{provider}: {listed(names, MOST_NAMED)}" for provider, names in by.items())


def painted(status: str, channel: Channel) -> str:
    """A status in its colour."""
    return channel.paint(STYLES.get(status, "strong"), status)


# The rows of the status: every instance below the one that hosts it, and as one row those that agree in everything
# that is shown of them and of what they host.


NamedInstance = tuple[str, InstanceData]
"""An instance with its id."""


class AgreeingRow(msgspec.Struct, frozen=True):
    """Instances of one node that agree, represented by the first; ``lead`` are the branches before them."""

    lead: str
    members: tuple[NamedInstance, ...]

    @property
    def first(self) -> InstanceData:
        """The instance that represents them."""
        return self.members[0][1]

    @property
    def title(self) -> str:
        """The ids."""
        return spans([name for name, _ in self.members])


def rows(instances: Mapping[str, InstanceData], *, unicode: bool, fold: bool) -> Iterator[AgreeingRow]:
    """The rows of the tree. It has its own stack, since hosting may be nested to any depth."""
    branches = UNICODE_BRANCHES if unicode else ASCII_BRANCHES
    hosted = _hosted(instances)
    agree = _agreements(hosted) if fold else {}
    # What stands before the instances themselves, and before those below them.
    stack = [("", "", group) for group in reversed(_groups(hosted.get("", []), agree))]
    while stack:
        own, below, group = stack.pop()
        yield AgreeingRow(own, tuple(group))
        children = [child for member in group for child in hosted.get(member[0], ())]
        for index, child in enumerate(reversed(_groups(children, agree))):
            branch, deeper = ("last", "gap") if index == 0 else ("child", "line")
            stack.append((below + branches[branch], below + branches[deeper], child))


def _hosted(instances: Mapping[str, InstanceData]) -> dict[str, list[NamedInstance]]:
    """By host ("" for none that is shown), the instances that it hosts, in order."""
    hosted: dict[str, list[NamedInstance]] = {}
    for name, found in sorted(instances.items(), key=lambda i: (i[1].node, number_of(i[0]))):
        hosted.setdefault(found.host if found.host in instances else "", []).append((name, found))
    return hosted


def _agreements(hosted: dict[str, list[NamedInstance]]) -> dict[str, int]:
    """A number for each instance, equal for instances that agree, including everything that they host."""
    order = list(hosted.get("", ()))
    for name, _ in order:  # grows while it is read
        order.extend(hosted.get(name, ()))
    numbers: dict[tuple[object, ...], int] = {}
    agree: dict[str, int] = {}
    for name, found in reversed(order):
        below = tuple(sorted(agree[child] for child, _ in hosted.get(name, ())))
        told = (found.orphaned, found.drift, found.form)
        shown = (found.node, found.state, found.local, found.effective, found.note, tuple(found.failed), *told)
        agree[name] = numbers.setdefault((shown, below), len(numbers))
    return agree


def _groups(siblings: Sequence[NamedInstance], agree: dict[str, int]) -> list[list[NamedInstance]]:
    if not agree:
        return [[sibling] for sibling in siblings]
    groups: dict[int, list[NamedInstance]] = {}
    for sibling in siblings:
        groups.setdefault(agree[sibling[0]], []).append(sibling)
    return list(groups.values())


UNICODE_BRANCHES = {"child": "├── ", "last": "└── ", "line": "│   ", "gap": "    "}
ASCII_BRANCHES = {"child": "|-- ", "last": "`-- ", "line": "|   ", "gap": "    "}


# The status as it changes: a screen that is drawn again on a terminal, one line a change elsewhere, and for programs
# one object a change.

CLEAR = "\x1b[H\x1b[2J\x1b[3J"


def follow(found: Iterable[StatusData], session: Session, *, fold: bool) -> None:
    """Show each status as it comes; ends with Ctrl-C, or when the reader has gone."""
    before: StatusData | None = None
    for now in found:
        _show(before, now, session, fold=fold)
        before = now
        if not session.out.is_open:
            return


def _show(before: StatusData | None, now: StatusData, session: Session, *, fold: bool) -> None:
    out = session.out
    if session.stream is not None:
        session.stream.say("status", {"status": now.data})
    elif session.settings.output is Format.JSON:
        out.write(json_text(now.data, ascii_only=not out.is_unicode) + "\n")
    elif session.settings.output is Format.YAML:
        out.write("---\n")
        write_data(now.data, Format.YAML, out)
    elif out.is_animated:
        out.write(CLEAR)
        write_status(now, out, fold=fold)
        out.line(out.paint("faint", "Ctrl-C ends this view; what runs goes on."))
    else:
        out.lines(_changes(before, now, out))


def _changes(before: StatusData | None, now: StatusData, channel: Channel) -> Iterator[str]:
    """A line for each change; at first one for everything together."""
    service = now.service or "nothing is deployed"
    if before is None:
        count = plural(sum(i.exists for i in now.instances.values()), "instance")
        yield f"{service}  {painted(now.status, channel)}  ({count})"
        if ended := attempt_line(now):
            yield ended
        yield job_line(now)
        return
    known = dict(before.instances)
    for name, instance in now.instances.items():
        old = known.pop(name, None)
        if old is None or _shown(old) != _shown(instance):
            yield f"{name}  {_step(old, instance, channel)}"
    yield from (f"{gone}  {painted('absent', channel)}" for gone in known)
    if before.status != now.status:
        yield f"{service}  {painted(before.status, channel)} -> {painted(now.status, channel)}"
    if (ended := attempt_line(now)) and ended != attempt_line(before):
        yield ended
    if job_line(before) != job_line(now):
        yield job_line(now)


def _shown(found: InstanceData) -> tuple[object, ...]:
    return found.state, found.local, found.effective, found.note, tuple(found.failed)


def _step(old: InstanceData | None, now: InstanceData, channel: Channel) -> str:
    status, state = painted(now.effective, channel), now.state
    if old is not None and old.effective != now.effective:
        status = f"{painted(old.effective, channel)} -> {status}"
    if old is not None and old.state != state:
        state = f"{old.state} -> {state}"
    failed = f"failed: {', '.join(now.failed)}" if now.failed else ""
    note = "; ".join(filter(None, (now.note, failed)))
    return f"{state}  {status}  {printable(note)}".rstrip()
