"""Transform: what lifecycle steps have done is undone, around the rollback of what was done to the resources.

Undoing goes backwards: first the steps that came after the resources, the newest first; then the resources are rolled
back; then the steps that came before, the newest first; then what is back has to be ready. So what was done before a
component was removed is undone when that has been created again, and nothing creates it again after that. What cannot
be undone holds up nothing.

A block may ask to be undone before its component is started, or configured (``undone_once``): then that is in the chain
up of the component, unless something that was done to the component later is undone only afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ordito.instances.states import CONFIGURED, CONFIGURING, CREATED, STARTED, STARTING
from ordito.instances.status import OPERATIONAL, UNKNOWN
from ordito.model.settings import UNDONE_ONCE
from ordito.planning.draft import Draft
from ordito.planning.hook_steps import call_of
from ordito.planning.operation_steps import (
    UNDO_OPERATION,
    can_be_undone,
    is_undone,
    there_in_the_end,
    undo_steps,
    undoing,
)
from ordito.planning.phases import barriers, does_work
from ordito.planning.planned_instances import DOWN_UP, DraftStep, PlannedInstance, Up
from ordito.planning.ready import ready_steps
from ordito.work.hooks import DoneHook, Hook, Moment, Transition
from ordito.work.plan import UNDO, Action, Plan, StepCondition
from ordito.work.workflows import workflow_of

ENTERS: Mapping[str, tuple[str, ...]] = {CREATED: (CONFIGURING, STARTING), CONFIGURED: (STARTING,)}
"""The node states before which a step is undone that asks for a state short of ``started``."""


def undo_hooks(draft: Draft) -> None:
    """Undo what was carried out by ``Hooking.done``, if that is asked for. What existed before has to be ready in the
    end."""
    if not draft.options.hooking.undoes:
        return
    main = list(range(len(draft.steps)))
    newest_first = [done for done in reversed(draft.options.hooking.done) if _is_to_undo(draft, done)]
    first = _in_turn(draft, [done for done in newest_first if not is_before_resources(done.hook)])
    ways_up = _WaysUp(draft, [done for done in newest_first if is_before_resources(done.hook)])
    main += ways_up.steps()
    # What is undone of what has been created again finds that as it was: not only begun, but ready.
    made_again = {member.template.name for done in ways_up.later for member in _made_again(draft, done.hook)}
    up = _after_failure(draft, ready_steps(draft, made_again)) if made_again else []
    then = _in_turn(draft, ways_up.later)
    comes_back = draft.workflow.goes_back and any(does_work(draft, number) for number in main)
    ready = _after_failure(draft, ready_steps(draft)) if comes_back else []
    barriers(draft, [first, main, up, then, ready])


def cannot_be_undone(done: Iterable[DoneHook], back: Plan) -> tuple[str, ...]:
    """What lifecycle steps have done and a rollback does not undo, for people, the newest first."""
    undone, is_to_base = {d.change for d in back.undone}, workflow_of(back.workflow).goes_back
    return tuple(
        f'lifecycle step "{d.hook.id}" cannot be undone: {why_not_undone(d, is_to_base=is_to_base)}'
        for d in reversed(tuple(done))
        if d.change not in undone
    )


def why_not_undone(done: DoneHook, *, is_to_base: bool) -> str:
    """Why nothing undoes what a lifecycle step did, for people."""
    if not can_be_undone(done):
        return f"{done.hook.block.fqn} {done.hook.block.version} has no undo"
    if _is_before_removal(done.hook) and not is_to_base:
        return f"{done.hook.component} was removed, and this does not create it again"
    operation = done.result.config.get(UNDO_OPERATION)
    return f"{operation} of the service that job {done.job} has deployed cannot be read any more"


def is_before_resources(hook: Hook) -> bool:
    """Whether a lifecycle step comes before anything is done to the resources: one before the transition of its
    component does, and every step of the module's removal, whatever it is called."""
    if not hook.component:
        return hook.transition is Transition.DELETE
    return hook.moment is Moment.BEFORE


def _is_before_removal(hook: Hook) -> bool:
    """Whether a lifecycle step prepares the removal of its component."""
    return hook.transition is Transition.DELETE and hook.moment is Moment.BEFORE and bool(hook.component)


def _is_to_undo(draft: Draft, done: DoneHook) -> bool:
    """Whether a step is undone. One that prepared a removal is undone only for what exists in the end: otherwise what
    it restores would have no owner, and the next ``create`` would overwrite it."""
    if not is_undone(draft, done):
        return False
    if not _is_before_removal(done.hook) or there_in_the_end(draft, done.hook.component):
        return True
    if draft.workflow.goes_back:
        draft.undone.append(done)  # Nothing is to be undone: what was deployed then did not have the component.
    return False


def _made_again(draft: Draft, hook: Hook) -> list[PlannedInstance]:
    """The instances of a step's component that are created again, or were begun to be."""
    members = there_in_the_end(draft, hook.component) if hook.component else []
    return [member for member in members if DOWN_UP[member.action].up is Up.MAKE]


def _after_failure(draft: Draft, numbers: list[int]) -> list[int]:
    for number in numbers:
        draft.steps[number].after_failure = True
    return numbers


class _WaysUp:
    """The steps that are undone in the chain up of a component, since their blocks ask for that, and those that are
    undone ``later``."""

    def __init__(self, draft: Draft, newest_first: Sequence[DoneHook]) -> None:
        self._draft = draft
        self.later: list[DoneHook] = []
        self._of: dict[str, list[tuple[DoneHook, dict[int, int]]]] = {}
        reached: dict[str, str] = {}
        for done in newest_first:
            component, asked = done.hook.component, done.hook.block.undone_once
            # Of one component nothing is undone before what was done later is.
            state = max(reached.get(component, CREATED), asked, key=UNDONE_ONCE.index)
            places = self._places(component, state)
            reached[component] = state if places else STARTED
            if places:
                self._of.setdefault(component, []).append((done, places))
            else:
                self.later.append(done)

    def _places(self, component: str, state: str) -> dict[int, int]:
        """For each instance of a component the step before which is undone what asks for a node state, by the first
        step of its chain up; empty if instances come up without passing it, or after each other."""
        draft, found = self._draft, dict[int, int]()
        if state not in ENTERS or component in draft.service.substituted:
            return {}
        for member in there_in_the_end(draft, component):
            steps = member.up.steps if member.up is not None and member.rises and not member.is_conditional else []
            entering = (n for n in steps if (s := draft.steps[n].stage) is not None and s.enter in ENTERS[state])
            place = next(entering, -1)
            if member.turn or place < 0 or draft.steps[place].done:
                return {}
            found[steps[0]] = place
        return found

    def steps(self) -> list[int]:
        """Add what is undone in chains up; returns the numbers of the added steps."""
        draft, added = self._draft, list[int]()
        into = self._into({place for found in self._of.values() for _, places in found for place in places.values()})
        for found in self._of.values():
            before: list[int] = []
            for done, places in found:
                why = draft.why(f"{done.hook.block.fqn} is undone once its component is {done.hook.block.undone_once}")
                (step,) = _undo(draft, done)
                step.after_failure = False
                number = draft.add(step)
                join = draft.join(f"{done.hook.id}.undone", why, after_failure=True)
                # What the chain up waits for there has to have ended well; what is undone need not.
                draft.edges(list(dict.fromkeys(b for p in places.values() for b in into[p])), [number], why)
                draft.edges(before, [number], why)
                draft.edge(number, join, why)
                draft.edges([join], list(places.values()), why)
                before = [join]
                added += [number, join]
        return added

    def _into(self, places: set[int]) -> dict[int, list[int]]:
        """What each of some steps waits for."""
        found: dict[int, list[int]] = {place: [] for place in places}
        for before, after in zip(self._draft.befores, self._draft.afters, strict=True) if places else ():
            if after in found:
                found[after].append(before)
        return found


def _in_turn(draft: Draft, wanted: Sequence[DoneHook]) -> list[int]:
    """The steps that undo each, one after the other, whether or not the earlier ones succeed. What was done to a
    component that is created again is undone only if that has succeeded: otherwise it has to be created once more."""
    added: list[int] = []
    why, last = draft.why("what lifecycle steps have done is undone, the newest first"), -1
    for done in wanted:
        again = _made_again(draft, done.hook) if is_before_resources(done.hook) else []
        first = len(draft.steps)
        if again:
            made = draft.join(f"{done.hook.component}.again", draft.why(f"{done.hook.component} has been made again"))
            draft.edges([m.up.end for m in again if m.up is not None], [made], why)
        parts = [draft.add(step) for step in _undo(draft, done)]
        for number in parts:
            whole = number == parts[-1]
            if again:
                draft.steps[number].after_failure = False
                draft.edge(made, number, why)
            if whole:
                # The step is undone where all that undoes it has ended well.
                draft.edges(parts[:-1], [number], why)
            if last >= 0 and not (whole and len(parts) > 1):
                turn = last if draft.steps[number].after_failure else draft.join("undone", why, after_failure=True)
                if turn != last:
                    draft.edge(last, turn, why)
                draft.edge(turn, number, why)
            last = number
        added += range(first, len(draft.steps))
    return added


def _try_again(draft: Draft, step: DraftStep) -> None:
    """Let an instance be tried that is in unknown status only because this very operation has failed on it: nothing
    else is needed to show that it is well, and the operation tells its status."""
    member, key = draft.members[step.instance], draft.calls.all[step.call].key
    failures = member.record.before_failure
    if member.up is None or member.record.local != UNKNOWN or failures.keys() != {key}:
        return
    settled = draft.steps[member.up.end]
    if settled.condition is StepCondition.IF_REPAIRED and failures[key] in OPERATIONAL:
        settled.condition = StepCondition.ALWAYS


def _undo(draft: Draft, done: DoneHook) -> list[DraftStep]:
    """The steps that undo one lifecycle step: one step, or several for one that has run an operation of a component,
    the last of which stands for the whole."""
    hook, script = done.hook, done.hook.block.undo
    # Several revisions may have carried out steps of one name.
    name = f"{hook.id}.{done.job}" if any(other.hook.id == hook.id for other in draft.undone) else hook.id
    draft.undone.append(done)
    steps: list[DraftStep] = []
    if hook.block.is_operation and (found := undoing(draft, done)) is not None:
        steps = undo_steps(draft, done, found, name, is_first=not is_before_resources(hook))
        for step in steps:
            _try_again(draft, step)
    steps.append(
        DraftStep(
            f"{name}.undo",
            Action.UNDO,
            call=draft.calls.put(call_of(hook, UNDO, script)),
            after_failure=script is not None,
            reason=draft.why(f"job {done.job} had carried it out ({hook.phase})"),
            hook=len(draft.undone) - 1,
        )
    )
    return steps
