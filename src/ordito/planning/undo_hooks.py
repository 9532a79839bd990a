"""Transform: what lifecycle steps have done is undone, around what takes back what was done to the resources.

Those that came after the resources are undone first, the newest first; then the resources are taken back; then those
that came before are undone, the newest first; then what is back is to be ready. What cannot be undone holds nothing up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ordito.planning.draft import Draft
from ordito.planning.hook_steps import call_of
from ordito.planning.members import DraftStep
from ordito.planning.operation_steps import UNDO_OPERATION, can_be_undone, is_undone, undo_steps, undoing
from ordito.planning.phases import barriers, does_work
from ordito.planning.ready import ready_steps
from ordito.work.hooks import DoneHook, Hook, Moment, Transition
from ordito.work.plan import UNDO, Action, Plan

TO_BASE = "rollback"
"""The workflow that leads back to what was deployed before; another removes what was made."""


def undo_hooks(draft: Draft) -> None:
    """Undo what was carried out by ``Hooking.done``, where that is asked for. What was there before is to be ready in
    the end."""
    if not draft.options.hooking.undoes:
        return
    main = list(range(len(draft.steps)))
    newest_first = [done for done in reversed(draft.options.hooking.done) if is_undone(draft, done)]
    first, then = (
        _in_turn(draft, [d for d in newest_first if is_before_resources(d.hook) is wanted]) for wanted in (False, True)
    )
    comes_back = draft.workflow == TO_BASE and any(does_work(draft, number) for number in main)
    ready = ready_steps(draft) if comes_back else []
    for number in ready:
        draft.steps[number].tolerant = True
    barriers(draft, [first, main, then, ready])


def cannot_be_undone(done: Iterable[DoneHook], back: Plan) -> tuple[str, ...]:
    """What lifecycle steps have done and a way back does not undo, for people, the newest first."""
    undone = {d.change for d in back.undone}
    return tuple(
        f'lifecycle step "{d.hook.id}" cannot be undone: {why_not_undone(d)}'
        for d in reversed(tuple(done))
        if d.change not in undone
    )


def why_not_undone(done: DoneHook) -> str:
    """Why nothing undoes what a lifecycle step did, for people."""
    if not can_be_undone(done):
        return f"{done.hook.block.fqn} {done.hook.block.version} has no undo"
    operation = done.result.config.get(UNDO_OPERATION)
    return f"{operation} of the service that job {done.job} has deployed cannot be read any more"


def is_before_resources(hook: Hook) -> bool:
    """Whether a lifecycle step comes before anything is done to the resources; those of what is removed come after all
    else, or there is nothing that could be done the other way."""
    return hook.moment is Moment.BEFORE and bool(hook.component) and hook.transition is not Transition.DELETE


def _in_turn(draft: Draft, wanted: Sequence[DoneHook]) -> list[int]:
    """A step for each, one after the other; each is tried whatever became of the others."""
    steps: list[DraftStep] = []
    for done in wanted:
        hook, script = done.hook, done.hook.block.undo
        # Several revisions may have carried out steps of one name.
        name = f"{hook.id}.{done.job}" if any(other.hook.id == hook.id for other in draft.undone) else hook.id
        draft.undone.append(done)
        if hook.block.is_operation and (found := undoing(draft, done)) is not None:
            is_first = not is_before_resources(hook)
            steps += undo_steps(draft, done, found, name, is_first=is_first)
        steps.append(
            DraftStep(
                f"{name}.undo",
                Action.UNDO,
                call=draft.calls.put(call_of(hook, UNDO, script)),
                tolerant=script is not None,
                reason=draft.why(f"job {done.job} had carried it out ({hook.phase})"),
                hook=len(draft.undone) - 1,
            )
        )
    return draft.sequence(steps, draft.why("what lifecycle steps have done is undone, the newest first"))
