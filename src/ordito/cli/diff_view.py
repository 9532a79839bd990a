"""Differences for people.

shop: what is recorded as deployed, and what service.yaml says
  reconfigure  api  3 instances   service.yaml:80:5
                 Standard.configure: input size: 1 -> 2  service.yaml:91:20
                 runs: stop, configure, start
3 to reconfigure; 4 unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ordito.app.diff import HookDiff, InputDiff
from ordito.base.text_width import width
from ordito.cli.channel import Channel
from ordito.cli.plan_view import MOST_ROWS, difference_line
from ordito.cli.progress.ledger import title
from ordito.cli.progress.lines import plural
from ordito.cli.text_width import pad, printable
from ordito.results.diff import DiffData, NodeDiffData

STYLES: Mapping[str, str] = {"added": "good", "removed": "bad"}
MOST_NAMED = 3
MOST_CAUSES = 8


def write_diff(diff: DiffData, against: str, channel: Channel, *, full: bool = False) -> None:
    """All differences; ``against`` is the name of the service that is compared. In full nothing is left out."""
    service = channel.paint("strong", printable(diff.service))
    channel.line(f"{service}: what is recorded as deployed, and what {printable(against)} says")
    _write_inputs(diff.inputs, channel)
    _write_nodes(diff.nodes, channel, full=full)
    _write_hooks(diff.hooks, channel)
    for warning in diff.warnings:
        channel.line(printable(warning))  # It says itself that it is a warning.
    if diff.takes_over:
        channel.line("  The files differ, but this changes nothing that exists: an upgrade records the new files.")
    channel.line(totals(diff))


def totals(diff: DiffData) -> str:
    """The differences in one sentence."""
    parts = [f"{count} {kind}" for kind, count in diff.totals.items()]
    parts.append(f"{diff.unchanged} unchanged")
    return f"Instances: {', '.join(parts)}."


def _write_inputs(inputs: Sequence[InputDiff], channel: Channel) -> None:
    if inputs:
        channel.line("  inputs")
    for found in inputs[:MOST_ROWS]:
        channel.line(f"    {difference_line(found.name, found.before, found.after, channel)}")


def _write_nodes(nodes: Sequence[NodeDiffData], channel: Channel, *, full: bool) -> None:
    rows = nodes if full else nodes[:MOST_ROWS]
    kinds = max((width(found.kind) for found in rows), default=0)
    names = max((width(_named(found)) for found in rows), default=0)
    indent = " " * (kinds + 4)
    for found in rows:
        mark = channel.paint(STYLES.get(found.kind, "change"), pad(found.kind, kinds))
        place = channel.paint("faint", found.declared)
        said = printable(found.reason)
        channel.line(f"  {mark}  {pad(printable(_named(found)), names)}  {said}  {place}".rstrip())
        causes = found.causes if full else found.causes[:MOST_CAUSES]
        for cause in causes:
            line = difference_line(cause.what, cause.before, cause.after, channel)
            channel.line(f"{indent}{line}  {channel.paint('faint', cause.declared)}".rstrip())
        if len(found.causes) > len(causes):
            channel.line(f"{indent}and {len(found.causes) - len(causes)} more; all of them with: --full")
        runs = ", ".join(map(_operation, found.operations))
        channel.line(f"{indent}{channel.paint('faint', f'runs: {printable(runs)}' if runs else 'nothing runs')}")
    if len(nodes) > len(rows):
        channel.line(f"  ... and {plural(len(nodes) - len(rows), 'more row')}; all of them with: --full")


def _named(found: NodeDiffData) -> str:
    count = len(found.instances)
    if count == 1:
        return found.instances[0]
    if count <= MOST_NAMED:
        return ", ".join(found.instances)
    return f"{found.node} ({plural(count, 'instance')})"


def _operation(name: str) -> str:
    operation, arrow, far = name.partition(" -> ")
    return f"{title(operation)}{arrow}{far}"


def _write_hooks(hooks: Sequence[HookDiff], channel: Channel) -> None:
    if not hooks:
        return
    channel.line("Lifecycle steps")
    phases, names = (max(map(width, column)) for column in zip(*((h.phase, h.id) for h in hooks), strict=True))
    for hook in hooks[:MOST_ROWS]:
        about = hook.component or "the whole service"
        channel.line(f"    {pad(hook.phase, phases)}  {pad(printable(hook.id), names)}  {hook.fqn}  ({about})")
