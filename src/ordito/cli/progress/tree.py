"""Progress on a terminal: a tree of nodes and instances that is redrawn in place.

It never has more rows than the screen. What needs no more attention is folded: instances that are done into their node,
and nodes that are done or wait into one row each.
"""

from __future__ import annotations

import contextlib
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
from ordito.cli.progress.ledger import Account, InstancePhase, Ledger, Node, RunningOperation
from ordito.cli.progress.lines import LineProgress, plural
from ordito.cli.text_width import one_line, pad, shorten
from ordito.work.events import Event, JobFinished, JobRollback, JobStarted, StepFailed, StepRetrying, StepWarning

FRAMES_PER_SECOND = 5
"""A frame costs several milliseconds of the job's time."""

SPARE_ROWS = 3
"""Rows for the heading, the footer and the cursor."""

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
    """Redraws the tree a few times a second, from a thread of its own, while the job runs.

    Lasting lines (failures, warnings, with ``shows_output`` every transition and what operations print) are written
    above it, together with the next frame: each write above costs a frame of its own.
    """

    def __init__(self, channel: Channel, *, shows_output: bool = False) -> None:
        self._channel = channel
        self._shows_output = shows_output
        self._ledger = Ledger()
        self._lock = threading.Lock()
        self._above = Above(channel)
        self._passing = LineProgress(self._above, shows_output=shows_output)
        self._console = Console(
            file=channel.stream,
            force_terminal=True,
            no_color=not channel.has_color,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._live = Live(
            get_renderable=lambda: self,
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._redraw, name="ordito-progress", daemon=True)

    def __call__(self, event: Event) -> None:
        """Process an event; the next frame shows it."""
        with self._lock:
            self._ledger(event)
            if self._shows_output or isinstance(
                event, JobRollback | JobStarted | StepFailed | StepRetrying | StepWarning
            ):
                self._passing(event)
            else:
                self._passing.note(event)
        if isinstance(event, JobStarted):
            with contextlib.suppress(OSError):
                self._live.start()
            self._thread.start()
        elif isinstance(event, JobFinished):
            self.close()

    def close(self) -> None:
        """Remove the tree from the screen; later output takes its place."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
            with contextlib.suppress(OSError):
                self._live.stop()

    def say(self, text: str) -> None:
        """Write a line above the tree."""
        with self._lock:
            self._above.line(text)

    def _redraw(self) -> None:
        while not self._ended.wait(1 / FRAMES_PER_SECOND):
            self._draw()
        self._draw()

    def _draw(self) -> None:
        with self._lock:
            text = self._above.taken()
        try:
            if text:
                self._console.out(text, end="", highlight=False)
            else:
                self._live.refresh()
        except OSError:
            # The terminal is gone; the job goes on, and nothing is kept for it any more.
            self._ended.set()
            self._above.is_open = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """One frame."""
        most = options.max_width - 1
        ellipsis = self._channel.symbols.ellipsis
        with self._lock:
            rows = list(frame(self._ledger, console.size.height, self._channel, time.time()))
        for style, text in rows:
            yield Segment(shorten(one_line(text), most, ellipsis), STYLES[style])
            yield Segment.line()


class Above(Channel):
    """A stream for lines above the tree: keeps them until the next frame writes them."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel.stream)
        self.has_color = channel.has_color
        self._kept: list[str] = []

    def write(self, text: str) -> None:
        """Keep a text until it is taken."""
        if self.is_open:
            self._kept.append(text)

    def taken(self) -> str:
        """The kept text, which is then cleared."""
        kept, self._kept = self._kept, []
        return "".join(kept)


def frame(ledger: Ledger, height: int, channel: Channel, now: float) -> Iterator[Row]:
    """The rows of a frame at a time (seconds since the epoch), at most ``height`` less one."""
    running = len(ledger.activities)
    heading = f"{ledger.workflow}   job {ledger.job}   {clock(now - ledger.began)}   "
    yield "strong", f"{heading}{ledger.ended}/{ledger.steps} steps   {running} running"
    room = max(height - SPARE_ROWS, 4)
    if len(ledger.nodes) + ledger.counts[InstancePhase.BUSY] <= room:
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
    settled, waiting = node.counts[InstancePhase.SETTLED], node.counts[InstancePhase.WAITING]
    if settled == total:
        count = f" {total} of {total}" if total > 1 else ""
        return "good", f" {symbols.ok} {label}{count} {node.state}"
    if waiting == total:
        return "faint", f" {symbols.waiting} {label} {plural(total, 'instance')} waiting"
    return "", f" {symbols.running} {label} {settled} of {total} done, {waiting} waiting"


def _folded(ledger: Ledger, room: int, channel: Channel, now: float) -> Iterator[Row]:
    """Rows if there is no room for all nodes: the busy instances, as many as fit, and numbers for the others."""
    busy = chain.from_iterable(node.busy.items() for node in ledger.nodes.values() if node.busy)
    shown = list(islice(busy, room - 3))
    yield from (_instance(name, account, channel, now, "") for name, account in shown)
    symbols = channel.symbols
    rest = ledger.counts[InstancePhase.BUSY] - len(shown)
    if rest:
        yield "faint", f" {symbols.ellipsis} and {plural(rest, 'more busy instance')}"
    yield "faint", f" {symbols.waiting} {plural(ledger.counts[InstancePhase.WAITING], 'instance')} waiting"
    yield "good", f" {symbols.ok} {plural(ledger.counts[InstancePhase.SETTLED], 'instance')} done"


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


def _activity(activity: RunningOperation, now: float) -> str:
    last = f'   last: "{activity.last_line}"' if activity.last_line else ""
    return f"{activity.operation}   {clock(now - activity.since)}{last}"
