"""The status as it changes: a screen that is drawn again on a terminal, one line a change elsewhere, and for programs
one object a change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ordito.app.status import InstanceStatus, StatusResult
from ordito.cli.channel import Channel
from ordito.cli.progress.lines import plural
from ordito.cli.session import Session
from ordito.cli.settings import Format
from ordito.cli.status_view import attempt_line, job_line, painted, status_data, write_status
from ordito.cli.structured import json_text, write_data
from ordito.cli.text_width import printable

CLEAR = "\x1b[H\x1b[2J\x1b[3J"


def follow(found: Iterable[StatusResult], session: Session, *, fold: bool) -> None:
    """Show each status as it comes; ends with Ctrl-C, or when nobody reads any more."""
    before: StatusResult | None = None
    for now in found:
        _show(before, now, session, fold=fold)
        before = now
        if not session.out.is_open:
            return


def _show(before: StatusResult | None, now: StatusResult, session: Session, *, fold: bool) -> None:
    out = session.out
    if session.stream is not None:
        session.stream.say("status", {"status": status_data(now)})
    elif session.settings.output is Format.JSON:
        out.write(json_text(status_data(now), ascii_only=not out.is_unicode) + "\n")
    elif session.settings.output is Format.YAML:
        out.write("---\n")
        write_data(status_data(now), Format.YAML, out)
    elif out.is_animated:
        out.write(CLEAR)
        write_status(now, out, fold=fold)
        out.line(out.paint("faint", "Ctrl-C ends this view; what runs goes on."))
    else:
        out.lines(_changes(before, now, out))


def _changes(before: StatusResult | None, now: StatusResult, channel: Channel) -> Iterator[str]:
    """A line for each thing that is other than before; at first for what there is as a whole."""
    name = now.service or "nothing is deployed"
    if before is None:
        count = plural(sum(i.instance.exists for i in now.instances), "instance")
        yield f"{name}  {painted(now.effective, channel)}  ({count})"
        if ended := attempt_line(now):
            yield ended
        yield job_line(now)
        return
    known = {i.instance.id: i for i in before.instances}
    for instance in now.instances:
        old = known.pop(instance.instance.id, None)
        if old is None or _said(old) != _said(instance):
            yield f"{instance.instance.id}  {_step(old, instance, channel)}"
    yield from (f"{gone}  {painted('absent', channel)}" for gone in known)
    if before.effective != now.effective:
        yield f"{name}  {painted(before.effective, channel)} -> {painted(now.effective, channel)}"
    if (ended := attempt_line(now)) and ended != attempt_line(before):
        yield ended
    if job_line(before) != job_line(now):
        yield job_line(now)


def _said(found: InstanceStatus) -> tuple[object, ...]:
    i = found.instance
    return i.state, i.local, found.effective, i.note, tuple(i.failed)


def _step(old: InstanceStatus | None, now: InstanceStatus, channel: Channel) -> str:
    status = painted(now.effective, channel)
    state = now.instance.state
    if old is not None and old.effective != now.effective:
        status = f"{painted(old.effective, channel)} -> {status}"
    if old is not None and old.instance.state != state:
        state = f"{old.instance.state} -> {state}"
    failed = f"failed: {', '.join(now.instance.failed)}" if now.instance.failed else ""
    note = "; ".join(filter(None, (now.instance.note, failed)))
    return f"{state}  {status}  {printable(note)}".rstrip()
