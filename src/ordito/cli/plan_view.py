"""A plan for people: what happens to each instance and why, in which order, and how much that is.

shop  (deploy)
  + machine_1  2 wanted (instance_count)              service.yaml:52:5
  ~ web_1      it is error: continued after create    service.yaml:80:5
                 the content of scripts/start.sh: 3f1c5a -> 9a02bb
Order
   1  machine_1 deploy
   2  api_1 create | web_1 configure
Plan: 5 to create, 1 to change, 0 to remove, 3 unchanged; 24 operations in 9 waves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum

from ordito.app.requests import words_of_losing
from ordito.base.text import listed
from ordito.base.text_width import width
from ordito.cli.channel import Channel
from ordito.cli.progress.ledger import called, node_of, nothing, title
from ordito.cli.progress.lines import plural
from ordito.cli.text_width import pad, printable, shorten
from ordito.planning.preview import AFTER_FAILURE, PreviewStep
from ordito.results.plan import PlanData, PlannedEdge
from ordito.work.plan import UNDO, Change, ChangeCause, Difference, KeptCount, Outage, StepCondition
from ordito.work.workflows import workflow_of

MOST_ROWS = 200
MOST_IN_WAVE = 8
MOST_NAMED_HOSTS = 3
MOST_LEFT_OUT = 12
"""How many instances that a plan leaves out are named one by one."""
MOST_DIFFERENCES = 3
"""How many differences of one instance are shown, unless everything is asked for."""
WIDEST_REASON = 60
WIDEST_VALUE = 60

STYLES = {"+": "good", "~": "change", "-/+": "change", "-": "bad"}


class Level(Enum):
    """How much of a plan is shown: what happens to nodes, to instances with the order, or every step too."""

    SUMMARY = "summary"
    USUAL = "usual"
    FULL = "full"


def write_plan(found: PlanData, channel: Channel, level: Level = Level.USUAL) -> None:
    """The whole plan; in full nothing is left out, however long it is, and the reason of each step is given."""
    within = f", environment {printable(found.environment)}" if found.environment else ""
    towards = f" to revision {found.back_to}" if found.back_to else ""
    channel.line(f"{channel.paint('strong', found.service)}  ({found.workflow}{towards}{within})")
    write_changes(found.changes, channel, level)
    if level is Level.FULL:
        _write_counts(found, channel)
        _write_steps(found, channel)
    elif level is Level.USUAL:
        _write_waves(found, channel)
    _write_held(found, channel)
    if found.changes and workflow_of(found.workflow).describes:
        write_chosen(found.chosen, channel)
    _write_makers(found.made_by, channel)
    write_kept(found.kept, channel)
    write_left_out(found, channel)
    write_kept_counts(found.kept_counts, channel)
    _write_losing(found, channel)
    _write_outages(found.outages, channel)
    _write_drifted(found, channel)
    _write_warnings(found, channel)
    channel.line(totals(found, full=level is Level.FULL))


def write_brief(found: PlanData, channel: Channel) -> None:
    """The most important of a plan that nobody is asked about."""
    if found.back_to:
        channel.line(f"Goes back to revision {found.back_to}.")
    _write_losing(found, channel)
    write_left_out(found, channel)
    _write_drifted(found, channel)
    _write_warnings(found, channel)
    _write_sharing(found, channel)
    channel.line(totals(found))


def _write_sharing(found: PlanData, channel: Channel) -> None:
    """What else would be replaced with the healed instances, although nobody has named it, and what would not be."""
    if workflow_of(found.workflow).heals:
        others = [c.instance for c in found.changes if c.symbol == "-/+" and c.cause is not ChangeCause.TO_HEAL]
        if others:
            channel.line(f"Replaced with it, if needed: {listed(others, MOST_IN_WAVE)}.")
    if not workflow_of(found.workflow).removes:  # Which tells in the end what it has left alone.
        write_kept(found.kept, channel)


def totals(shown: PlanData, *, full: bool = False) -> str:
    """The plan in one sentence; ``full`` also counts operations that do nothing, where these are shown."""
    found = shown.totals
    parts = [f"{found.made} to create", f"{found.changed} to change", f"{found.removed} to remove"]
    if workflow_of(shown.workflow).calls:
        parts = [f"runs on {plural(found.changed, 'instance')}"]
    if found.replaced:
        parts.insert(2, f"{found.replaced} to replace")
    if found.looked_at:
        parts.append(f"{found.looked_at} to check")
    if found.unchanged:
        parts.append(f"{found.unchanged} unchanged")
    operations = plural(found.operations + found.delegated, "operation")
    if full and found.no_op:
        operations += f" and {plural(found.no_op, 'no-op')}"
    return f"Plan: {', '.join(parts)}; {operations} in {plural(len(shown.waves) if full else found.waves, 'wave')}."


def write_kept(kept: Sequence[Change], channel: Channel) -> None:
    """What stays although everything else is removed, and why; grouped by reason if there are many."""
    if not kept:
        return
    channel.line("Kept")
    named: dict[str, list[str]] = {}
    for change in kept:
        named.setdefault(change.reason, []).append(change.instance)
    rows = [(change.instance, change.reason) for change in kept]
    if len(kept) > MOST_IN_WAVE:
        rows = [(listed(names, MOST_IN_WAVE), reason) for reason, names in named.items()]
    longest = max(width(name) for name, _ in rows)
    channel.lines(f"  = {pad(name, longest)}  {printable(reason)}" for name, reason in rows)


def write_left_out(found: PlanData, channel: Channel) -> None:
    """What a plan for everything would also do, if this plan is for a part."""
    if not found.part:
        return
    if not found.left_out:
        channel.line("Left out: everything else. What it would need is not known: a plan for everything is refused.")
        return
    if workflow_of(found.workflow).removes:
        named = listed([change.instance for change in found.left_out], MOST_LEFT_OUT)
        channel.line(f"Stays, as it is not part of this: {named}")
        return
    channel.line("Left out, as it is not part of this")
    rows = list(map(_row, found.left_out)) if len(found.left_out) <= MOST_LEFT_OUT else list(_folded(found.left_out))
    marks, names = max(width(row[0]) for row in rows), max(width(row[1]) for row in rows)
    for symbol, name, reason, _, _ in rows[:MOST_ROWS]:
        channel.line(f"  {pad(symbol, marks)} {pad(name, names)}  {printable(reason)}".rstrip())
    if len(rows) > MOST_ROWS:
        channel.line(f"  ... and {plural(len(rows) - MOST_ROWS, 'more row')}")


def write_kept_counts(kept: Mapping[str, KeptCount], channel: Channel) -> None:
    """The numbers of instances set by scale, where the template asks for others, and since when."""
    if kept:
        channel.line("Kept from scale")
        names = max(map(width, kept))
        for node, found in kept.items():
            by = f"job {found.job}" if found.job else "this job"
            channel.line(f"    {pad(node, names)}  {found.count}, where the template asks for {found.over} ({by})")


def _write_makers(makers: Mapping[str, str], channel: Channel) -> None:
    """The providers of nodes that are not on this machine."""
    if makers:
        names = max(map(width, makers))
        channel.line("Made by")
        channel.lines(f"    {pad(node, names)}  {printable(maker)}" for node, maker in makers.items())


def _write_losing(found: PlanData, channel: Channel) -> None:
    """The instances whose data is lost, and the options that permit it, if the command has not given them."""
    by_condition: dict[str, list[str]] = {}
    for name, condition in found.losing.items():
        by_condition.setdefault(condition, []).append(name)
    for condition, names in by_condition.items():
        is_lost = f"may be lost, {condition}" if condition else "is lost" if len(names) == 1 else "are lost"
        channel.line(channel.paint("bad", f"data of {listed(names, MOST_IN_WAVE)} {is_lost}"))
    if lost := found.not_permitted:
        words = words_of_losing(lost) if len(lost) <= MOST_IN_WAVE else words_of_losing(["NAME, for each of them"])
        channel.line(f"    not permitted yet: {' '.join(words)}")


def _write_outages(outages: Sequence[Outage], channel: Channel) -> None:
    """The nodes without any running instance for a while, and why."""
    if outages:
        names = max(width(outage.node) for outage in outages)
        channel.line(channel.paint("strong", "Down for a while"))
        for outage in outages[:MOST_ROWS]:
            count = f"all {outage.instances} instances" if outage.instances > 1 else "its only instance"
            channel.line(f"    {pad(outage.node, names)}  {count}: {printable(outage.reason)}")
        if len(outages) > MOST_ROWS:
            channel.line(f"    ... and {plural(len(outages) - MOST_ROWS, 'more node')}")


def _write_drifted(found: PlanData, channel: Channel) -> None:
    if found.drifted:
        named = listed(found.drifted, MOST_IN_WAVE)
        channel.line(f"{channel.paint('warning', 'warning')}: found to differ from how they were created: {named}")


# ---------------------------------------------------------------------------------------------------------- changes


def write_changes(changes: Sequence[Change], channel: Channel, level: Level = Level.USUAL) -> None:
    """What happens to each instance, or to each node if there are very many instances or only a summary is wanted."""
    full = level is Level.FULL
    folded = level is Level.SUMMARY or (len(changes) > MOST_ROWS and not full)
    rows = list(_folded(changes) if folded else map(_row, changes))
    shown = rows if full else rows[:MOST_ROWS]
    # Of very many rows nobody sees the columns, and each is written as it comes.
    aligned = shown[: 0 if len(shown) > MOST_ROWS else MOST_ROWS]
    names = max((width(name) for _, name, _, _, _ in aligned), default=0)
    reasons = min(max((width(reason) for _, _, reason, _, _ in aligned), default=0), WIDEST_REASON)
    marks = max((len(symbol) for symbol, _, _, _, _ in aligned), default=1)
    for symbol, name, reason, declared, differences in shown:
        mark = channel.paint(STYLES.get(symbol, "strong"), pad(symbol, marks))
        place = channel.paint("faint", declared)
        channel.line(f"  {mark} {pad(name, names)}  {pad(printable(reason), reasons)}  {place}".rstrip())
        if level is not Level.SUMMARY:
            _write_differences(differences, channel, marks + 5, full=full)
    if len(rows) > len(shown):
        channel.line(f"  ... and {plural(len(rows) - len(shown), 'more row')}; all of them with: --full")


Row = tuple[str, str, str, str, tuple[Difference, ...]]


def _row(change: Change) -> Row:
    return change.symbol, change.instance, change.reason, change.declared, change.differences


def _folded(changes: Iterable[Change]) -> Iterator[Row]:
    """One row for all instances of a node with the same change and reason."""
    groups: dict[tuple[str, str, str, str], list[Change]] = {}
    for change in changes:
        groups.setdefault((change.symbol, node_of(change.instance), change.reason, change.declared), []).append(change)
    for (symbol, node, reason, declared), found in groups.items():
        yield symbol, f"{node} ({plural(len(found), 'instance')})", reason, declared, found[0].differences


def _write_differences(differences: Sequence[Difference], channel: Channel, indent: int, *, full: bool) -> None:
    for found in differences if full else differences[:MOST_DIFFERENCES]:
        line = f"{' ' * indent}{difference_line(found.what, found.before, found.after, channel)}"
        channel.line(f"{line}  {channel.paint('faint', found.declared)}".rstrip())
    if not full and len(differences) > MOST_DIFFERENCES:
        channel.line(f"{' ' * indent}and {len(differences) - MOST_DIFFERENCES} more")


def difference_line(what: str, before: object, after: object, channel: Channel) -> str:
    """What has a new value, with the old and the new one, where they are known."""
    if before is None and after is None:
        return printable(what)
    return printable(f"{what}: {_value(before, channel)} -> {_value(after, channel)}")


def _value(value: object, channel: Channel) -> str:
    if value is None:
        return "(nothing)"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shorten(text, WIDEST_VALUE, channel.symbols.ellipsis) if text else '""'


def _write_counts(found: PlanData, channel: Channel) -> None:
    """Write how many instances of each node are wanted, and why."""
    if not found.counts:
        return
    channel.line(channel.paint("strong", "Instances"))
    for node, one in found.counts.items():
        origin = channel.paint("faint", f"  {one.origin}") if one.origin else ""
        channel.line(f"    {node} {one.count}{origin}")


def _write_warnings(found: PlanData, channel: Channel) -> None:
    # Each says itself that it is a warning, behind its place.
    for warning in found.warnings:
        channel.line(printable(warning))


# ------------------------------------------------------------------------------------------------------------ order


def _write_waves(plan: PlanData, channel: Channel) -> None:
    """Write which operations may run at the same time, without those that have no implementation."""
    found = [[step for step in wave if not step.no_op] for wave in plan.waves]
    found = [wave for wave in found if wave]
    if not found:
        return
    channel.line(channel.paint("strong", "Order"))
    rows = list(_rows_of_waves(found))
    digits = max(len(number) for number, _ in rows[:MOST_ROWS])
    for number, text in rows[:MOST_ROWS]:
        channel.line(f"  {number:>{digits}}  {shorten(text, channel.width - digits - 4, channel.symbols.ellipsis)}")
    if len(rows) > MOST_ROWS:
        channel.line(f"  ... and {plural(len(rows) - MOST_ROWS, 'more row')}")


def _rows_of_waves(waves: Sequence[Sequence[PreviewStep]]) -> Iterator[tuple[str, str]]:
    """A row for each wave, its number first; one row for many successive waves in which a node does the same, on one
    instance after the other."""
    first = 0
    while first < len(waves):
        wave = waves[first]
        last = first + 1
        if len(wave) == 1:
            while last < len(waves) and len(waves[last]) == 1 and _together(waves[last]) == _together(wave):
                last += 1
        if last - first > MOST_IN_WAVE:
            yield f"{first + 1}-{last}", f"{_together(wave)[0]} ({last - first}, one after the other)"
        else:
            for number in range(first, last):
                wave = waves[number]
                names = list(map(_in_order, wave)) if len(wave) <= MOST_IN_WAVE else _together(wave)
                yield str(number + 1), listed(names, MOST_IN_WAVE, between=" | ")
        first = last


def _write_held(found: PlanData, channel: Channel) -> None:
    """What makes the plan longer: the limit of operations at one time on a host, and how to raise it."""
    if found.held is None:
        return
    hosts = found.held.hosts
    most = max(hosts.values())
    few = "One operation at a time" if most == 1 else f"Up to {most} operations at one time"
    option = "--host-concurrency N, or " if any(host not in found.limited for host in hosts) else ""
    channel.line(
        f"{few} on {listed(list(hosts), MOST_NAMED_HOSTS)}: {plural(found.totals.waves, 'wave')} instead of"
        f" {found.held.otherwise}; more with {option}ordito.concurrency of the host."
    )


WHEN: Mapping[str, str] = {
    AFTER_FAILURE: " (on failure)",
    StepCondition.IF_ABSENT: " (if absent)",
    StepCondition.IF_LINKED: " (if linked)",
    StepCondition.UNLESS_LINKED: " (unless linked)",
}
"""The text after a step that is not always carried out, by its condition."""


def _in_order(step: PreviewStep) -> str:
    return f"{named(step)}{WHEN.get(step.condition, '')}"


def _together(wave: Sequence[PreviewStep]) -> list[str]:
    """What the instances of each node do in a wave with very many steps."""
    counts: dict[tuple[str, str, str, str], int] = {}
    for step in wave:
        key = node_of(step.instance), title(step.operation), node_of(step.far), WHEN.get(step.condition, "")
        counts[key] = counts.get(key, 0) + 1
    return [
        f"{node} {operation}{f' -> {far}' if far else ''}{when}{f' ({count})' if count > 1 else ''}"
        for (node, operation, far, when), count in counts.items()
    ]


def _write_steps(found: PlanData, channel: Channel) -> None:
    """Every step with its reason, wave by wave."""
    for number, wave in enumerate(found.waves, 1):
        channel.line(channel.paint("strong", f"Wave {number}"))
        for step in wave:
            channel.line(f"    {named(step)}  {channel.paint('faint', f'{does(step)}; {printable(step.reason)}')}")


def does(step: PreviewStep) -> str:
    """What a step runs, and its condition if that is only decided while the job runs."""
    found = "by a provider" if step.delegated else step.artifact or nothing(step.operation)
    return f"{found}, {step.condition}" if step.condition else found


def named(step: PreviewStep) -> str:
    """The name of a step for people."""
    if step.hook and step.operation.endswith(f".{step.hook}"):
        undo = "undo " if step.operation.startswith(f"{UNDO}.") else ""
        return f"{step.instance} {undo}{step.hook} ({step.phase})"
    about = f" ({step.hook}, {step.phase})" if step.hook else ""
    return f"{step.instance} {title(step.operation, step.far)}{about}"


def write_explanation(found: PlanData, channel: Channel) -> None:
    """Write the reason of every step, and of each step that it waits for."""
    steps = {step.id: step for wave in found.waves for step in wave}
    joins = {step.id: step for step in found.joins}
    before: dict[str, list[PlannedEdge]] = {}
    for edge in found.edges:
        before.setdefault(edge.after, []).append(edge)
    channel.line(f"{channel.paint('strong', found.service)}  ({found.workflow})")
    for name in found.order:
        known = steps.get(name)
        if known is not None:
            place = f"  {known.declared}" if known.declared else ""
            channel.line(
                f"{named(known)}  {channel.paint('faint', f'{does(known)}; {printable(known.reason)}{place}')}"
            )
        elif name in before:
            channel.line(channel.paint("faint", f"{called(name)}  {joins[name].reason}"))
        for reason, firsts in _by_reason(before.get(name, ())).items():
            names = [named(steps[first]) if first in steps else called(first) for first in firsts]
            channel.line(f"    after {listed(names, MOST_IN_WAVE)}: {printable(reason)}")
    channel.line(totals(found, full=True))


def _by_reason(edges: Iterable[PlannedEdge]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for edge in edges:
        found.setdefault(edge.reason, []).append(edge.before)
    return found


# What was chosen where a service leaves a choice, shown with the plan before anybody agrees to it (§5.8.2).


def write_chosen(chosen: Sequence[Mapping[str, str]], channel: Channel) -> None:
    """Each place with a choice, and what was chosen."""
    rows = [(row["for"], _said(row)) for row in chosen]
    if not rows:
        return
    channel.line("Chosen")
    names = max(width(name) for name, _ in rows[:MOST_ROWS])
    for name, said in rows[:MOST_ROWS]:
        channel.line(f"    {pad(printable(name), names)}  {printable(said)}")
    if len(rows) > MOST_ROWS:
        channel.line(f"    and {len(rows) - MOST_ROWS} more, see: -o json")


def _said(row: Mapping[str, str]) -> str:
    if "topology" in row:
        return f"substituted by the topology of {row['topology']}"
    return f'the existing node "{row["node"]}"'
