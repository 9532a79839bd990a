"""The lifecycle steps of a plan: which there are, in which order, and the steps that carry them out."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping

from ordito.blocks.duration import seconds
from ordito.instances.context import Context
from ordito.model.lifecycle_steps import LifecycleStep
from ordito.model.service import Service
from ordito.planning.draft import Draft
from ordito.planning.operation_steps import run_steps
from ordito.planning.options import Hooking
from ordito.planning.planned_instances import DraftStep, InstanceAction, PlannedInstance
from ordito.work.hooks import DEFAULT_TIMEOUT, MODULE, Block, BlockScript, Hook, Moment, Transition
from ordito.work.plan import HOOK, Action, ChangeKind, OperationCall

BEFORE, AFTER = Moment.BEFORE, Moment.AFTER


class HookSteps:
    """The lifecycle steps of a plan, by phase. Those that an earlier attempt has carried out are left out, and the
    plan's warnings say so."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._transitions = transitions(draft) if draft.service.hooks else {}
        known = () if draft.options.force else draft.options.hooking.done
        self._done = {(done.hook.id, done.hook.digest): done.job for done in known}
        self._of: dict[tuple[str, Transition, Moment], list[LifecycleStep]] = {}
        self.components: list[str] = []
        """Those that have lifecycle steps, each after what it requires, else in the order of the template."""
        if self._transitions:
            self._sort()

    def _sort(self) -> None:
        named: set[str] = set()
        for step in self._draft.service.hooks.values():
            transition, _, moment = step.phase.partition(".")
            if self._transitions.get(step.component) == transition:
                self._of.setdefault((step.component, Transition(transition), Moment(moment)), []).append(step)
                named.add(step.component)
        self.components = [name for name in requirements_first(self._draft.service) if name in named]

    def of_components(self, moment: Moment, *transitions: Transition, last_first: bool = False) -> list[int]:
        """The steps of all components that make one of these transitions, one after the other."""
        names = reversed(self.components) if last_first else iter(self.components)
        return self._added(s for name in names for t in transitions for s in self._of.get((name, t, moment), ()))

    def of_module(self) -> list[int]:
        """The steps of the module, those before ahead of those after: nothing comes between them."""
        transition = self._transitions.get(MODULE, Transition.NONE)
        return self._added(s for moment in (BEFORE, AFTER) for s in self._of.get((MODULE, transition, moment), ()))

    def _added(self, steps: Iterable[LifecycleStep]) -> list[int]:
        found: list[DraftStep] = []
        for step in steps:
            hook = self._hook(step)
            if hook is not None:
                found += _steps(self._draft, hook, step)
        return self._draft.sequence(found, self._draft.why("lifecycle steps are carried out one after the other"))

    def _hook(self, step: LifecycleStep) -> Hook | None:
        """A step as the plan has it; None if it was carried out already, or if its block is not known, which was
        reported before."""
        hooking = self._draft.options.hooking
        block = hooking.blocks.get(step.id)
        if block is None:
            return None
        hook = hook_of(self._draft, step, block, hooking.files.get(step.id, {}))
        job = self._done.get((hook.id, hook.digest))
        if job is None:
            return hook
        self._draft.diagnostics.warning(
            "step-carried-out",
            f'lifecycle step "{hook.id}" ({hook.phase}) was carried out by job {job}, and is not carried out again',
            step.span,
            hint="its config, its block or its version would have to be another for it to be carried out once more",
        )
        return None


def hook_of(draft: Draft, step: LifecycleStep, block: Block, files: Mapping[str, str]) -> Hook:
    """A lifecycle step with everything that the plan knows of it."""
    transition, _, moment = step.phase.partition(".")
    said: list[object] = [step.phase, step.component, step.fqn, block.version, block.digest, step.condition]
    said.append(dict(files))
    context = Context(node=step.component if draft.service.template(step.component) is not None else "")
    return Hook(
        id=step.id,
        block=block,
        transition=Transition(transition),
        moment=Moment(moment),
        component=step.component,
        description=step.description,
        condition=step.condition,
        timeout=seconds(step.timeout) if step.timeout else DEFAULT_TIMEOUT,
        on_failure=step.on_failure,
        files=dict(files),
        digest=draft.digests.of_step(step.config, context, said),
        declared=str(step.span) if step.span is not None else "",
    )


def _steps(draft: Draft, hook: Hook, step: LifecycleStep) -> list[DraftStep]:
    """What carries out a lifecycle step: one step, or several for one that runs an operation of a component."""
    whole = hook_step(draft, hook)
    if not hook.block.is_operation:
        return [whole]
    found = [*run_steps(draft, hook, step, whole.hook), whole]
    if hook.on_failure == "continue":
        # Where one fails the others are not tried; what comes after them goes on.
        why = draft.why("the job can do without it")
        found.append(DraftStep(f"join.{hook.id}", Action.JOIN, after_failure=True, reason=why))
    return found


def hook_step(draft: Draft, hook: Hook) -> DraftStep:
    """The step that carries out a lifecycle step. One that may fail does not hold up others."""
    draft.hooks.append(hook)
    may_fail = hook.on_failure == "continue"
    said = f": {' '.join(hook.description.split())}" if hook.description else ""
    return DraftStep(
        hook.id,
        Action.HOOK,
        call=draft.calls.put(call_of(hook, HOOK, hook.block.execute)),
        reason=draft.why(f"{hook.phase} of {hook.component or 'the module'}{said}"),
        optional=may_fail,
        non_blocking=may_fail,
        hook=len(draft.hooks) - 1,
    )


def call_of(hook: Hook, interface: str, script: BlockScript | None) -> OperationCall:
    """What runs a script of a lifecycle step's block, or nothing; once, whatever the job's number of attempts."""
    return OperationCall(
        owner=hook.component,
        side="",
        interface=interface,
        operation=hook.id,
        artifact=script.artifact if script is not None else "",
        processor=script.processor if script is not None else "",
        declared=hook.declared,
        digest=hook.digest,
        attempts=1,
    )


def requirements_first(service: Service) -> Iterator[str]:
    """The components, including substituted nodes, each after everything that it requires; otherwise in the order of
    the template."""
    names = [*service.nodes, *service.substituted]
    place = {name: number for number, name in enumerate(names)}
    needs = {name: {r.target for r in node.requirements} for name, node in service.nodes.items()}
    needs |= {name: set(stand_in.nodes) for name, stand_in in service.substituted.items()}
    followers: dict[str, list[str]] = {}
    for name, targets in needs.items():
        for target in targets:
            followers.setdefault(target, []).append(name)
    waits = {name: sum(target in place for target in targets) for name, targets in needs.items()}
    free = [place[name] for name, count in waits.items() if not count]
    heapq.heapify(free)
    while free:
        name = names[heapq.heappop(free)]
        yield name
        for follower in followers.get(name, ()):
            waits[follower] -= 1
            if not waits[follower]:
                heapq.heappush(free, place[follower])


# What a plan does to each component, and to the whole: it is installed, upgraded or removed, or nothing happens.

INSTALL, UPGRADE, DELETE, NONE = Transition.INSTALL, Transition.UPGRADE, Transition.DELETE, Transition.NONE
STAY = frozenset({InstanceAction.KEEP, InstanceAction.LOOK})


def transitions(draft: Draft) -> Mapping[str, Transition]:
    """The transition of each component that has one, and of the module if any component has; none if nothing changes. A
    component is a node template with all its instances: it is installed if none of them existed before, removed if none
    stays, and upgraded if anything else happens to one of them."""
    hooking = draft.options.hooking
    if hooking.transition is NONE or hooking.which == "none":
        return {}
    found: dict[str, Transition] = {}
    for name, members in draft.of_node.items():
        transition = _of(members, hooking, is_forced=draft.options.force)
        if transition is not NONE:
            found[name] = transition
    if hooking.since:
        gone = _gone(draft, hooking.since)
        pruned = draft.options.pruned
        found |= {n: DELETE for n in gone if hooking.transition is DELETE or n in pruned}
    if not found:
        return {}
    if hooking.which == "all" and hooking.transition is not DELETE:
        found = {n: found.get(n, hooking.transition) for n, members in draft.of_node.items() if members}
    for name, stand_in in draft.service.substituted.items():
        inside = {found[node] for node in stand_in.nodes if node in found}
        if inside:
            found[name] = inside.pop() if len(inside) == 1 else UPGRADE
    return {**found, MODULE: hooking.transition}


def _gone(draft: Draft, since: str) -> set[str]:
    """The components that an earlier attempt has removed: steps that come after the removal may still have to be
    run."""
    records = draft.snapshot.instances.values()
    gone = {r.node for r in records if not r.exists and r.last_config_change >= since and not draft.of_node.get(r.node)}
    return gone & draft.service.nodes.keys()


def _of(members: list[PlannedInstance], hooking: Hooking, *, is_forced: bool) -> Transition:
    staying = [member for member in members if not member.goes]
    if members and not staying:
        return DELETE
    if hooking.transition is DELETE or not staying:
        return NONE
    if hooking.transition is INSTALL or all(_is_new(member, hooking.since) for member in staying):
        return INSTALL
    changes = len(staying) < len(members) or any(_is_changed(m, hooking.since, is_forced=is_forced) for m in staying)
    return UPGRADE if changes else NONE


def _is_new(member: PlannedInstance, since: str) -> bool:
    """Whether an instance did not exist before the first attempt at the revision."""
    return (
        member.action is InstanceAction.NEW
        or not member.record.created
        or bool(since and member.record.created >= since)
    )


def _is_changed(member: PlannedInstance, since: str, *, is_forced: bool) -> bool:
    """Whether an instance that stays is changed, or was by an earlier attempt at the revision. A repair is no change,
    nor is a stop while something that it requires is replaced; a forced change is one."""
    if since and member.record.last_config_change >= since:
        return True
    if member.action in STAY or member.is_conditional:
        return member.kind is ChangeKind.RELINK
    return (
        is_forced or bool(member.differences) or member.action not in (InstanceAction.RESTART, InstanceAction.CONTINUE)
    )
