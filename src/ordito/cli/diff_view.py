"""Differences for people and for programs.

shop: what is recorded as deployed, and what service.yaml says
  reconfigure  api  3 instances   service.yaml:80:5
                 Standard.configure: input size: 1 -> 2  service.yaml:91:20
                 runs: stop, configure, start
3 to reconfigure; 4 unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ordito.app.diff import Diff, HookDiff, InputDiff, NodeDiff
from ordito.cli.channel import Channel
from ordito.cli.plan_view import MOST_ROWS, difference_line
from ordito.cli.progress.ledger import title
from ordito.cli.progress.lines import plural
from ordito.cli.text_width import pad, printable, width

FORMAT = "ordito.diff/1"
"""The format and its version: new names may be added; a change of meaning gets a new number."""

STYLES: Mapping[str, str] = {"added": "good", "removed": "bad"}
MOST_NAMED = 3
MOST_CAUSES = 8


def diff_data(diff: Diff) -> dict[str, object]:
    """The differences for programs."""
    return {
        "format": FORMAT,
        "service": diff.service,
        "environment": diff.environment,
        "different": not diff.is_empty,
        "inputs": [msgspec.to_builtins(found) for found in diff.inputs],
        "nodes": [_node_data(found) for found in diff.nodes],
        "hooks": [msgspec.to_builtins(found) for found in diff.hooks],
        "totals": dict(diff.totals),
        "unchanged": diff.unchanged,
        "takes_over": diff.takes_over,
        "warnings": list(diff.warnings),
    }


def _node_data(found: NodeDiff) -> dict[str, object]:
    return {
        "node": found.node,
        "class": found.kind,
        "instances": list(found.instances),
        "reason": found.reason,
        "declared": found.declared,
        "causes": [
            {"what": c.what, "before": c.before, "after": c.after, "declared": c.declared} for c in found.causes
        ],
        "operations": list(found.operations),
    }


def write_diff(diff: Diff, against: str, channel: Channel, *, full: bool = False) -> None:
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


def totals(diff: Diff) -> str:
    """The differences in one sentence."""
    parts = [f"{count} {kind}" for kind, count in diff.totals.items()]
    parts.append(f"{diff.unchanged} unchanged")
    return f"Instances: {', '.join(parts)}."


def _write_inputs(inputs: Sequence[InputDiff], channel: Channel) -> None:
    if inputs:
        channel.line("  inputs")
    for found in inputs[:MOST_ROWS]:
        channel.line(f"    {difference_line(found.name, found.before, found.after, channel)}")


def _write_nodes(nodes: Sequence[NodeDiff], channel: Channel, *, full: bool) -> None:
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


def _named(found: NodeDiff) -> str:
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
