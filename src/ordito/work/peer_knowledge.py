"""Who is told that the other end of a relationship has changed: ``target_changed`` on a source, and where a type
declares it ``source_changed`` on a target (§5.8.5, §5.8.3).

What such an operation knows of a far instance is noted in the record of the pair: whether it was started, and a digest
of what the operation reads of it. It is noted when the pair is linked and whenever the operation has run, and compared
with how things are at the end of a job's other steps.
"""

from __future__ import annotations

import copy
import hashlib
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import cast

import msgspec

from ordito.base.sensitive import Sensitive
from ordito.instances.context import Context, EvaluationError, Nothing, Trace
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Data, Delta, Link, Snapshot, link_id
from ordito.instances.states import STARTED
from ordito.model.operation import Operation
from ordito.model.service import CONFIGURE, Relationship, Service
from ordito.syntax.expressions import Call, Value, calls
from ordito.syntax.functions import OF_ENTITIES

TELLS: Mapping[str, str] = {"source": "target_changed", "target": "source_changed"}
"""The operation that tells the instance at a side of a relationship of changes at the other side."""

DIGEST_LENGTH = 16
UP, DOWN = "started", "not-started"


class Noted(msgspec.Struct, frozen=True):
    """What is known of a far instance: whether it is started, and the digest of what is read of it; ``change`` is the
    one after which it was so, "" for how it is now."""

    is_up: bool
    digest: str
    change: str = ""

    def text(self, change: str) -> str:
        """How the record of the pair stores it after a change: three words."""
        return f"{UP if self.is_up else DOWN} {self.digest} {change}"

    def is_news(self, now: Noted) -> bool:
        """Whether the present state is news to somebody who knows only this."""
        return self.is_up != now.is_up or (now.is_up and self.digest != now.digest)


def noted(text: str) -> Noted:
    """What the record of a pair has noted."""
    word, _, rest = text.partition(" ")
    digest, _, change = rest.partition(" ")
    return Noted(word == UP, digest, change)


def has_listeners(service: Service) -> bool:
    """Whether anything in a service is notified of changes."""
    # Relationships that change nothing of their type share its interfaces.
    every = {id(r.interfaces): r for node in service.nodes.values() for r in node.requirements}
    return any(True for relationship in every.values() for _ in _telling(relationship))


def is_notification(operation: str, side: str) -> bool:
    """Whether an operation of a relationship notifies a side of changes."""
    return TELLS.get(side) == operation


class PeerKnowledge:
    """What the operations that notify of changes know and would find now, in one snapshot; what was found is kept until
    something that it was found from changes. ``key`` returns the key for digests of sensitive values."""

    def __init__(self, service: Service, snapshot: Snapshot, evaluator: Evaluator, key: Callable[[], bytes]) -> None:
        self._service = service
        self._snapshot = snapshot
        self._evaluator = evaluator
        self._key = key
        self._operations: dict[int, tuple[object, dict[str, Operation]]] = {}
        self._reads: dict[tuple[int, str], tuple[Call, ...] | None] = {}
        self._digests: dict[tuple[int, str], str] = {}
        self._readers: dict[str, dict[tuple[int, str], None]] = {}
        self._followed = len(snapshot.changes)

    def operations(self, relationship: Relationship) -> Mapping[str, Operation]:
        """The operations of a relationship that notify of changes, those with an implementation, by side; mostly
        none."""
        known = self._operations.get(id(relationship.interfaces))
        if known is None:
            # Relationships that change nothing of their type share its interfaces, which are kept with what is known.
            known = self._operations[id(relationship.interfaces)] = (
                relationship.interfaces,
                dict(_telling(relationship)),
            )
        return known[1]

    def now(self, relationship: Relationship, side: str, far: str) -> Noted:
        """What there is to know of a far instance now, for the operation at a side."""
        record = self._snapshot.instances.get(far)
        is_up = record is not None and record.exists and record.state == STARTED
        return Noted(is_up, self._digest(relationship, side, far))

    def pairs(self, relationship: Relationship, side: str, near: str) -> Iterator[tuple[Link, str]]:
        """The recorded pairs of a relationship at one instance, each with its far instance."""
        for name in self._snapshot.links_of(near):
            link = self._snapshot.links[name]
            own, far = (link.source, link.target) if side == "source" else (link.target, link.source)
            if link.relationship == relationship.key and own == near:
                yield link, far

    def after(self, delta: Delta, up: str = "") -> PeerKnowledge:
        """The knowledge after a change of attributes that is not applied yet, and with an instance ``up``."""
        if not (delta.attributes or up):
            return self
        view = copy.copy(self._snapshot)
        own = self._snapshot.attributes
        changed = {name: {**own.get(name, {}), **values} for name, values in delta.attributes.items()}
        view.attributes = cast("dict[str, dict[str, Data]]", ChainMap(changed, own))
        record = self._snapshot.instances.get(up)
        if record is not None and record.state != STARTED:
            started = {up: msgspec.structs.replace(record, state=STARTED)}
            view.instances = cast("dict[str, object]", ChainMap(started, self._snapshot.instances))  # type: ignore[assignment]
        seen = self._evaluator
        return PeerKnowledge(
            self._service, view, Evaluator(self._service, view, seen.inputs, root=seen.root), self._key
        )

    # ------------------------------------------------------------------------------------------------- what is read

    def _digest(self, relationship: Relationship, side: str, far: str) -> str:
        self._follow()
        operation = self.operations(relationship)[side]
        key = (id(operation), far)
        known = self._digests.get(key)
        if known is None:
            trace = Trace()
            known = self._digests[key] = self._made(self._values(relationship, side, operation, far, trace))
            for read in trace.reads:
                self._readers.setdefault(read, {})[key] = None
        return known

    def _follow(self) -> None:
        """Drop what was found from anything that has changed since the last time."""
        changes = self._snapshot.changes
        for index in range(self._followed, len(changes)):
            for key in self._readers.pop(changes[index], ()):
                self._digests.pop(key, None)
        self._followed = len(changes)

    def _values(
        self, relationship: Relationship, side: str, operation: Operation, far: str, trace: Trace
    ) -> list[object]:
        node = relationship.target if side == "source" else relationship.source
        source, target = ("", far) if side == "source" else (far, "")
        wanted = self._wanted(relationship, side, operation)
        if wanted is None:
            return self._all(node, far, trace)
        context = Context(relationship=relationship, source=source, target=target)
        return [self._value(call, context, trace) for call in wanted]

    def _all(self, node: str, far: str, trace: Trace) -> list[object]:
        """Every attribute of an instance."""
        template = self._service.nodes[node]
        found: dict[str, object] = dict(self._snapshot.attributes.get(far, {}))
        trace.reads.add(far)
        written: dict[str, Value] = dict(template.attributes)
        for capability in template.capabilities.values():
            written |= {f"{capability.name}::{name}": value for name, value in capability.attributes.items()}
        context = Context(node=node, instance=far)
        for name, value in written.items():
            if name not in found:
                found[name] = self._value(value, context, trace)
        return [[name, found[name]] for name in sorted(found)]

    def _wanted(self, relationship: Relationship, side: str, operation: Operation) -> tuple[Call, ...] | None:
        """The calls in an operation's inputs that read from the peer; None where there is no input: then everything
        counts. What is found stays with the relationship's interfaces, which ``operations`` keeps."""
        key = (id(operation), relationship.key)
        if key not in self._reads:
            far = {"TARGET", relationship.target} if side == "source" else {"SOURCE", relationship.source}
            read = (c for i in operation.inputs.values() if i.has_value for c in _calls(i.value))
            found = tuple(c for c in read if str(c.arguments[0]) in far)
            self._reads[key] = found if operation.inputs else None
        return self._reads[key]

    def _value(self, value: Value, context: Context, trace: Trace) -> object:
        try:
            found = self._evaluator.evaluate(value, context, trace)
        except EvaluationError:
            return None  # The operation itself tells of errors.
        return ["nothing"] if isinstance(found, Nothing) else found

    def _made(self, values: list[object]) -> str:
        encoded = msgspec.json.encode(values, enc_hook=self._hidden, order="deterministic")
        return hashlib.sha256(encoded).hexdigest()[:DIGEST_LENGTH]

    def _hidden(self, value: object) -> object:
        if isinstance(value, Sensitive):
            return ["sensitive", value.digest(self._key())]
        raise NotImplementedError(f"objects of type {type(value).__name__} have no digest")


def _telling(relationship: Relationship) -> Iterable[tuple[str, Operation]]:
    for side, name in TELLS.items():
        for interface in relationship.interfaces.values():
            operation = interface.operations.get(name)
            if operation is not None and operation.implementation is not None and CONFIGURE in interface.kinds:
                yield side, operation
                break


def _calls(value: Value) -> Iterator[Call]:
    if isinstance(value, Call | list | dict):
        yield from (c for c in calls(value) if c.function in OF_ENTITIES and c.function != "get_artifact")


def pair_id(relationship: Relationship, side: str, near: str, far: str) -> str:
    """The id of the pair that an instance at a side makes with a far one."""
    source, target = (near, far) if side == "source" else (far, near)
    return link_id(relationship.key, relationship.source, source, target)
