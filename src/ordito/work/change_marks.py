"""Which changes an instance names as its last: ``last_config_change`` and ``last_state_change``.

The first is the last change that was applied to it on purpose: an operation of a workflow that applies (``effects``)
was at work on it, well or not, or wrote its attributes. The second is the last change that was noticed of what it is
inside: an operation reported that it has modified it, or has succeeded without saying anything; an attribute got a
new value; somebody who looked found something else than was known. So only those who look, and operations that are
carried out beside the lifecycle, make an instance's state younger than its configuration: something was changed from
outside.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.instances.records import Delta, Instance, Snapshot
from ordito.instances.status import ABSENT, DEGRADED, ERROR, OK
from ordito.work.invocation import Ending, Outcome

NEVER_STARTED = frozenset({Ending.NOT_STARTED, Ending.UNREACHABLE})

KNOWN = frozenset({OK, DEGRADED, ERROR, ABSENT})
"""The statuses that say how an instance is: only against them can something else be found."""


def is_modified(outcome: Outcome) -> bool:
    """Whether an operation has modified its instance, as far as is known: without a word, success means yes."""
    return outcome.succeeded if outcome.changed is None else outcome.changed


def marked(record: Instance, change: str, *, applies: bool, modified: bool) -> Instance:
    """The record after a change that was at work on it."""
    if not (applies or modified):
        return record
    return msgspec.structs.replace(
        record,
        last_config_change=change if applies else record.last_config_change,
        last_state_change=change if modified else record.last_state_change,
    )


def touched(record: Instance, outcome: Outcome, change: str, job: str, *, applies: bool) -> Instance:
    """The record with the change as its last, if there was one: what only the job itself did is none."""
    if change == job or outcome.ending in NEVER_STARTED:
        return record
    return marked(record, change, applies=applies, modified=is_modified(outcome))


def marked_by_values(delta: Delta, snapshot: Snapshot, change: str, *, applies: bool) -> Delta:
    """A change that writes attributes, with the marks of every instance that gets another value than it had."""
    changed = [name for name, values in delta.attributes.items() if _are_new(snapshot, name, values)]
    if not changed:
        return delta
    records = {record.id: record for record in delta.instances}
    for name in changed:
        record = records.get(name) or snapshot.instances.get(name)
        if record is not None and record.exists:
            records[name] = marked(record, change, applies=applies, modified=True)
    return msgspec.structs.replace(delta, instances=tuple(records.values()))


def _are_new(snapshot: Snapshot, name: str, values: Mapping[str, object]) -> bool:
    recorded = snapshot.attributes.get(name, {})
    return any(key not in recorded or recorded[key] != value for key, value in values.items())


def is_news(before: Instance, found: Instance) -> bool:
    """Whether somebody who looked at an instance has found another one than was known."""
    return before.local in KNOWN and (before.local, before.state) != (found.local, found.state)
