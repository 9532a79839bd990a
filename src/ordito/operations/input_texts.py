"""The texts of an input for all instances of a side, built once for all operations that see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from ordito.base.masking import Masking
from ordito.base.sensitive import sensitive_parts
from ordito.instances.context import Context, EvaluationError, Nothing, Trace
from ordito.instances.evaluate import Evaluator
from ordito.model.service import Relationship
from ordito.work.operation_inputs import OperationInput, text_of
from ordito.work.places import ExecutionPlace

MOST_NAMED = 3
"""How many instances a warning names at most."""


class InputTexts:
    """The texts of one input for all instances of a node, by variable name; an instance whose value is unset has none.

    ``dirty`` has the instances whose texts are out of date, ``reads`` everything that any text depends on, ``same`` the
    text that all have, if that is known. ``version`` grows with every change. ``unset`` has the reasons why instances
    have no text, as long as no warning has told of them, and ``told`` the instances of which one has.
    """

    __slots__ = (
        "contexts",
        "declared",
        "dirty",
        "formed",
        "members",
        "node",
        "reads",
        "same",
        "size",
        "told",
        "unset",
        "variables",
        "version",
    )

    def __init__(self, formed: OperationInput, node: str, contexts: Contexts, same: str | None) -> None:
        self.formed = formed
        self.declared = formed.declared
        self.same = same if formed.text is None else formed.text
        self.node = node
        self.contexts = contexts
        self.members: dict[str, None] = {}
        self.dirty: dict[str, None] = {}
        self.reads: set[str] = set()
        self.variables: dict[str, str] = {}
        self.unset: dict[str, str] = {}
        self.told: set[str] = set()
        self.size = 0
        self.version = 0

    def names(self, instances: Iterable[str]) -> list[str]:
        """The names of the variables of these instances."""
        return [f"{i}_{self.declared.name}" for i in instances if i]

    def missed(self, own: str) -> str:
        """A warning that names the instances, other than the ``own`` one, whose values are unset; "" if there are none,
        or earlier warnings have named them all."""
        if not self.unset or (len(self.unset) == 1 and own in self.unset):
            return ""
        reasons, self.unset = self.unset, {}
        members = [member for member in reasons if member != own]
        self.told.update(members)
        names = self.names(members[:MOST_NAMED])
        more = f" and {len(members) - MOST_NAMED} more" if len(members) > MOST_NAMED else ""
        verb = "is" if len(members) == 1 else "are"
        return f"{', '.join(names)}{more} {verb} unset: {reasons[members[0]]}"

    def put(self, member: str, text: str | None, reason: str = "") -> None:
        """Set the text of an instance's variable, or remove it; ``reason`` says why the instance has none."""
        if reason and member not in self.told:
            self.unset[member] = reason
        else:
            self.unset.pop(member, None)
        name = f"{member}_{self.declared.name}"
        before = self.variables.get(name)
        if before == text:
            return
        self.version += 1
        if before is not None:
            self.size -= entry_size(name, before)
            del self.variables[name]
        if text is not None:
            self.size += entry_size(name, text)
            self.variables[name] = text

    def fill(self, text: str) -> None:
        """Give all instances the same text."""
        self.version += 1
        self.unset.clear()
        self.variables = dict.fromkeys([f"{member}_{self.declared.name}" for member in self.members], text)
        self.size = sum(map(len, self.variables)) + len(self.variables) * entry_size("", text)


class Contexts(msgspec.Struct, frozen=True):
    """Makes the context in which the value of each member is evaluated: of a relationship, with the member at ``side``
    and ``other`` at the other end; or, without a relationship, of the member itself."""

    node: str
    relationship: Relationship | None = None
    side: str = ""
    other: str = ""
    inputs: Mapping[str, object] = {}

    def of(self, member: str) -> Context:
        """The context in which a member's value is evaluated."""
        if self.relationship is None:
            return Context(node=self.node, instance=member, inputs=self.inputs)
        source, target = (member, self.other) if self.side == "source" else (self.other, member)
        return Context(relationship=self.relationship, source=source, target=target, inputs=self.inputs)


class InputTextsOfJob:
    """The texts of all inputs of a job, kept up to date with the snapshot."""

    MOST_OF_PAIRS = 256
    """How many texts are kept that hold for one instance of a pair only: they are many, and needed for a short time."""

    def __init__(self, evaluator: Evaluator, masking: Masking) -> None:
        self._evaluator = evaluator
        self._masking = masking
        self._snapshot = evaluator.snapshot
        self._shared: dict[tuple[str, int, str], InputTexts] = {}
        self._of_pairs: dict[tuple[str, int, str], InputTexts] = {}
        self._readers: dict[str, dict[InputTexts, dict[str, None]]] = {}
        self._of_node: dict[str, dict[InputTexts, None]] = {}
        self._read = len(evaluator.snapshot.changes)

    def of(self, place: ExecutionPlace, formed: OperationInput, same: str | None = None) -> InputTexts | None:
        """The up-to-date texts of an input; None for an input without a value, and if there is no other instance than
        the operation's own, as is usual. ``same`` is the text that all instances have, if that is known already."""
        relationship = place.relationship
        if not formed.declared.has_value:
            return None
        node, side = place.node, formed.side
        if relationship is not None:
            node = relationship.source if side == "source" else relationship.target
        if self._evaluator.entities.listed(node) == (formed.member(place),):
            return None
        self._follow()
        other = formed.other(place)
        # They keep what is known of the input, so that nothing else gets its identity.
        key = (place.node, id(formed), other)
        kept = self._of_pairs if other else self._shared
        texts = kept.get(key)
        if texts is None:
            contexts = Contexts(place.node, relationship, side, other, place.inputs)
            texts = kept[key] = self._new(formed, node, contexts, None if formed.side else same)
            if other and len(kept) > self.MOST_OF_PAIRS:
                self._forget(kept.pop(next(iter(kept))))
        if texts.dirty:
            self._renew(texts)
        return texts

    def _follow(self) -> None:
        """Mark the texts out of date that depend on what has changed since the last call, and add and remove instances
        that have come and gone."""
        changes = self._snapshot.changes
        if self._read == len(changes):
            return
        for change in changes[self._read :]:
            if change in self._readers:
                for texts, members in self._readers.pop(change).items():
                    texts.dirty.update(members)
            if change.startswith("!"):
                self._count(change[1:])
        self._read = len(changes)

    def _count(self, instance: str) -> None:
        record = self._snapshot.instances[instance]
        for texts in self._of_node.get(record.node, ()):
            if record.exists or self._evaluator.entities.is_made_again(instance):
                texts.members[instance] = None
                texts.dirty[instance] = None
            else:
                texts.members.pop(instance, None)
                texts.put(instance, None)

    def _new(self, formed: OperationInput, node: str, contexts: Contexts, same: str | None) -> InputTexts:
        texts = InputTexts(formed, node, contexts, same)
        texts.members = dict.fromkeys(self._evaluator.entities.listed(node))
        texts.dirty = dict(texts.members)
        self._of_node.setdefault(node, {})[texts] = None
        return texts

    def _renew(self, texts: InputTexts) -> None:
        are_most = 2 * len(texts.dirty) > len(texts.members)
        for member in texts.dirty:
            if are_most and texts.same is not None:
                texts.fill(texts.same)
                break
            if member in texts.members:
                texts.put(member, *self._text(texts, member))
        texts.dirty.clear()

    def _text(self, texts: InputTexts, member: str) -> tuple[str | None, str]:
        """The text of an instance, or None and why it has none."""
        if texts.same is not None:
            return texts.same, ""
        trace = Trace()
        try:
            value = self._evaluator.evaluate(texts.declared.value, texts.contexts.of(member), trace)
        except EvaluationError as error:
            value = Nothing(str(error))  # The operation's own value tells of errors; for another instance it is unset.
        for read in trace.reads:
            self._readers.setdefault(read, {}).setdefault(texts, {})[member] = None
        texts.reads |= trace.reads
        if isinstance(value, Nothing):
            return None, value.reason
        if value is None:
            return None, ""
        declared, marks = texts.declared, self._evaluator.marks
        self._masking.know(sensitive_parts(marks.wrap(value, marks.by(declared.schema, declared.metadata))))
        text = text_of(declared, value)
        if texts.formed.is_same(value, trace):
            texts.same = text
        return text, ""

    def _forget(self, texts: InputTexts) -> None:
        self._of_node[texts.node].pop(texts, None)
        for read in texts.reads:
            self._readers.get(read, {}).pop(texts, None)


def entry_size(name: str, value: str) -> int:
    """The bytes of ``NAME=value`` with its end; in all but large texts each character is counted as one byte."""
    return len(name) + len(value if value.isascii() else value.encode("utf-8", "surrogatepass")) + 2
