"""Progress on a terminal: a tree of nodes and instances that is redrawn in place.

It never has more rows than the screen, and what needs no attention any more is folded: instances that are done into
their node, and nodes that are done or wait into one row each.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import chain, islice

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.style import Style

from ordito.cli.channel import Channel
from ordito.cli.durations import clock
from ordito.cli.progress.ledger import Account, Activity, Ledger, Node, Phase
from ordito.cli.progress.lines import LineProgress, plural
from ordito.cli.text_width import pad, printable, shorten
from ordito.work.events import Event, JobFinished, JobStarted, StepFailed, StepLog, StepWarning

FRAMES_PER_SECOND = 5
"""A frame costs several milliseconds, which the job pays."""

SPARE_ROWS = 3
"""Rows left to the heading, the footing and the cursor."""

NAME_WIDTH = 20
STATE_WIDTH = 12

Row = tuple[str, str]
"""A row's style and text."""

STYLES = {
    "good": Style(color="green"),
    "bad": Style(color="red"),
    "change": Style(color="yellow"),
    "faint": Style(dim=True),
    "strong": Style(bold=True),
    "": Style(),
}


class TreeProgress:
    """Redraws the tree a few times a second, from a thread of its own, for as long as the job runs.

    What passes by for good (failures, warnings, with ``shows_output`` what operations print) is written above it.
    """

    def __init__(self, channel: Channel, *, shows_output: bool = False) -> None:
        self._channel = channel
        self._shows_output = shows_output
        self._ledger = Ledger()
        self._lock = threading.Lock()
        console = Console(
            file=channel.stream,
            force_terminal=True,
            no_color=not channel.has_color,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._console = console
        self._passing = LineProgress(Above(channel, console), shows_output=shows_output)
        self._live = Live(
            get_renderable=lambda: self,
            console=console,
            refresh_per_second=FRAMES_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __call__(self, event: Event) -> None:
        """Take notice of an event; the next frame shows it."""
        with self._lock:
            self._ledger(event)
        if isinstance(event, JobStarted):
            self._passing(event)
            self._live.start()
        elif isinstance(event, JobFinished):
            self.close()
        elif self._shows_output or isinstance(event, StepFailed | StepWarning):
            self._passing(event)
        elif not isinstance(event, StepLog):
            self._passing.note(event)

    def close(self) -> None:
        """Take the tree off the screen; what follows is written where it stood."""
        self._live.stop()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """One frame."""
        most = options.max_width - 1
        ellipsis = self._channel.symbols.ellipsis
        with self._lock:
            rows = list(frame(self._ledger, console.size.height, self._channel, time.time()))
        for style, text in rows:
            yield Segment(shorten(printable(text), most, ellipsis), STYLES[style])
            yield Segment.line()


class Above(Channel):
    """The place above the tree."""

    def __init__(self, channel: Channel, console: Console) -> None:
        super().__init__(channel.stream)
        self.has_color = channel.has_color
        self.symbols = channel.symbols
        self._console = console

    def write(self, text: str) -> None:
        """Write a text above the tree."""
        self._console.out(text, end="", highlight=False)


def frame(ledger: Ledger, height: int, channel: Channel, now: float) -> Iterator[Row]:
    """The rows of a frame at a moment (seconds since the epoch), at most ``height`` less one."""
    running = len(ledger.activities)
    heading = f"{ledger.workflow}   job {ledger.job}   {clock(now - ledger.began)}   "
    yield "strong", f"{heading}{ledger.ended}/{ledger.steps} steps   {running} running"
    room = max(height - SPARE_ROWS, 4)
    if len(ledger.nodes) + ledger.counts[Phase.BUSY] <= room:
        for node in ledger.nodes.values():
            yield from _branch(node, channel, now)
    else:
        yield from _folded(ledger, room, channel, now)
    yield "faint", "stop: Ctrl-C once = let running steps finish, twice = end them now"


def _branch(node: Node, channel: Channel, now: float) -> Iterator[Row]:
    """The row of a node, followed by those of its instances that are not folded into it."""
    if node.total == 1 and node.busy:
        yield from (_instance(name, account, channel, now, "") for name, account in node.busy.items())
        return
    yield _node(node, channel)
    for name, account in node.busy.items():
        yield _instance(name, account, channel, now, "  ")


def _node(node: Node, channel: Channel) -> Row:
    symbols, label, total = channel.symbols, pad(node.name, NAME_WIDTH), node.total
    settled, waiting = node.counts[Phase.SETTLED], node.counts[Phase.WAITING]
    if settled == total:
        count = f" {total} of {total}" if total > 1 else ""
        return "good", f" {symbols.ok} {label}{count} {node.state}"
    if waiting == total:
        return "faint", f" {symbols.waiting} {label} {plural(total, 'instance')} waiting"
    return "", f" {symbols.running} {label} {settled} of {total} done, {waiting} waiting"


def _folded(ledger: Ledger, room: int, channel: Channel, now: float) -> Iterator[Row]:
    """Where there is no room for all nodes: the busy instances, as many as fit, and numbers for the others."""
    busy = chain.from_iterable(node.busy.items() for node in ledger.nodes.values() if node.busy)
    shown = list(islice(busy, room - 3))
    yield from (_instance(name, account, channel, now, "") for name, account in shown)
    symbols = channel.symbols
    rest = ledger.counts[Phase.BUSY] - len(shown)
    if rest:
        yield "faint", f" {symbols.ellipsis} and {plural(rest, 'more busy instance')}"
    yield "faint", f" {symbols.waiting} {plural(ledger.counts[Phase.WAITING], 'instance')} waiting"
    yield "good", f" {symbols.ok} {plural(ledger.counts[Phase.SETTLED], 'instance')} done"


def _instance(name: str, account: Account, channel: Channel, now: float, indent: str) -> Row:
    symbols = channel.symbols
    said = f"{pad(indent + name, NAME_WIDTH)} {pad(account.state, STATE_WIDTH)}"
    if account.running:
        text = "; ".join(_activity(activity, now) for activity in account.running.values())
        return "change", f" {symbols.running} {said} {text}"
    if account.failed:
        return "bad", f" {symbols.failed} {said} {account.failed} failed"
    if account.skipped:
        return "faint", f" {symbols.skipped} {said} {account.skipped} skipped"
    return "faint", f" {symbols.waiting} {said}"


def _activity(activity: Activity, now: float) -> str:
    last = f'   last: "{activity.last_line}"' if activity.last_line else ""
    return f"{activity.operation}   {clock(now - activity.since)}{last}"
