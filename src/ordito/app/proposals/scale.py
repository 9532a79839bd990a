"""Planning `scale`: more or fewer instances of named nodes, and of everything that they contain."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

import msgspec

from ordito.app.errors import Refused
from ordito.app.names import InstanceNames
from ordito.app.proposal import PlanningContext, Proposal
from ordito.app.proposals.making import MadePlan, for_deployed, make_plan, read_deployed
from ordito.app.proposals.scale_rest import begun_since, linked_with, unsettled
from ordito.app.requests import INSTANCE, NODE, ScaleRequest, recorded_command
from ordito.app.services.read import ReadService
from ordito.base.collector import paused_collector
from ordito.base.suggest import nearest
from ordito.base.text import listed
from ordito.instances.hosting import chain
from ordito.instances.records import Snapshot
from ordito.instances.status import OPERATIONAL
from ordito.model.hosting import compute_of, outermost
from ordito.model.service import Service
from ordito.model.settings import ALONE
from ordito.planning.options import Goal, Scaling
from ordito.planning.refused import PlanRefused
from ordito.planning.replicas import REPLICATED
from ordito.work.plan import KeptCount, Plan
from ordito.work.workflows import SCALE, workflow_of

MOST_NAMED = 8

replace = msgspec.structs.replace


def propose(request: ScaleRequest, known: PlanningContext) -> Proposal | None:
    """The plan. Raises ``Refused``, ``InvalidDocument``, ``PlanRefused`` and ``EnsembleError``."""
    status = known.status
    is_gone = status.last_job is not None and workflow_of(status.last_job.workflow).removes
    if not status.service or (is_gone and not any(i.exists for i in known.snapshot.instances.values())):
        raise Refused(
            "nothing-deployed",
            "nothing is deployed here that could be scaled",
            next_words=("deploy",),
            purpose="deploy it first",
        )
    with paused_collector():
        read = read_deployed(known)
        scaling = scaling_of(request, read.service, known.snapshot)
        try:
            made = _made(request, known, read, scaling)
        except PlanRefused as refused:
            alone = _made_alone(request, known, read, scaling)
            if alone is None or adds(alone.plan) or alone.plan.changes:
                raise _with_another_way(_of_deployed(refused), request, alone=alone is not None) from None
            made = alone  # There are as many already of what is named.
    proposal = for_deployed(known, SCALE, read, made)
    _refuse_kept(request, proposal)
    unapproved = () if request.allow_changed else made.plan.summary.drifted
    on_failure = "rollback" if adds(made.plan) else "continue"
    return replace(proposal, unapproved=unapproved).with_job(told=recorded_command(request), on_failure=on_failure)


def _made(request: ScaleRequest, known: PlanningContext, read: ReadService, scaling: Scaling) -> MadePlan:
    """The plan of a scaling. Raises ``PlanRefused`` and ``Refused``."""
    if not any(_difference(goal, known.snapshot) for goal in scaling.goals):
        begun = _unfinished(scaling, known.status.kept, read.service, known.snapshot)
        scaling = replace(scaling, begun=begun)
    if all(goal.count is not None for goal in scaling.goals):
        # The same command again, for all that is known.
        found = unsettled(known.place, read.service, known.snapshot)
        linked = linked_with(scaling.goals, found, read.service, known.snapshot)
        scaling = replace(scaling, unsettled=linked)
    return make_plan(
        known,
        SCALE,
        read,
        known.status.inputs,
        allow_large=request.allow_large,
        choose=lambda _, options: dataclasses.replace(options, scaling=scaling),
    )


def _made_alone(request: ScaleRequest, known: PlanningContext, read: ReadService, scaling: Scaling) -> MadePlan | None:
    """The plan that scales what is named without the Compute that contains it, None if that is not possible."""
    if not request.compute or all(goal.node in {*request.names, *request.counts} for goal in scaling.goals):
        return None
    try:
        return _made(request, known, read, scaling_of(replace(request, compute=False), read.service, known.snapshot))
    except (Refused, PlanRefused):
        return None


def _refuse_kept(request: ScaleRequest, proposal: Proposal) -> None:
    """Raise ``Refused`` for instances that are removed only with permission."""
    leaving = [proposal.snapshot.instances[c.instance] for c in proposal.plan.changes if c.symbol == "-"]
    nodes = proposal.service.nodes
    protected = [r.id for r in leaving if nodes[r.node].settings.protected]
    foreign = [r.id for r in leaving if r.is_unmanaged]
    for found, permitted, flag, what in (
        (protected, request.include_protected, "--include-protected", "protected (ordito.protected)"),
        (foreign, request.include_unmanaged, "--include-unmanaged", "not made by this ensemble"),
    ):
        if found and not permitted:
            verb = "is" if len(found) == 1 else "are"
            raise Refused(
                "protected",
                f"{listed(found, MOST_NAMED)} would be removed, and {verb} {what}",
                f"give {flag} to remove it nevertheless, or name others with --remove",
            )


BOUNDS = "count-out-of-bounds"


def _of_deployed(refused: PlanRefused) -> PlanRefused:
    """A refusal with the addition that the bounds are those of the deployed service."""
    is_bound = any(d.code == BOUNDS for d in refused.diagnostics)
    return PlanRefused(refused.diagnostics, refused.changes, is_of_deployed=is_bound)


def _with_another_way(refused: PlanRefused, request: ScaleRequest, *, alone: bool) -> PlanRefused:
    """A refusal because there are no hosts, or because the Compute cannot be scaled, with the command that scales what
    is named without the Compute; ``alone`` says whether that is possible."""
    if not alone or not any(d.code in {BOUNDS, "no-free-host"} for d in refused.diagnostics):
        return refused
    named = listed(sorted({*request.names, *request.counts}), MOST_NAMED)
    said = f"with ordito.scale: {ALONE} in its metadata, {named} is always scaled alone"
    first = next((d for d in refused.diagnostics if d.code == BOUNDS), None)
    found = [replace(d, hint=f"{d.hint}; {said}" if d.hint else said) if d is first else d for d in refused.diagnostics]
    return PlanRefused(
        found,
        refused.changes,
        is_of_deployed=refused.is_of_deployed,
        more_words=("--no-scale-compute",),
        purpose=f"scale {named} alone, on the existing hosts",
    )


def adds(plan: Plan) -> bool:
    """Whether a plan makes instances."""
    return bool(plan.records.new)


def scaling_of(request: ScaleRequest, service: Service, snapshot: Snapshot) -> Scaling:
    """The goals of a scaling, by node. Raises ``Refused`` for unknown names, and for contradictions."""
    goals: dict[str, Goal] = {}
    for text, count, delta in _wanted(request):
        for node, why, instead in _nodes(text, service, snapshot, compute=request.compute):
            if service.nodes[node].existing:
                raise Refused(
                    "selected-node",
                    f'"{node}" was selected from an inventory: there is exactly one, and no more can be made',
                    "scale what it hosts with --no-scale-compute",
                )
            before = goals.get(node)
            if before is not None and (count is not None or before.count is not None):
                raise Refused(
                    "scaled-twice",
                    f'"{node}" would be scaled twice, the second time for "{text}"',
                    "name each node once; a node is scaled with the Compute that contains it, except with"
                    " --no-scale-compute",
                )
            if before is None:
                goals[node] = Goal(node, count, delta, why, instead)
    outer = outermost(service.nodes, list(goals))
    # What another one that is scaled contains comes and goes with it.
    goals = {node: goal for node, goal in goals.items() if goal.count is not None or node in outer}
    victims = _victims(request, goals, snapshot)
    if request.delta is None and victims:
        goals = {n: _by_victims(goal, victims.get(n, [])) for n, goal in goals.items()}
    for node, named in victims.items():
        _check_number(goals[node], named, len(snapshot.ids_of(node)))
    _refuse_both_ways(goals, snapshot)
    return Scaling(tuple(goals.values()), frozenset(i for named in victims.values() for i in named))


def _wanted(request: ScaleRequest) -> Iterator[tuple[str, int | None, int | None]]:
    for name, count in request.counts.items():
        yield name, count, None
    for name in request.names:
        yield name, None, request.delta


def _nodes(text: str, service: Service, snapshot: Snapshot, *, compute: bool) -> Iterator[tuple[str, str, str]]:
    """The nodes that are scaled for a name, each with the reason if it is not the named one. Of a group each member is
    scaled, except those that are contained in another one."""
    name = text.removeprefix(NODE)
    if name in service.nodes:
        above = _scaled_for(service, name) if compute else ""
        inside = above and above != name
        if inside:
            yield above, f'contains "{name}"', f'--no-scale-compute scales "{name}" alone'
        else:
            yield name, "", ""
    elif text in service.groups:
        members = service.groups[text].members
        alone = not compute or REPLICATED in service.groups[text].kinds
        scaled = list(members) if alone else [_scaled_for(service, m) or m for m in members]
        if not scaled:
            raise Refused("empty-group", f'group "{text}" has no members that could be scaled')
        for member in outermost(service.nodes, list(dict.fromkeys(scaled))):
            what = "is a member" if member in members else "contains a member"
            yield member, f'{what} of group "{text}"', ""
    else:
        raise _unknown(text, service, snapshot)


def _scaled_for(service: Service, name: str) -> str:
    """The Compute that is scaled instead of a node, "" if the node is scaled by itself."""
    return "" if service.nodes[name].settings.scale == ALONE else compute_of(service.nodes, name)


def _unknown(text: str, service: Service, snapshot: Snapshot) -> Refused:
    name = text.removeprefix(INSTANCE)
    record = snapshot.instances.get(name)
    if record is not None and record.node in service.nodes:
        return Refused(
            "not-a-node",
            f'"{name}" is an instance of "{record.node}", and only nodes can be scaled',
            f"to have one instance less, namely this one: scale {record.node} --remove {name}",
            next_words=(SCALE, record.node, "--remove", name),
            purpose="remove this instance",
        )
    if record is not None and record.exists:
        return Refused(
            "lost-node", f'the node of "{name}" is no longer in the template', "undeploy removes what is left of it"
        )
    near = nearest(text, [*service.nodes, *service.groups])
    try:
        InstanceNames(service, snapshot).find(f"{NODE}{name}" if not near else text)
    except Refused as refused:
        if near and not refused.hint:
            refused.hint = f"did you mean {' or '.join(near)}?"
        return refused
    return Refused("lost-node", f'node "{text}" is no longer in the template', "undeploy removes what is left of it")


def _victims(request: ScaleRequest, goals: Mapping[str, Goal], snapshot: Snapshot) -> dict[str, list[str]]:
    """The instances that are to be removed, by node; an instance inside a scaled node stands for the one that contains
    it."""
    found: dict[str, list[str]] = {}
    for text in request.remove:
        name = text.removeprefix(INSTANCE)
        record = snapshot.instances.get(name)
        if record is None or not record.exists:
            known = [i for node in goals for i in snapshot.ids_of(node)]
            near = nearest(name, known) or known
            raise Refused(
                "unknown-name",
                f'there is no instance "{text}"' + (", it was deleted" if record is not None else ""),
                f"there is: {listed(near, MOST_NAMED)}" if near else "",
                next_words=("status",),
                purpose="see what there is",
            )
        scaled = next((above for above in chain(snapshot, name) if above.node in goals), None)
        if scaled is None:
            raise Refused(
                "not-scaled",
                f'{name} is an instance of "{record.node}", and what is scaled is {listed(list(goals), MOST_NAMED)}',
                f"name instances of {listed(list(goals), MOST_NAMED)}",
            )
        if scaled.id in found.setdefault(scaled.node, []):
            raise Refused("named-twice", f"{scaled.id} is named twice, the second time by {text}", "name it once")
        found[scaled.node].append(scaled.id)
    return found


def _by_victims(goal: Goal, named: list[str]) -> Goal:
    return goal if goal.count is not None or not named else replace(goal, delta=-len(named))


def _check_number(goal: Goal, named: list[str], existing: int) -> None:
    """Raise ``Refused`` if more or fewer instances are named than are to be removed."""
    fewer = existing - goal.count if goal.count is not None else -(goal.delta or 0)
    if fewer != len(named):
        asked = f"{fewer} fewer are asked for" if fewer > 0 else "none is to be removed"
        raise Refused(
            "other-number",
            f'{listed(named, MOST_NAMED)} of "{goal.node}" would leave, {len(named)} of {existing}, and {asked}',
            f"name {fewer} of them" if fewer > 0 else "leave out --remove",
        )


def _refuse_both_ways(goals: Mapping[str, Goal], snapshot: Snapshot) -> None:
    """Raise ``Refused`` for scaling out and in at the same time: a failed scale-out is rolled back, and removed
    instances cannot be restored."""
    more = [g.node for g in goals.values() if _difference(g, snapshot) > 0]
    fewer = [g.node for g in goals.values() if _difference(g, snapshot) < 0]
    if more and fewer:
        raise Refused(
            "both-ways",
            f"{listed(more, MOST_NAMED)} would get more instances, and {listed(fewer, MOST_NAMED)} fewer",
            "scale out and in by two commands: a failed scale-out is rolled back, and a removal cannot be",
        )


def _unfinished(
    scaling: Scaling, kept: Mapping[str, KeptCount], service: Service, snapshot: Snapshot
) -> tuple[str, ...]:
    """The instances that an earlier scaling to the same number has begun to create and not brought up: the same request
    continues them."""
    jobs = [kept[g.node].job for g in scaling.goals if g.node in kept and kept[g.node].count == g.count]
    if not jobs:
        return ()
    begun = begun_since(max(jobs), service, snapshot)
    return tuple(i for i in begun if snapshot.instances[i].local not in OPERATIONAL)


def _difference(goal: Goal, snapshot: Snapshot) -> int:
    if goal.count is None:
        return 1 if goal.delta is None else goal.delta
    return goal.count - len(snapshot.ids_of(goal.node))
