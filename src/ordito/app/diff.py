"""The differences between what is deployed and what a service says: what `upgrade` would do, by node and class of
change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from ordito.app.proposal import Proposal
from ordito.base.sensitive import shown
from ordito.work.plan import Action, Change, Difference, Plan, Step, StepCondition

KINDS: Mapping[str, str] = {"+": "added", "-": "removed", "-/+": "replace"}
"""The class of a change by its symbol, for changes to which planning gives no class."""

SECOND, MEND, RELINK, TOLD = "reconfigure", "mend", "relink", "told"
"""The classes of instances that are as wanted: it may be configured again when others have changed; it is repaired;
only its pairs with changed instances are linked again; it is only notified of a change. The first class that fits any
of its steps counts."""

ORDER = ("removed", "replace", "update", "reconfigure", "restart", "relink", "told", "scale", "mend", "added", "adopt")
"""All classes, in the order in which their numbers are shown."""


class InputDiff(msgspec.Struct, frozen=True):
    """A topology input whose value differs from the deployed one, both as they may be shown; None for no value."""

    name: str
    before: object
    after: object


class NodeDiff(msgspec.Struct, frozen=True):
    """The instances of a node that are changed in the same way for the same reason."""

    node: str
    kind: str
    """The class of the change."""

    instances: tuple[str, ...]
    reason: str
    """Why they are changed."""

    declared: str
    """The place of the node in the template."""

    causes: tuple[Difference, ...] = ()
    """The values that have changed."""

    operations: tuple[str, ...] = ()
    """The operations that run on each of them, in order, without those that do nothing; an operation of a pair is
    followed by the node of the peer."""


class HookDiff(msgspec.Struct, frozen=True):
    """A lifecycle step that would be carried out; ``component`` is "" for the whole service."""

    id: str
    phase: str
    component: str
    fqn: str


class Diff(msgspec.Struct, frozen=True):
    """All differences."""

    service: str
    environment: str
    inputs: tuple[InputDiff, ...]
    nodes: tuple[NodeDiff, ...]
    hooks: tuple[HookDiff, ...]
    totals: Mapping[str, int]
    """The numbers of instances by class."""

    unchanged: int
    """How many instances stay as they are."""

    takes_over: bool
    """Whether the files of the service have changed, even if no operation is needed for that."""

    warnings: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether what is deployed is what the service says."""
        return not self.nodes and not self.takes_over


def diff_of(proposal: Proposal) -> Diff:
    """The differences that a proposal would remove."""
    plan = proposal.plan
    nodes = tuple(_grouped(plan, _node_of(proposal)))
    counted: dict[str, int] = {}
    for found in nodes:
        counted[found.kind] = counted.get(found.kind, 0) + len(found.instances)
    changed = {change.instance for change in plan.changes}
    return Diff(
        service=proposal.service.name,
        environment=proposal.setting.environment,
        inputs=tuple(_inputs(proposal)),
        nodes=nodes,
        hooks=tuple(HookDiff(h.id, h.phase, h.component, h.block.fqn) for h in plan.hooks),
        totals={kind: counted[kind] for kind in (*ORDER, *sorted(counted.keys() - set(ORDER))) if kind in counted},
        unchanged=sum(name not in changed for name in proposal.existing),
        takes_over=proposal.job.renews,
        warnings=plan.summary.warnings,
    )


def _inputs(proposal: Proposal) -> Iterator[InputDiff]:
    before, after = proposal.inputs.before, proposal.inputs.values
    for name in dict.fromkeys((*before, *after)):
        if name not in before or name not in after or before[name] != after[name]:
            yield InputDiff(name, shown(before.get(name)), shown(after.get(name)))


def _node_of(proposal: Proposal) -> Mapping[str, str]:
    """The node of each instance that exists or will exist."""
    found = {i.id: i.node for i in proposal.snapshot.instances.values()}
    found.update((i.id, i.node) for i in proposal.plan.records.new)
    return found


def _grouped(plan: Plan, node_of: Mapping[str, str]) -> Iterator[NodeDiff]:
    """Changes that differ only in the instance, grouped, in the order of the plan."""
    operations: dict[str, list[str]] = {}
    kinds: dict[str, set[str]] = {}
    for step in plan.steps:
        if step.flow.condition is StepCondition.IF_OTHER_INPUTS:
            kinds.setdefault(step.instance, set()).add(SECOND)
        if name := _runs(plan, step, node_of):
            operations.setdefault(step.instance, []).append(name)
            kind = TOLD if step.flow.condition is StepCondition.IF_CHANGED else RELINK if step.far else MEND
            kinds.setdefault(step.instance, set()).add(kind)
    groups: dict[tuple[str, str, str, bytes, tuple[str, ...]], list[Change]] = {}
    for change in plan.changes:
        # One operation on several far ends in turn is said once.
        runs = tuple(dict.fromkeys(operations.get(change.instance, ())))
        causes = msgspec.json.encode(change.differences)
        kind = _kind(change, kinds.get(change.instance, ()))
        key = (node_of.get(change.instance, change.instance), kind, change.reason, causes, runs)
        groups.setdefault(key, []).append(change)
    for (node, kind, _, _, runs), found in groups.items():
        first = found[0]
        names = tuple(change.instance for change in found)
        yield NodeDiff(node, kind, names, first.reason, first.declared, tuple(_once(first.differences)), runs)


def _once(differences: Iterable[Difference]) -> Iterator[Difference]:
    """Differences without repetitions, which there are if several operations have the same one."""
    said: list[tuple[str, object, object]] = []
    for found in differences:
        if (known := (found.what, found.before, found.after)) not in said:
            said.append(known)
            yield found


def _kind(change: Change, of_steps: Collection[str]) -> str:
    if change.kind or change.symbol != "~":
        return change.kind or KINDS.get(change.symbol, MEND)
    return next((kind for kind in (SECOND, MEND, RELINK, TOLD) if kind in of_steps), MEND)


def _runs(plan: Plan, step: Step, node_of: Mapping[str, str]) -> str:
    """What a step runs, for people; "" for nothing."""
    if step.action not in (Action.CALL, Action.DELEGATE) or step.call < 0:
        return ""
    call = plan.calls[step.call]
    if step.action is Action.CALL and not call.artifact:
        return ""
    return f"{call.name} -> {node_of.get(step.far, step.far)}" if step.far else call.name
