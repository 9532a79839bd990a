"""The environment of an operation: what its implementation finds in its variables, whatever carries it out.

Both families of names are there: ``NODE``, ``INSTANCE``, ``INSTANCES``, ``HOST`` and ``SOURCE_*``, ``TARGET_*`` of the
normative lifecycle, and ``SOURCE``, ``SOURCES``, ``TARGET``, ``TARGETS`` of TOSCA 1.3 §4.2. Every declared input is
there under its own name and, for each instance of the side its value comes from, as ``<instance>_<input>``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from ordito.instances.conformity import misfit
from ordito.instances.context import Context, EvaluationError, Nothing, Trace
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Snapshot
from ordito.instances.text import as_text, shell_name
from ordito.model.operation import Artifact, Input, Operation
from ordito.model.reserved import NODE_VARIABLES, RELATIONSHIP_VARIABLES
from ordito.model.service import Relationship, Service
from ordito.syntax.expressions import Call, Value, calls, is_static
from ordito.syntax.functions import OF_ENTITIES
from ordito.work.attribute_values import WrongValue, typed
from ordito.work.invocation import Placement
from ordito.work.plan import Step

MOST_BYTES = 64 * 1024
MOST_VARIABLES = 1_000

OWN_PREFIX = "ORDITO_"
"""Variables of this program itself begin with this, and no input may."""

LISTS = frozenset({"INSTANCES", "SOURCES", "TARGETS", "SOURCE_INSTANCES", "TARGET_INSTANCES"})
"""The variables that grow with the number of instances."""


class Place(msgspec.Struct, frozen=True):
    """Where and for whom an operation runs: on a node instance, or at one ``side`` of a relationship between two.

    ``instance`` is the one it runs on, ``far`` the other end ("" for node operations, and where there is none).
    """

    operation: Operation
    node: str
    instance: str
    relationship: Relationship | None = None
    side: str = ""
    far: str = ""

    @property
    def source(self) -> str:
        """The source instance of a relationship operation."""
        return self.instance if self.side == "source" else self.far

    @property
    def target(self) -> str:
        """The target instance of a relationship operation."""
        return self.instance if self.side == "target" else self.far

    @property
    def context(self) -> Context:
        """The context in which its inputs are evaluated."""
        if self.relationship is None:
            return Context(node=self.node, instance=self.instance)
        return Context(relationship=self.relationship, source=self.source, target=self.target)


class Environment(msgspec.Struct, frozen=True):
    """The variables of an operation; ``large`` are those that did not fit, ``files`` the copies of artifacts it wants.

    ``warnings`` are about inputs that are unset or hidden; ``refusals`` say why it must not be started.
    """

    variables: dict[str, str]
    large: dict[str, str] = {}
    files: tuple[Placement, ...] = ()
    warnings: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()


class Environments:
    """Prepares the environments of a job's operations.

    The values of an input for all instances of a side are a block: it is built once, shared by all operations that
    see the same values, and brought up to date entry by entry when something that an entry has read changes.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._service: Service = evaluator.service
        self._snapshot: Snapshot = evaluator.snapshot
        self._blocks = Blocks(evaluator)
        self._lists: dict[str, tuple[tuple[str, ...], str]] = {}
        self._large: dict[str, tuple[object, dict[str, str]]] = {}

    def prepare(self, place: Place, step: Step) -> Environment:
        """The environment of an operation, as things are now."""
        own, trace, warnings, refusals = self._inputs(place, step)
        reserved = self._reserved(place)
        for name in [n for n in own if n in reserved or n.startswith(OWN_PREFIX) or n in _names(place)]:
            warnings.append(f'input "{name}" has the name of a reserved variable, which keeps its own value')
            del own[name]
        base = {**self._artifacts(place), **_of_its_instance(place, own), **own}
        blocks = [b for i in place.operation.inputs.values() if (b := self._blocks.of(place, i)) is not None]
        variables, large = self._fit(place, step, base, reserved, blocks)
        files = tuple(Placement(c.file, c.path, c.remove) for c in trace.copies)
        return Environment(variables, large, files, tuple(warnings), tuple(refusals))

    # -------------------------------------------------------------------------------------------------- inputs

    def _inputs(self, place: Place, step: Step) -> tuple[dict[str, str], Trace, list[str], list[str]]:
        """Each input's own value; warnings for those that come to nothing, refusals for those that must not."""
        owner = place.source if step.link else place.instance
        trace = Trace({owner: step.enter} if step.enter else None)
        found: dict[str, str] = {}
        warnings: list[str] = []
        refusals: list[str] = []
        for declared in place.operation.inputs.values():
            value: object = Nothing("it is not given")
            if declared.has_value:
                try:
                    value = self._value(declared, place.context, trace)
                except (EvaluationError, WrongValue) as error:
                    refusals.append(f'input "{declared.name}" cannot be evaluated: {error}')
                    continue
            if value is not None and not isinstance(value, Nothing):
                found[declared.name] = _text_of(declared, value)
            elif declared.required:
                reason = value.reason if isinstance(value, Nothing) else "it is null"
                where = f" (declared at {declared.span})" if declared.span else ""
                refusals.append(f'required input "{declared.name}" has no value: {reason}{where}')
            elif declared.has_value and isinstance(value, Nothing):
                warnings.append(f'input "{declared.name}" is unset: {value.reason}')
        for name in [n for n in found if shell_name(n) != n and shell_name(n) not in found]:
            found[shell_name(name)] = found[name]
        return found, trace, warnings, refusals

    def _value(self, declared: Input, context: Context, trace: Trace) -> object:
        """The value of an input, of the type and within the constraints that are declared for it (R-3.6.11-2)."""
        value = self._evaluator.evaluate(declared.value, context, trace)
        schema = declared.schema
        if schema is None or value is None or isinstance(value, Nothing) or is_static(declared.value):
            return value
        data_types = self._service.data_types
        fitting = typed(value, schema, data_types)
        wrong = misfit(fitting, schema, "it", data_types)
        if wrong:
            raise WrongValue(wrong)
        return fitting

    def _artifacts(self, place: Place) -> dict[str, str]:
        """A variable for each artifact of the node, and of the relationship, whose artifacts hide the node's."""
        owner = place.node
        if place.relationship is not None:
            owner = place.relationship.source if place.side == "source" else place.relationship.target
        artifacts: dict[str, Artifact] = dict(self._service.nodes[owner].artifacts)
        if place.relationship is not None:
            artifacts.update(place.relationship.artifacts)
        return {
            shell_name(a.name): a.file if "://" in a.file else f"{self._evaluator.root}/{a.file}"
            for a in artifacts.values()
        }

    # ------------------------------------------------------------------------------------------------ reserved

    def _reserved(self, place: Place) -> dict[str, str]:
        relationship = place.relationship
        if relationship is None:
            host = self._service.nodes[place.node].host
            found = {"NODE": place.node, "INSTANCE": place.instance, "INSTANCES": self._list(place.node)}
            return {**found, "HOST": host.target} if host else found
        found = {}
        for end, node, instance in (
            ("SOURCE", relationship.source, place.source),
            ("TARGET", relationship.target, place.target),
        ):
            ids = self._list(node)
            found |= {f"{end}_NODE": node, f"{end}S": ids, f"{end}_INSTANCES": ids}
            if instance:
                found |= {end: instance, f"{end}_INSTANCE": instance}
        return found

    def _list(self, node: str) -> str:
        ids = self._snapshot.ids_of(node)
        known = self._lists.get(node)
        if known is None or known[0] is not ids:
            known = self._lists[node] = (ids, ",".join(ids))
        return known[1]

    # -------------------------------------------------------------------------------------------------- limits

    def _fit(
        self, place: Place, step: Step, base: dict[str, str], reserved: dict[str, str], blocks: list[Block]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Everything in one, if it is small enough; else what grows with the number of instances apart from it."""
        apart = {k: v for k, v in base.items() if not any(k in b.texts for b in blocks)}
        count = len(apart) + len(reserved) + sum(len(b.texts) for b in blocks)
        size = _size(apart) + _size(reserved) + sum(b.size for b in blocks)
        if count <= MOST_VARIABLES and size <= MOST_BYTES:
            variables: dict[str, str] = {}
            for block in blocks:
                variables.update(block.texts)
            return {**variables, **base, **reserved}, {}
        ends = (place.instance, place.far)
        near = {k: v for b in blocks for k in b.names(ends) if (v := b.texts.get(k)) is not None}
        small = {k: v for k, v in reserved.items() if k not in LISTS}
        lists = {k: v for k, v in reserved.items() if k in LISTS}
        return {**near, **base, **small}, self._shared(step, blocks, lists)

    def _shared(self, step: Step, blocks: list[Block], lists: dict[str, str]) -> dict[str, str]:
        """What does not fit: one mapping for all steps of a call that see the same."""
        state = (tuple((id(b), b.version) for b in blocks), tuple(lists.values()))
        key = str(step.call)
        known = self._large.get(key)
        if known is None or known[0] != state:
            merged = {k: v for b in blocks for k, v in b.texts.items()}
            known = self._large[key] = (state, {**merged, **lists})
        return known[1]


class Block:
    """The texts of one input for all instances of a node, by variable name; an instance whose value comes to nothing
    has none. ``dirty`` are the instances whose texts are out of date, ``reads`` everything that any of them has read.
    ``version`` grows with every change."""

    __slots__ = ("contexts", "declared", "dirty", "members", "node", "reads", "size", "texts", "version")

    def __init__(self, declared: Input, node: str, contexts: Contexts) -> None:
        self.declared = declared
        self.node = node
        self.contexts = contexts
        self.members: dict[str, None] = {}
        self.dirty: dict[str, None] = {}
        self.reads: set[str] = set()
        self.texts: dict[str, str] = {}
        self.size = 0
        self.version = 0

    def names(self, instances: Iterable[str]) -> list[str]:
        """The variables of these instances."""
        return [f"{i}_{self.declared.name}" for i in instances if i]

    def put(self, member: str, text: str | None) -> None:
        """Give an instance's variable a text, or take it away."""
        name = f"{member}_{self.declared.name}"
        before = self.texts.get(name)
        if before == text:
            return
        self.version += 1
        if before is not None:
            self.size -= _entry_size(name, before)
            del self.texts[name]
        if text is not None:
            self.size += _entry_size(name, text)
            self.texts[name] = text


class Contexts(msgspec.Struct, frozen=True):
    """Makes the context of each member of a block: the member at ``side`` of a relationship, ``other`` at the other
    end of it; or the member itself where there is no relationship."""

    node: str
    relationship: Relationship | None = None
    side: str = ""
    other: str = ""

    def of(self, member: str) -> Context:
        """The context in which a member's value is evaluated."""
        if self.relationship is None:
            return Context(node=self.node, instance=member)
        source, target = (member, self.other) if self.side == "source" else (self.other, member)
        return Context(relationship=self.relationship, source=source, target=target)


class Blocks:
    """The blocks of a job, kept up to date with the snapshot."""

    MOST_OF_PAIRS = 256
    """Blocks that hold for one near instance only are many and short-lived: so many of them are kept."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._snapshot = evaluator.snapshot
        self._shared: dict[tuple[str, ...], Block] = {}
        self._of_pairs: dict[tuple[str, ...], Block] = {}
        self._readers: dict[str, dict[Block, dict[str, None]]] = {}
        self._of_node: dict[str, dict[Block, None]] = {}
        self._read = len(evaluator.snapshot.changes)

    def of(self, place: Place, declared: Input) -> Block | None:
        """The block of an input, up to date; None for an input that is given no value."""
        if not declared.has_value:
            return None
        self._follow()
        side, other = _sides(place, declared.value)
        interface = f"{place.operation.interface}.{place.operation.name}"
        key = (place.node, place.side, interface, declared.name, side, other)
        kept = self._of_pairs if other else self._shared
        block = kept.get(key)
        if block is None:
            relationship = place.relationship
            node = place.node
            if relationship is not None:
                node = relationship.source if side == "source" else relationship.target
            block = kept[key] = self._new(declared, node, Contexts(place.node, relationship, side, other))
            if other and len(kept) > self.MOST_OF_PAIRS:
                self._forget(kept.pop(next(iter(kept))))
        self._renew(block)
        return block

    def _follow(self) -> None:
        """What has changed since the last time makes the entries that have read it out of date; an instance that has
        come or gone belongs to the blocks of its node from now on, or not any more."""
        changes = self._snapshot.changes
        for index in range(self._read, len(changes)):
            change = changes[index]
            for block, members in self._readers.pop(change, {}).items():
                block.dirty.update(members)
            if change.startswith("!"):
                self._count(change[1:])
        self._read = len(changes)

    def _count(self, instance: str) -> None:
        record = self._snapshot.instances[instance]
        for block in self._of_node.get(record.node, ()):
            if record.exists:
                block.members[instance] = None
                block.dirty[instance] = None
            else:
                block.members.pop(instance, None)
                block.put(instance, None)

    def _new(self, declared: Input, node: str, contexts: Contexts) -> Block:
        block = Block(declared, node, contexts)
        block.members = dict.fromkeys(self._snapshot.ids_of(node))
        block.dirty = dict(block.members)
        self._of_node.setdefault(node, {})[block] = None
        return block

    def _renew(self, block: Block) -> None:
        for member in block.dirty:
            if member in block.members:
                block.put(member, self._text(block, member))
        block.dirty.clear()

    def _text(self, block: Block, member: str) -> str | None:
        trace = Trace()
        try:
            value = self._evaluator.evaluate(block.declared.value, block.contexts.of(member), trace)
        except EvaluationError:
            value = None  # The operation's own value tells of errors; for another instance it is unset.
        for read in trace.reads:
            self._readers.setdefault(read, {}).setdefault(block, {})[member] = None
        block.reads |= trace.reads
        return None if value is None or isinstance(value, Nothing) else _text_of(block.declared, value)

    def _forget(self, block: Block) -> None:
        self._of_node[block.node].pop(block, None)
        for read in block.reads:
            self._readers.get(read, {}).pop(block, None)


def _sides(place: Place, value: Value) -> tuple[str, str]:
    """For which side of a relationship an input's values are given for all instances, and the instance at the other
    side if they depend on it: the far side for values of it, else the side the operation runs on."""
    if place.relationship is None:
        return "", ""
    entities = {str(c.arguments[0]) for c in calls(value) if c.function in OF_ENTITIES}
    far_side = "target" if place.side == "source" else "source"
    far_word, near_word = far_side.upper(), place.side.upper()
    if far_word in entities:
        return far_side, place.instance if entities & {near_word, "SELF"} else ""
    return place.side, place.far if "SELF" in entities else ""


def _text_of(declared: Input, value: object) -> str:
    """The text of an input's value; the ids that get_nodes_of_type gives are separated by commas, as those in TARGETS
    are (§4.7.1)."""
    written = declared.value
    if isinstance(written, Call) and written.function == "get_nodes_of_type" and isinstance(value, list):
        return ",".join(value)
    return as_text(value)


def _of_its_instance(place: Place, own: Mapping[str, str]) -> dict[str, str]:
    """The own values once more, under the name of the instance they are of: what an operation sees of its own state
    and copies is the same under both names."""
    found: dict[str, str] = {}
    for declared in place.operation.inputs.values():
        if declared.name in own and declared.has_value:
            side, _ = _sides(place, declared.value)
            member = place.far if side and side != place.side else place.instance
            if member:
                found[f"{member}_{declared.name}"] = own[declared.name]
    return found


def _names(place: Place) -> tuple[str, ...]:
    return NODE_VARIABLES if place.relationship is None else RELATIONSHIP_VARIABLES


def _size(variables: Mapping[str, str]) -> int:
    return sum(_entry_size(name, value) for name, value in variables.items())


def _entry_size(name: str, value: str) -> int:
    """The bytes of ``NAME=value`` and its end; texts are taken as if every character had one byte, save large ones."""
    return len(name) + len(value if value.isascii() else value.encode("utf-8", "surrogatepass")) + 2
