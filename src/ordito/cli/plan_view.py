"""A plan for people and for programs: what happens to each instance and why, in which order, and how much it is.

shop  (deploy, 6 instances)
  + machine_1    new node template                      service.yaml:52:5
  ~ web_1        scripts/start.sh has changed           service.yaml:80:5
Order
   1  machine_1 create
   2  api_1 create | web_1 create
Plan: 5 to make, 1 to change, 0 to remove; 24 operations in 9 waves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ordito.app.proposal import Proposal
from ordito.cli.channel import Channel
from ordito.cli.progress.ledger import node_of, title
from ordito.cli.progress.lines import plural
from ordito.cli.text_width import pad, printable, shorten, width
from ordito.planning.preview import Preview, PreviewStep, preview
from ordito.work.plan import Change

MOST_ROWS = 200
MOST_IN_WAVE = 8
WIDEST_REASON = 60

STYLES = {"+": "good", "~": "change", "-": "bad"}


def write_plan(proposal: Proposal, channel: Channel, *, full: bool) -> None:
    """The whole plan; ``full`` leaves nothing out however long it gets, and gives the reason of each step."""
    shown = preview(proposal.plan)
    channel.line(f"{channel.paint('strong', proposal.service.name)}  ({shown.workflow})")
    _write_changes(shown.changes, channel, full=full)
    if full:
        _write_steps(shown, channel)
    else:
        _write_waves(shown, channel)
    _write_warnings(shown, channel)
    channel.line(totals(shown, full=full))


def write_brief(proposal: Proposal, channel: Channel) -> None:
    """What is to be known of a plan that nobody is asked about."""
    shown = preview(proposal.plan)
    _write_warnings(shown, channel)
    channel.line(totals(shown))


def totals(shown: Preview, *, full: bool = False) -> str:
    """The plan in one sentence; ``full`` counts what does nothing too, where that is shown."""
    found = shown.totals
    instances = f"{found.made} to make, {found.changed} to change, {found.removed} to remove"
    operations = plural(found.operations + found.delegated, "operation")
    if full and found.no_op:
        operations += f" and {plural(found.no_op, 'no-op')}"
    return f"Plan: {instances}; {operations} in {plural(len(shown.waves) if full else found.waves, 'wave')}."


def plan_data(proposal: Proposal) -> dict[str, object]:
    """The plan for programs."""
    shown = preview(proposal.plan)
    return {
        "service": proposal.service.name,
        "workflow": shown.workflow,
        "changes": [change_data(change) for change in shown.changes],
        "waves": [[msgspec.to_builtins(step) for step in wave] for wave in shown.waves],
        "totals": msgspec.to_builtins(shown.totals),
        "counts": shown.counts,
        "warnings": list(shown.warnings),
    }


def change_data(change: Change) -> dict[str, object]:
    """What the plan means for one instance, for programs."""
    return {
        "symbol": change.symbol,
        "instance": change.instance,
        "reason": change.reason,
        "declared": change.declared,
    }


# ---------------------------------------------------------------------------------------------------------- changes


def _write_changes(changes: Sequence[Change], channel: Channel, *, full: bool) -> None:
    rows = [(c.symbol, c.instance, c.reason, c.declared) for c in changes]
    if len(rows) > MOST_ROWS and not full:
        rows = list(_folded(changes))
    shown = rows if full else rows[:MOST_ROWS]
    names = max((width(name) for _, name, _, _ in shown), default=0)
    reasons = min(max((width(reason) for _, _, reason, _ in shown), default=0), WIDEST_REASON)
    for symbol, name, reason, declared in shown:
        mark = channel.paint(STYLES.get(symbol, "strong"), symbol)
        place = channel.paint("faint", declared)
        channel.line(f"  {mark} {pad(name, names)}  {pad(printable(reason), reasons)}  {place}".rstrip())
    if len(rows) > len(shown):
        channel.line(f"  ... and {plural(len(rows) - len(shown), 'more row')}; all of them with: -o json")


def _folded(changes: Iterable[Change]) -> Iterator[tuple[str, str, str, str]]:
    """A row for all instances of a node to which the same happens for the same reason."""
    groups: dict[tuple[str, str, str, str], int] = {}
    for change in changes:
        key = (change.symbol, node_of(change.instance), change.reason, change.declared)
        groups[key] = groups.get(key, 0) + 1
    for (symbol, node, reason, declared), count in groups.items():
        yield symbol, f"{node} ({plural(count, 'instance')})", reason, declared


def _write_warnings(shown: Preview, channel: Channel) -> None:
    # Each says itself that it is a warning, behind its place.
    for warning in shown.warnings:
        channel.line(printable(warning))


# ------------------------------------------------------------------------------------------------------------ order


def _write_waves(shown: Preview, channel: Channel) -> None:
    """Which operations may run at the same time; those without an implementation are left out."""
    found = [[step for step in wave if not step.no_op] for wave in shown.waves]
    found = [wave for wave in found if wave]
    if not found:
        return
    channel.line(channel.paint("strong", "Order"))
    digits = len(str(len(found)))
    for number, wave in enumerate(found[:MOST_ROWS], 1):
        more = f" | and {len(wave) - MOST_IN_WAVE} more" if len(wave) > MOST_IN_WAVE else ""
        text = " | ".join(map(_named, wave[:MOST_IN_WAVE])) + more
        channel.line(f"  {number:>{digits}}  {shorten(text, channel.width - digits - 4, channel.symbols.ellipsis)}")
    if len(found) > MOST_ROWS:
        channel.line(f"  ... and {plural(len(found) - MOST_ROWS, 'more wave')}")


def _write_steps(shown: Preview, channel: Channel) -> None:
    """Every step with its reason, wave by wave."""
    for number, wave in enumerate(shown.waves, 1):
        channel.line(channel.paint("strong", f"Wave {number}"))
        for step in wave:
            does = "by a provider" if step.delegated else step.artifact or "no-op"
            channel.line(f"    {_named(step)}  {channel.paint('faint', f'{does}; {printable(step.reason)}')}")


def _named(step: PreviewStep) -> str:
    return f"{step.instance} {title(step.operation, step.far)}"
