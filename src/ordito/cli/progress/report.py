"""The report at the end of a job: each failure, a line of counts for each instance, and what to do next.

FAILED web_1 start: exit 3 after 1.2s (scripts/start.sh)
   | Error: bind 0.0.0.0:80: permission denied
 operation declared at service.yaml:52:18
RECAP
  server_1  ok=2
  web_1     ok=3 FAILED=1
Job A6BKKQCN0000 (deploy) failed after 00:00:21: 12 ok, 1 failed, 3 skipped.
Next:  ordito jobs logs A6BKKQCN0000    read what every operation printed
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

import msgspec

from ordito.base.text import listed
from ordito.base.text_width import width
from ordito.cli.channel import Channel
from ordito.cli.durations import clock
from ordito.cli.progress.ledger import WHOLE, Account, Ledger, in_words, node_of, subject, titled
from ordito.cli.progress.lines import failure, plural
from ordito.cli.settings import COMMAND, GlobalSettings
from ordito.cli.text_width import pad, printable, short_pins, shorten
from ordito.work.events import Event, StepFailed, StepRetrying, StepSucceeded
from ordito.work.invocation import Ending
from ordito.work.workflows import workflow_of

MOST_ROWS = 200
MOST_FAILURES = 20
MOST_ALIKE = 12
"""How many operations that failed because of the same host are named."""
OUT_OF_REACH = frozenset({Ending.UNREACHABLE, Ending.LOST})
"""The endings of operations whose host could not be reached."""
LINES_SHOWN = 10
"""How many last lines of a failed operation are shown; the log has all of them."""
LONGEST_LINE = 400
"""Lines of operations are cut after this number of columns."""


class NextCommand(msgspec.Struct, frozen=True):
    """A proposed command, exactly as to be typed, and what it does."""

    command: str
    purpose: str


class Summary(msgspec.Struct, frozen=True):
    """How a job ended, for people; counts include the time before an interruption."""

    job: str
    workflow: str
    status: str
    seconds: float
    succeeded: int
    no_op: int
    failed: int
    skipped: int
    warnings: int = 0


def write_failures(failures: Sequence[StepFailed], channel: Channel) -> None:
    """Write a block for each failed operation; of very many only the first ones, because later ones often follow from
    them. Operations that failed because of the same host are named below the first of them."""
    blocks = _alike(failures)
    for first, *others in blocks[:MOST_FAILURES]:
        for line in _failure(first, channel):
            channel.line(line)
        if others:
            channel.line(f"   likewise: {printable(listed(map(_named, others), MOST_ALIKE))}")
    if len(blocks) > MOST_FAILURES:
        left = sum(map(len, blocks[MOST_FAILURES:]))
        channel.line(f"... and {plural(left, 'more failure')}")


def _alike(failures: Sequence[StepFailed]) -> list[list[StepFailed]]:
    """Failures in their order; those with the same unreachable host and reason are grouped."""
    found: dict[object, list[StepFailed]] = {}
    for number, failed in enumerate(failures):
        outcome = failed.outcome
        of_host = outcome.ending in OUT_OF_REACH and outcome.message and not outcome.tail and failed.hook is None
        key = (outcome.ending, outcome.message, failed.optional) if of_host else number
        found.setdefault(key, []).append(failed)
    return list(found.values())


def _named(failed: StepFailed) -> str:
    return f"{subject(failed) or WHOLE} {titled(failed)}"


def _failure(failed: StepFailed, channel: Channel) -> Iterator[str]:
    artifact = f" ({failed.artifact})" if failed.artifact else ""
    what = _named(failed)
    if failed.hook is None and (words := in_words(failed.step)) != failed.step:
        # They have the far end of a link as well, as seen from its source.
        what = words if words.startswith(f"{failed.instance} ") else f"{what} -> {words.partition(' ')[0]}"
    word = channel.paint("change", "FAILED (optional)") if failed.optional else channel.paint("error", "FAILED")
    yield f"{word} {what}: {failure(failed.outcome)}{artifact}"
    tail = failed.outcome.tail[-LINES_SHOWN:]
    message = failed.outcome.message
    if message and message not in failure(failed.outcome) and message not in tail:
        yield f"   {short_pins(message)}"
    yield from last_lines(tail, channel)
    if failed.declared:
        yield f" {'operation' if failed.hook is None else 'lifecycle step'} declared at {failed.declared}"


def last_lines(lines: Iterable[str], channel: Channel) -> Iterator[str]:
    """The last lines that an operation printed, indented below its message."""
    bar, ellipsis = channel.paint("faint", channel.symbols.bar), channel.symbols.ellipsis
    for line in lines:
        yield f"   {bar} {shorten(short_pins(line), LONGEST_LINE, ellipsis)}"


def write_recap(ledger: Ledger, channel: Channel) -> None:
    """Write the counts of each instance, or of each node if that would be too many rows. If even the nodes are too
    many, those with failures are shown, and all others as one row."""
    rows: list[_Row] = [(name, [account]) for name, account in ledger.accounts.items()]
    if len(rows) > MOST_ROWS:
        rows = _by_node(ledger)
    if len(rows) > MOST_ROWS:
        rows = _with_failures(rows)
    shown = [(name, counts) for name, accounts in rows if (counts := _counts(accounts, channel))]
    if not shown:
        return
    channel.line(channel.paint("strong", "RECAP") + (" (since it was resumed)" if ledger.resumed else ""))
    longest = max(width(name) for name, _ in shown)
    for name, counts in shown:
        channel.line(f"  {pad(name, longest)}  {counts}")


_Row = tuple[str, list[Account]]


def _by_node(ledger: Ledger) -> list[_Row]:
    nodes: dict[str, list[Account]] = {}
    for name, account in ledger.accounts.items():
        nodes.setdefault(node_of(name), []).append(account)
    return [(f"{name} ({len(accounts)})", accounts) for name, accounts in nodes.items()]


def _with_failures(rows: list[_Row]) -> list[_Row]:
    """Rows with failures or skipped operations, as many as fit; the accounts of the others in a last row."""
    chosen = {name for name, accounts in rows if any(a.failed or a.skipped for a in accounts)}
    shown = [row for row in rows if row[0] in chosen][: MOST_ROWS - 1]
    kept = {name for name, _ in shown}
    others = [accounts for name, accounts in rows if name not in kept]
    return [*shown, (plural(len(others), "other node" if shown else "node"), list(chain.from_iterable(others)))]


def _counts(accounts: Iterable[Account], channel: Channel) -> str:
    totals = dict.fromkeys(("ok", "changed", "no-op", "FAILED", "skipped"), 0)
    for account in accounts:
        totals["ok"] += account.ok - sum(account.unwell.values())
        totals["changed"] += account.changed
        totals["no-op"] += account.no_op
        totals["FAILED"] += account.failed
        totals["skipped"] += account.skipped
        for status, count in account.unwell.items():
            # What only looks has ended well, and what it has found is not.
            totals[f"says {status}"] = totals.get(f"says {status}", 0) + count
    styles = {"ok": "good", "FAILED": "bad"}
    shown = ((name, f"{name}={count}") for name, count in totals.items() if count)
    return " ".join(channel.paint(styles[name], text) if name in styles else text for name, text in shown)


def write_summary(summary: Summary, channel: Channel) -> None:
    """Write the sentence about the job."""
    # How things are is said below what only looks at them: that all was looked at does not mean that all is ok.
    well = "answered" if workflow_of(summary.workflow).looks else "ok"
    counted = (
        (summary.succeeded - summary.no_op, well),
        (summary.no_op, "no-op"),
        (summary.failed, "failed"),
        (summary.skipped, "skipped"),
    )
    counts = ", ".join(f"{count} {name}" for count, name in counted if count) or "nothing was run"
    counts += f", {plural(summary.warnings, 'warning')}" if summary.warnings else ""
    ended = "done" if summary.status == "ok" else summary.status
    ended = channel.paint({"ok": "good", "degraded": "change"}.get(summary.status, "bad"), ended)
    channel.line(f"Job {summary.job} ({summary.workflow}) {ended} after {clock(summary.seconds)}: {counts}.")


def write_next(commands: Sequence[NextCommand], channel: Channel) -> None:
    """Write the proposed commands."""
    longest = max((width(command.command) for command in commands), default=0)
    for index, command in enumerate(commands):
        label = "Next:" if index == 0 else "     "
        shown = channel.paint("strong", command.command) + " " * (longest - width(command.command))
        channel.line(f"{label}  {shown}    {command.purpose}")


# Commands in messages of operations: what a host or a provider proposes is about the ensemble of this command.

Told = TypeVar("Told", bound=Event)


def completed(event: Told, settings: GlobalSettings) -> Told:
    """An event whose message names commands for the same ensemble; most events name none."""
    if not isinstance(event, StepSucceeded | StepFailed | StepRetrying) or not COMMAND.search(event.outcome.message):
        return event
    outcome = msgspec.structs.replace(event.outcome, message=settings.completed(event.outcome.message))
    return msgspec.structs.replace(event, outcome=outcome)
