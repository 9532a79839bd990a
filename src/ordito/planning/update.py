"""The chain of an instance that is changed by its own operation for that: ``update`` of its ``Maintain`` interface,
which is told what has changed, with what it was and is."""

from __future__ import annotations

import msgspec

from ordito.instances.lifecycle import Side, Stage
from ordito.instances.states import CONFIGURING, STARTED
from ordito.planning.differences import readable
from ordito.planning.draft import Draft
from ordito.planning.implemented import where_run
from ordito.planning.members import Chain, DraftStep, PlannedInstance
from ordito.planning.needs import ChainNeeds
from ordito.planning.recipe import Where
from ordito.work.plan import Action
from ordito.work.probes import UPDATE, maintaining

UPDATING = Stage(CONFIGURING, STARTED)


def update_chain(draft: Draft, member: PlannedInstance) -> Chain:
    """One step: the call that changes an instance in place. What links it anew comes after that, and before the end."""
    operation = maintaining(member.template, UPDATE)
    assert operation is not None
    declared = draft.calls.of_node(member.template, operation.interface, UPDATE, operation)
    call = draft.calls.put_once(
        (member.template.name, UPDATE, id(member.changed)),
        msgspec.structs.replace(draft.calls.all[declared], digest="", given=_given(member)),
    )
    place = where_run(operation, member.template, Side.NODE, lifecycle=True)
    step = DraftStep(
        f"{member.id}.{draft.calls.all[call].name}",
        Action.CALL,
        member.id,
        member.id,
        call=call,
        runs_on="" if place is Where.ORCHESTRATOR else draft.runs_on(place, member.id),
        stage=UPDATING,
        reason=draft.why(member.reason),
    )
    ChainNeeds(draft, member.template).mark(step, None, installs=True)
    number = draft.add(step)
    end = draft.join(f"{member.id}.updated", draft.why("what it is linked with as well"))
    draft.edge(number, end, draft.why("the order of the lifecycle"))
    chain = Chain([number, end])
    chain.steps = [number]
    return chain


def _given(member: PlannedInstance) -> dict[str, object]:
    """What the operation is told: the names of the values that have changed, and what they were and are."""
    changed = {name.replace("::", "."): pair for name, pair in member.changed.items()}
    old = {name: readable(before) for name, (before, _) in changed.items() if before is not None}
    new = {name: readable(after) for name, (_, after) in changed.items() if after is not None}
    return {"changed": list(changed), "old": old, "new": new}
