"""Transforms: imperative workflows of a template, as steps of a plan (§7.3).

Each workflow step is an entrance, its activities, and an end. A step waits for the ends of all steps that name it in
``on_success``; one that is named in ``on_failure`` begins as soon as one of those steps has failed, and is left out if
none has. A workflow ends with all its steps that nothing follows. An inlined workflow is run as a whole between two
activities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from ordito.instances.conditions import ConditionEvaluator
from ordito.instances.entities import LinkEntity, NodeEntity
from ordito.instances.evaluate import Evaluator
from ordito.instances.lifecycle import Side
from ordito.instances.records import Delta, Snapshot
from ordito.model.imperative import Activity, Policy, Precondition, Step, Workflow
from ordito.model.operation import Artifact, interface_named
from ordito.model.service import NodeTemplate, Relationship
from ordito.planning.activities import NO_FILTERS, ActivitySetting, StepIds, Weaver, Woven
from ordito.planning.draft import Draft
from ordito.planning.planned_instances import DraftStep, InstanceAction, PlannedInstance
from ordito.planning.spots import ActivitySpot, spots_named, spots_of
from ordito.work.activities import of_output, of_precondition, of_step, of_trigger
from ordito.work.plan import PROCESSES, SCRIPTS, WORKFLOW, Action, Gate, OperationCall, Scope

MOST_DEPTH = 50
"""How deep workflows may inline each other."""
MOST_STEPS = 1_000_000
"""How many steps inlining may add to a plan: a few lines can ask for more than memory holds."""

NEVER_FAIL = frozenset({Action.SET_STATE, Action.FILTER})
"""Steps that cannot fail, so that what handles failures need not wait for them."""


def there_are(draft: Draft) -> None:
    """Transform: put every existing instance; each stays as it is apart from what the workflow does to it."""
    for node in draft.ordered:
        for record in draft.snapshot.records_of(node.name):
            if record.exists:
                draft.put(PlannedInstance(record, node, InstanceAction.KEEP, ""))


def stay(draft: Draft) -> None:
    """Transform: keep the instances that a deployment workflow of the template does not use: it removes none."""
    for members in draft.of_node.values():
        surplus = [m for m in members if m.goes]
        for member in surplus:
            member.action = InstanceAction.KEEP
        if surplus:
            draft.diagnostics.warning(
                "surplus-kept",
                f"{', '.join(m.id for m in surplus)}: there are more than are wanted, and the workflow of the template"
                " that deploys removes none",
                members[0].template.span,
                hint="undeploy, or raise the number of instances",
            )


def preconditions(draft: Draft) -> None:
    """Transform: the preconditions of the workflow must hold for every instance of every target before anything
    runs."""
    workflow = draft.service.workflows[draft.options.written.name]
    conditions: ConditionEvaluator | None = None
    for precondition in workflow.preconditions:
        conditions = conditions or _conditions(draft)
        condition, spots = precondition.condition, spots_of(draft, precondition.target, precondition.relationship)
        if not spots:
            _refuse(draft, workflow, precondition, f'"{precondition.target}" has no instances')
        if condition is None:
            continue
        for spot in spots:
            verdict = conditions.of(condition, entity_of(spot))
            if not verdict.holds:
                _refuse(draft, workflow, precondition, str(verdict))


def _conditions(draft: Draft) -> ConditionEvaluator:
    """Conditions on what there will be when the workflow begins: what exists, and what the workflow is to create."""
    snapshot = draft.snapshot
    if draft.created:
        snapshot = Snapshot()
        before = draft.snapshot
        links, attributes, outputs = tuple(before.links.values()), before.attributes, before.outputs
        snapshot.apply(Delta((*before.instances.values(), *draft.created), links, (), attributes, outputs))
    return ConditionEvaluator(Evaluator(draft.service, snapshot, draft.inputs))


def entity_of(spot: ActivitySpot) -> NodeEntity | LinkEntity:
    """What a condition is about at a place."""
    if isinstance(spot.owner, Relationship) and spot.far is not None:
        source, target = (spot.near, spot.far) if spot.side is not Side.TARGET else (spot.far, spot.near)
        return LinkEntity(spot.owner, source.id, target.id)
    return NodeEntity(spot.near.template, spot.near.id)


def _refuse(draft: Draft, workflow: Workflow, precondition: Precondition, why: str) -> None:
    draft.diagnostics.error(
        "unmet-precondition",
        f'workflow "{workflow.name}" cannot begin: {why}',
        precondition.span,
        hint="nothing was run; bring about what it asks for first",
    )


def written(draft: Draft) -> None:
    """Transform: the steps of the workflow that is asked for."""
    workflow = draft.service.workflows[draft.options.written.name]
    draft.overlaps, draft.halts = True, not draft.workflow.removes
    begin = draft.join("begin", draft.why("the beginning of the workflow"))
    scope = -1
    if draft.options.written.inputs:
        draft.scopes.append(Scope(workflow.name, dict(draft.options.written.inputs)))
        scope = 0
    weaving = _Weaving(draft)
    setting = ActivitySetting(
        "", (), scope=scope, after_failure=draft.workflow.removes, carried=draft.options.written.carried
    )
    weaving.workflow(workflow, setting, begin, NO_FILTERS)


def weave_actions(
    draft: Draft,
    setting: ActivitySetting,
    activities: Sequence[Activity],
    targets: Callable[[Activity], Sequence[str]],
) -> None:
    """Weave a list of activities that belongs to no workflow: the actions of a trigger. Each is carried out on its
    ``targets`` (an inlined workflow has none), and begins when the one before has ended at all of them. The draft's
    members must be there (``there_are``); the plan stops at a failure."""
    draft.overlaps, draft.halts = True, True
    begin = draft.join(f"{setting.name}.begin", draft.why(setting.reason))
    weaver = _Weaving(draft).weaver
    then = "the next action begins when the one before has ended at every target"
    why = draft.why(then)
    for number, activity in enumerate(activities, setting.first):
        setting = msgspec.structs.replace(setting, entered=then if number > setting.first else "")
        about = ("",) if activity.kind == "inline" else targets(activity)
        settings = [msgspec.structs.replace(setting, target=target, first=number) for target in about]
        ends = [weaver.weave(one, [activity], begin).end for one in settings]
        if len(ends) == 1:
            begin = ends[0]
        elif ends:
            begin = draft.join(f"{setting.name}.{number}.end", why)
            for end in ends:
                draft.edge(end, begin, why)


def weave_target(
    draft: Draft,
    name: str,
    target: str | tuple[str, str, str],
    reason: str,
    given: Mapping[str, object],
    begin: int,
    *,
    after_failure: bool = False,
) -> Woven:
    """Weave what an operation of a substituted node is mapped to, after a step of a plan: a workflow, which is
    ``given`` these inputs, or an operation inside (node, interface, operation). ``name`` begins the ids of its steps;
    with ``after_failure`` what follows a failure in it runs too."""
    setting = ActivitySetting(name, (), reason=reason, after_failure=after_failure)
    if isinstance(target, tuple):
        node, interface, operation = target
        activity = Activity("call_operation", f"{interface}.{operation}", interface, operation)
        setting = msgspec.structs.replace(setting, target=node)
    else:
        activity = Activity("inline", target)
        if given:
            draft.scopes.append(Scope(target, dict(given)))
            setting = msgspec.structs.replace(setting, scope=len(draft.scopes) - 1)
    return _Weaving(draft).weaver.weave(setting, [activity], begin)


class _Weaving:
    """The weaving of one plan: activities in steps, steps in workflows, workflows in activities."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self.weaver = Weaver(draft, self._inline, StepIds())

    def workflow(
        self, workflow: Workflow, around: ActivitySetting, begin: int, filters: Mapping[str, Sequence[int]]
    ) -> Woven:
        """The steps of a workflow. The ids of its steps begin with the name of ``around``, and its scope is theirs."""
        if workflow.implementation is not None:
            return self._external(workflow, around, begin)
        draft, steps = self._draft, workflow.steps
        after = _Followed(steps)
        wanted = tuple(dict.fromkeys((*around.wanted, *workflow.outputs)))
        ends: dict[str, int] = {}
        may: dict[str, bool] = {}
        failing: dict[str, tuple[int, ...]] = {}
        for name in after.order:
            step = steps[name]
            may[name] = around.may_be_left_out or bool(after.failure[name]) or any(may[b] for b in after.success[name])
            setting = ActivitySetting(
                name=f"{around.name}.{name}" if around.name else name,
                holder=of_step(workflow.name, name),
                target=step.target,
                requirement=step.relationship,
                operation_host=step.operation_host,
                scope=around.scope,
                reason=_reason(workflow, name, after),
                entered=_entered(name, after) or around.entered or f'workflow "{workflow.name}" begins with "{name}"',
                after_failure=around.after_failure,
                filtered=step.filter is not None,
                may_be_left_out=may[name],
                depth=around.depth,
                carried=around.carried if around.depth else around.carried.of(name),
                wanted=wanted,
            )
            entrance = self._entrance(setting, after, name, begin, ends, failing)
            woven = self.weaver.weave(setting, step.activities, entrance, filters)
            failing[name] = woven.steps
            ends[name] = self._sealed(setting.name, woven.end, entrance, setting)
        finals = [ends[name] for name in steps if not steps[name].on_success]
        whole = draft.join(f"{around.name or workflow.name}.end", draft.why("a workflow ends with its last steps"))
        draft.steps[whole].after_failure = around.after_failure
        for end in finals or [begin]:
            draft.edge(end, whole, draft.steps[whole].reason)
        every = [number for numbers in failing.values() for number in numbers]
        end = self._sealed(around.name, whole, begin, around)
        written = self._outputs(workflow, around, end)
        return Woven((*every, *written), self._all_of(workflow, around, written) if written else end)

    def _outputs(self, workflow: Workflow, around: ActivitySetting, end: int) -> list[int]:
        """The steps that write the outputs of a workflow."""
        found: list[int] = []
        for name, path in workflow.outputs.items():
            holder = of_output(workflow.name, name)
            setting = msgspec.structs.replace(around, name=f"{around.name}.outputs".lstrip("."), holder=holder)
            spots = spots_named(self._draft, str(path[0]))
            found += self.weaver.output_steps(setting, spots, name, end)
        return found

    def _all_of(self, workflow: Workflow, around: ActivitySetting, numbers: list[int]) -> int:
        """The step that stands for the end of all of these."""
        why = self._draft.why("a workflow ends with its outputs")
        gate = Gate.ALL if around.may_be_left_out else Gate.NONE
        join = self._draft.join(
            f"{around.name or workflow.name}.written", why, after_failure=around.after_failure, gate=gate
        )
        for number in numbers:
            self._draft.edge(number, join, why)
        return join

    def _external(self, workflow: Workflow, around: ActivitySetting, begin: int) -> Woven:
        """The one step of a workflow that an artifact implements."""
        draft = self._draft
        name = f"{around.name}.{workflow.name}" if around.name else workflow.name
        why = draft.why(f'"{workflow.name}" is carried out as a whole')
        number = external(draft, workflow, name, around.scope, why, after_failure=around.after_failure)
        if around.may_be_left_out:
            draft.steps[number].gate = Gate.ALL
        draft.edge(begin, number, why)
        return Woven((number,), number)

    def _entrance(
        self,
        setting: ActivitySetting,
        after: _Followed,
        name: str,
        begin: int,
        ends: Mapping[str, int],
        failing: Mapping[str, tuple[int, ...]],
    ) -> int:
        """The step for which the first activity waits: the beginning of the workflow, the ends of the steps before, or
        a failure of one of them."""
        draft, before = self._draft, after.success[name]
        if not before and not after.failure[name]:
            return begin
        entrances: list[int] = []
        if before:
            why = draft.why(_follows(name, before))
            gate = Gate.ALL if setting.may_be_left_out else Gate.NONE
            join = draft.join(f"{setting.name}.begin", why, after_failure=setting.after_failure, gate=gate)
            for other in before:
                draft.edge(ends[other], join, why)
            entrances.append(join)
        if after.failure[name]:
            why = draft.why(_handles(name, after.failure[name]))
            join = draft.join(f"{setting.name}.failed", why, gate=Gate.FAILED)
            for number in dict.fromkeys(n for other in after.failure[name] for n in failing[other]):
                if draft.steps[number].action not in NEVER_FAIL:
                    draft.edge(number, join, why)
            entrances.append(join)
        if len(entrances) == 1:
            return entrances[0]
        why = draft.why(_either(name))
        either = draft.join(f"{setting.name}.either", why, gate=Gate.ANY)
        for entrance in entrances:
            draft.edge(entrance, either, why)
        return either

    def _sealed(self, name: str, end: int, begin: int, setting: ActivitySetting) -> int:
        """An end that is left out together with the beginning."""
        if not setting.may_be_left_out or end == begin:
            return end
        draft = self._draft
        why = draft.why("what did not begin does not end")
        join = draft.join(f"{name}.end", why, after_failure=setting.after_failure, gate=Gate.ALL)
        draft.edge(end, join, why)
        draft.edge(begin, join, why)
        return join

    def _inline(
        self,
        activity: Activity,
        number: int,
        setting: ActivitySetting,
        spots: Sequence[ActivitySpot],
        begin: int,
        filters: Mapping[str, Sequence[int]],
    ) -> Woven:
        """An inlined workflow as a whole, with inputs of its own; its preconditions decide where its operations are
        carried out (R-7.3.5-1)."""
        draft, workflow = self._draft, self._draft.service.workflows[activity.name]
        if setting.depth >= MOST_DEPTH or len(draft.steps) > MOST_STEPS:
            what = f"{MOST_DEPTH} workflows deep" if setting.depth >= MOST_DEPTH else f"to more than {MOST_STEPS} steps"
            draft.diagnostics.error(
                "too-much-inlined",
                f'workflow "{activity.name}" is inlined {what}',
                activity.span,
                hint="inline less of it",
            )
            return Woven((), begin)
        scope = setting.scope
        if activity.inputs:
            on = spots[0].near.id if len(spots) == 1 and not spots[0].link else ""
            draft.scopes.append(Scope(workflow.name, {}, (*setting.holder, str(number)), scope, on))
            scope = len(draft.scopes) - 1
        inner = ActivitySetting(
            name=setting.name,
            holder=(),
            scope=scope,
            entered=setting.entered,
            after_failure=setting.after_failure,
            may_be_left_out=setting.may_be_left_out,
            depth=setting.depth + 1,
            carried=setting.carried,
            wanted=setting.wanted,
        )
        found = {name: list(numbers) for name, numbers in filters.items()}
        looked = self._preconditions(workflow, setting, begin, found)
        if looked:
            begin = self._looked(setting, looked, begin)
        woven = self.workflow(workflow, inner, begin, found)
        return Woven((*looked, *woven.steps), woven.end)

    def _preconditions(
        self, workflow: Workflow, setting: ActivitySetting, begin: int, found: dict[str, list[int]]
    ) -> list[int]:
        """The steps that evaluate the preconditions of an inlined workflow; the filters are added to ``found``."""
        looked: list[int] = []
        for place, precondition in enumerate(workflow.preconditions):
            if precondition.condition is None:
                continue
            where = spots_of(self._draft, precondition.target, precondition.relationship)
            more = self.weaver.filter_steps(
                setting,
                ActivitySetting(
                    f"{setting.name}.{workflow.name}",
                    of_precondition(workflow.name, place),
                    reason=f'a precondition of workflow "{workflow.name}"',
                ),
                where,
                begin,
                gated=setting.may_be_left_out,
            )
            for name, numbers in more.items():
                found.setdefault(name, []).extend(numbers)
                looked += numbers
        return looked

    def _looked(self, setting: ActivitySetting, looked: list[int], begin: int) -> int:
        """The beginning of a workflow after its preconditions were evaluated: its first operations may change them."""
        draft = self._draft
        why = draft.why("preconditions are looked at before a workflow begins")
        join = draft.join(f"{setting.name}.looked", why, after_failure=setting.after_failure)
        for number in looked:
            draft.edge(number, join, why)
        return self._sealed(f"{setting.name}.looked", join, begin, setting)


class _Followed:
    """The steps before each step, by how they name it, and an order in which these come first."""

    def __init__(self, steps: Mapping[str, Step]) -> None:
        self.success: dict[str, list[str]] = {name: [] for name in steps}
        self.failure: dict[str, list[str]] = {name: [] for name in steps}
        for name, step in steps.items():
            for follower in dict.fromkeys(step.on_success):
                self.success[follower].append(name)
            for follower in dict.fromkeys(step.on_failure):
                self.failure[follower].append(name)
        waits = {name: len(self.success[name]) + len(self.failure[name]) for name in steps}
        self.order = [name for name, count in waits.items() if not count]
        for name in self.order:  # grows while it is read; the model has refused circles
            for follower in (*dict.fromkeys(steps[name].on_success), *dict.fromkeys(steps[name].on_failure)):
                waits[follower] -= 1
                if not waits[follower]:
                    self.order.append(follower)


def _reason(workflow: Workflow, name: str, after: _Followed) -> str:
    follows = [f"after {_named(after.success[name])}"] if after.success[name] else []
    follows += [f"if {_named(after.failure[name], 'or')} fails"] if after.failure[name] else []
    return f'step "{name}" of workflow "{workflow.name}"' + (f", {' or '.join(follows)}" if follows else "")


def _entered(name: str, after: _Followed) -> str:
    """Why the first activity of a step waits for what comes before the step, "" if that is not a step."""
    if after.success[name] and after.failure[name]:
        return _either(name)
    if after.failure[name]:
        return _handles(name, after.failure[name])
    return _follows(name, after.success[name]) if after.success[name] else ""


def _follows(name: str, before: Sequence[str]) -> str:
    return f'"{name}" follows {_named(before)}'


def _handles(name: str, failing: Sequence[str]) -> str:
    return f'"{name}" is there for a failure of {_named(failing, "or")}'


def _either(name: str) -> str:
    return f'"{name}" runs after success and after failure, once'


def _named(names: Sequence[str], word: str = "and") -> str:
    """The names of steps as one text, the first few of many."""
    shown = [f'"{name}"' for name in names[:3]]
    shown[3:] = [f"{len(names) - 3} more"] if len(names) > 3 else []
    return f" {word} ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)


# Transform: the actions of a trigger, as an anonymous workflow on the targets of its policy (§3.6.22, R-12-4).


def actions(draft: Draft) -> None:
    """Transform: one action after the other, each at every instance of every target at the same time. The members of
    the draft must be there (``there_are``)."""
    asked = draft.options.acting
    policy = draft.service.policies[asked.policy]
    trigger = policy.triggers[asked.trigger]
    name = f"{policy.name}.{trigger.name}"
    setting = ActivitySetting(
        name=name, holder=of_trigger(policy.name, trigger.name), first=asked.first, reason=f"trigger {name} acts"
    )
    chosen = trigger.actions[asked.first : asked.last]
    weave_actions(draft, setting, chosen, lambda activity: tuple(_targets(draft, policy, activity)))


def _targets(draft: Draft, policy: Policy, activity: Activity) -> Iterator[str]:
    """The nodes at whose instances an activity is carried out: those that the policy names, including members of
    groups. If it names none, the whole topology is meant, of which not every node has every operation."""
    for name in policy.nodes:
        node = draft.service.nodes.get(name)
        if node is not None and (policy.targets or activity.kind != "call_operation" or _has(node, activity)):
            yield name


def _has(node: NodeTemplate, activity: Activity) -> bool:
    interface = interface_named(node.interfaces, activity.interface)
    return interface is not None and activity.operation in interface.operations


# Workflows that an artifact implements, as one step of a plan (§7.3.8).


Accepts = Callable[[Sequence[str]], bool]


NOT_RUN = "cloudify.artifacts.WorkflowScript"
"""The type of scripts of workflows that need a manager."""


def processor_of(artifact: Artifact, accepts: Accepts) -> str:
    """What carries out a workflow: a processor of workflows for the nearest type of its artifact, else what runs
    scripts; "" for none."""
    named = (f"{PROCESSES}{kind}" for kind in artifact.kinds)
    scripts = (kind for kind in artifact.kinds if kind in SCRIPTS)
    return next((kind for kind in (*named, *scripts) if accepts((kind,))), "")


def external(
    draft: Draft, workflow: Workflow, name: str, scope: int, reason: int, *, after_failure: bool = False
) -> int:
    """Add the step that carries out a workflow as a whole; returns its number."""
    artifact = workflow.implementation
    assert artifact is not None
    processor = processor_of(artifact, draft.options.abilities.accepts)
    if artifact.kinds[:1] == (NOT_RUN,):
        draft.diagnostics.error(
            "unsupported-plugin-operation",
            f'workflow "{workflow.name}" cannot be run: workflow scripts are not run here',
            workflow.span,
            hint="run its operations one by one: `ordito run OPERATION`; or write it in steps, in a service of TOSCA",
        )
    elif not processor:
        draft.diagnostics.error(
            "no-processor",
            f'nothing here carries out workflow "{workflow.name}": {artifact.file} is of type {artifact.kinds[0]}',
            workflow.span,
            hint="install a processor for it (docs/plugins.md), or write it in steps or as a script",
        )
    call = OperationCall(
        owner="",
        side="",
        interface=WORKFLOW,
        operation=workflow.name,
        artifact=artifact.file,
        processor=processor,
        dependencies=tuple(d.file for d in workflow.dependencies),
        outputs=tuple(workflow.outputs),
        timeout=workflow.timeout,
        declared=str(workflow.span) if workflow.span is not None else "",
        scope=scope,
        version=artifact.version,
    )
    step = DraftStep(name, Action.WORKFLOW, call=draft.calls.put(call), after_failure=after_failure, reason=reason)
    return draft.add(step)
