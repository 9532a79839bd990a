"""Which changes an instance names as its last: ``last_config_change`` and ``last_state_change``.

The first is the last change that was applied to it on purpose: an operation of a workflow that applies (``effects``)
was at work on it, well or not, or wrote its attributes. The second is the last change that was noticed of what it is
inside: an operation reported that it has modified it, or has succeeded without saying anything; an attribute got a
new value; somebody who looked found something else than was known.

What was found and was done by no operation is ``drift``: it names what was other, with what that was, until an
operation of a workflow that applies was at work on the instance, or all is as it was again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

import msgspec

from ordito.base.sensitive import Sensitive
from ordito.instances.records import STATUS, Delta, Instance, Snapshot, drift_of
from ordito.instances.status import ABSENT, DEGRADED, ERROR, OK
from ordito.work.invocation import Ending, Outcome

NEVER_STARTED = frozenset({Ending.NOT_STARTED, Ending.UNREACHABLE})

KNOWN = frozenset({OK, DEGRADED, ERROR, ABSENT})
"""The statuses that say how an instance is: only against them can something else be found."""
LEFT = KNOWN - {ERROR}
"""Those in which a job leaves an instance on purpose: how one is that failed there, nobody knows."""

NO_DRIFT: Mapping[str, str] = {}
NO_VALUE = "none"
DIGEST_LENGTH = 16


def is_modified(outcome: Outcome) -> bool:
    """Whether an operation has modified its instance, as far as is known: without a word, success means yes."""
    return outcome.succeeded if outcome.changed is None else outcome.changed


def marked(record: Instance, change: str, *, applies: bool, modified: bool) -> Instance:
    """The record after a change that was at work on it."""
    if record.drift:
        record = msgspec.structs.replace(record, drift=NO_DRIFT if applies else _without_what_was(record))
    if not (applies or modified):
        return record
    return msgspec.structs.replace(
        record,
        last_config_change=change if applies else record.last_config_change,
        last_state_change=change if modified else record.last_state_change,
    )


def _without_what_was(record: Instance) -> Mapping[str, str]:
    """The drift of an instance, without its status where that is as it was again."""
    if record.drift.get(STATUS) != _status(record):
        return record.drift
    return {name: was for name, was in record.drift.items() if name != STATUS}


def _status(record: Instance) -> str:
    return f"{record.local} {record.state}"


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
            record = marked(record, change, applies=applies, modified=True)
            if record.drift:
                given = set(map(drift_of, delta.attributes[name]))
                drift = {about: was for about, was in record.drift.items() if about not in given}
                record = msgspec.structs.replace(record, drift=drift)
            records[name] = record
    return msgspec.structs.replace(delta, instances=tuple(records.values()))


def _are_new(snapshot: Snapshot, name: str, values: Mapping[str, object]) -> bool:
    recorded = snapshot.attributes.get(name, {})
    return any(key not in recorded or recorded[key] != value for key, value in values.items())


def is_news(before: Instance, found: Instance) -> bool:
    """Whether somebody who looked at an instance has found another one than was known."""
    return before.local in KNOWN and (before.local, before.state) != (found.local, found.state)


def drifted(
    before: Instance, found: Instance, values: Mapping[str, object], new: Mapping[str, object], key: Callable[[], bytes]
) -> Instance:
    """The record of an instance that somebody has looked at, with what is other than it was left. ``values`` are its
    attributes as recorded, ``new`` those that have another value; ``key`` gives the key for digests of sensitive ones.
    """
    drift = dict(before.drift)
    if before.local in LEFT and is_news(before, found):
        drift.setdefault(STATUS, _status(before))
    for name, value in new.items():
        about = drift_of(name)
        was = drift.setdefault(about, _digest(values[name], key) if name in values else NO_VALUE)
        if was == _digest(value, key):
            del drift[about]
    changed = msgspec.structs.replace(found, drift=drift)
    return msgspec.structs.replace(changed, drift=_without_what_was(changed)) if drift else changed


def _digest(value: object, key: Callable[[], bytes]) -> str:
    def hidden(found: object) -> object:
        if isinstance(found, Sensitive):
            return ["sensitive", found.digest(key())]
        raise NotImplementedError(f"objects of type {type(found).__name__} have no digest")

    encoded = msgspec.json.encode(value, enc_hook=hidden, order="deterministic")
    return hashlib.sha256(encoded).hexdigest()[:DIGEST_LENGTH]
