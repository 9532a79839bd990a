"""The differences between what was carried out and what is wanted: which files, values and targets, and how they
differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ordito.base.diagnostics import Diagnostics
from ordito.base.paths import seen_from
from ordito.base.sensitive import shown
from ordito.base.span import Span
from ordito.instances.context import Context
from ordito.instances.lifecycle import DELEGATE
from ordito.model.operation import Operation
from ordito.model.service import NodeTemplate, Relationship, Service
from ordito.model.settings import IGNORE
from ordito.model.settings import UPDATE as UPDATE_SETTING
from ordito.planning.digests import NO_OP_DIGEST, PLACE, SETTING, TARGET, VERSION, Content, Digests
from ordito.planning.forms import OWN, Formed, FormsOfPlan
from ordito.planning.options import Deployed, PlanOptions
from ordito.syntax.expressions import Call as FunctionCall
from ordito.syntax.expressions import as_written, calls
from ordito.work.plan import Difference, DifferenceKind, OperationCall

MOST_SHOWN = 24
"""How many differences of one operation are named."""


class ChangedOperation(NamedTuple):
    """How an operation differs from the one that was carried out, in what counts: neither its targets nor ignored
    properties. If it is not ``known``, nobody can say how."""

    differences: tuple[Difference, ...] = ()
    known: bool = False


class Differences:
    """The differences between what was carried out in some form of the service and what is wanted now; each operation
    is compared once. For instances in the wanted form the last deployment is compared, which is read only when the
    first difference is looked for."""

    def __init__(self, forms: FormsOfPlan, options: PlanOptions) -> None:
        self._calls = forms.own.calls
        self._digests = forms.own.digests
        self._service = forms.own.service
        self._options = options
        self._before: dict[str, DeclaredBefore] = {}
        self._known: dict[tuple[int, str, str], ChangedOperation] = {}

    def of(self, number: int, applied: str, form: Formed) -> ChangedOperation:
        """How a call differs from the one with digest ``applied`` that was carried out in a form; unknown if the form
        declares another one."""
        key = (number, applied, form.name)
        if key not in self._known:
            self._known[key] = self._find(number, applied, form)
        return self._known[key]

    def are_alike(self, number: int, applied: str, form: Formed) -> bool:
        """Whether a call does what was carried out, although it is written in another way."""
        found = self.of(number, applied, form)
        return found.known and not found.differences

    def before(self, form: Formed) -> DeclaredBefore:
        """What was declared in a form."""
        if form.name not in self._before:
            self._before[form.name] = self._find_before(form)
        return self._before[form.name]

    def _find_before(self, form: Formed) -> DeclaredBefore:
        if form.name != OWN:
            return DeclaredBefore(form.service, form.digests)
        if self._options.pruned:
            # The same, together with what was left behind.
            options = self._options
            digests = Digests(
                form.service, form.inputs, options.files.contents, Diagnostics(), options.files.key, options.files.names
            )
            return DeclaredBefore(form.service, digests)
        deployed = self._options.deployed() or Deployed()
        service = deployed.service
        if service is None:
            return DeclaredBefore(None, None)
        key = self._options.files.key
        return DeclaredBefore(service, Digests(service, deployed.inputs, deployed.digests, Diagnostics(), key))

    def between(self, number: int, before: Content | None, form: Formed) -> tuple[Difference, ...]:
        """How a call differs from what it carried out in a form."""
        call, earlier = self._calls.all[number], self.before(form)
        now = self._calls.content(number)
        old = earlier.values(before)
        new = self._digests.values(now) if now is not None else {}
        node = self._service.nodes.get(call.owner) if not call.side else None
        ignored = ignored_of(node) if node is not None else frozenset()
        names = [
            name
            for name in dict.fromkeys((*old, *new))
            if (name not in old or name not in new or old[name] != new[name])
            and not (ignored and _is_ignored(name, ignored, call, before, now))
        ]
        found = [*_files(before, now, call)]
        if before is not None and now is not None:
            found += _values(names, old, new, now, before, call)
        return tuple(found[:MOST_SHOWN])

    def _find(self, number: int, applied: str, form: Formed) -> ChangedOperation:
        earlier = self.before(form)
        before = earlier.content(self._calls.all[number])
        if not earlier.is_of(before, applied):
            return ChangedOperation()
        # What differs from slot to slot looks the same here, and may be another for each.
        found = self.between(number, before, form)
        return ChangedOperation(found, known=bool(found) or not self._calls.is_by_slot(number))


class DeclaredBefore:
    """What was declared in an earlier form of a service."""

    def __init__(self, service: Service | None, digests: Digests | None) -> None:
        self.service = service
        self.digests = digests
        self._relationships: dict[str, Relationship] | None = None

    def content(self, call: OperationCall) -> Content | None:
        """What a call carried out then; None for nothing."""
        if self.service is None or self.digests is None:
            return None
        holder: NodeTemplate | Relationship | None
        if call.side:
            if self._relationships is None:
                self._relationships = {r.key: r for n in self.service.nodes.values() for r in n.requirements}
            holder = self._relationships.get(call.owner)
            context = Context(relationship=holder)
        else:
            holder = self.service.nodes.get(call.owner)
            context = Context(node=call.owner)
        if holder is None:
            return None
        if call.interface == DELEGATE:
            return self.digests.provided(holder) if isinstance(holder, NodeTemplate) else None
        operation = _operation(holder, call)
        return self.digests.content(operation, context) if operation and operation.implementation else None

    def is_of(self, content: Content | None, applied: str) -> bool:
        """Whether a digest is that of this content, apart from what differs by instance."""
        if self.service is None or self.digests is None:
            return False
        if content is None:
            return applied == NO_OP_DIGEST
        digest, by_slot = self.digests.of(content)
        return by_slot or digest == applied

    def values(self, content: Content | None) -> Mapping[str, object]:
        """The values of what was carried out."""
        return self.digests.values(content) if content is not None and self.digests is not None else {}


def ignored_of(node: NodeTemplate) -> frozenset[str]:
    """The properties of a node whose changes have no effect; those of its capabilities as ``capability::property``."""
    return frozenset(name for name, said in said_of_updates(node) if said == IGNORE)


def said_of_updates(node: NodeTemplate) -> Iterator[tuple[str, str]]:
    """What the metadata say of changes of a node's properties, if anything."""
    yield from ((n, s) for n, d in node.definitions.items() if (s := d.metadata.get(UPDATE_SETTING)))
    for capability in node.capabilities.values():
        for name, definition in capability.definitions.items():
            if said := definition.metadata.get(UPDATE_SETTING):
                yield f"{capability.name}::{name}", said


def _is_ignored(
    name: str, ignored: frozenset[str], call: OperationCall, before: Content | None, now: Content | None
) -> bool:
    """Whether a value differs only in properties whose changes have no effect."""
    if call.interface == DELEGATE:
        return name in ignored
    if before is None or now is None or name not in before.values or name not in now.values:
        return False
    value = now.values[name]
    if not isinstance(value, FunctionCall | list | dict) or as_written(value) != as_written(before.values[name]):
        return False
    inner = list(calls(value))
    return bool(inner) and all(reads(c) in ignored for c in inner if c.function not in JOINS)


JOINS = frozenset({"concat", "token", "join"})
"""Functions that read nothing themselves."""


def reads(call: FunctionCall) -> str:
    """The property of its own node that a function reads, "" if it reads something else."""
    arguments = [str(a) for a in call.arguments]
    if call.function != "get_property" or len(arguments) < 2 or arguments[0] != "SELF":
        return ""
    return "::".join(arguments[1:3])


def _operation(holder: NodeTemplate | Relationship, call: OperationCall) -> Operation | None:
    interface = holder.interfaces.get(call.interface)
    return interface.operations.get(call.operation) if interface is not None else None


def _files(before: Content | None, now: Content | None, call: OperationCall) -> Iterator[Difference]:
    """What has changed in the implementation and in the files that it needs. Changes of targets are reported with the
    requirements."""
    old, new = ({n: d for n, d in c.files if TARGET not in n} if c is not None else {} for c in (before, now))
    first = next(iter(old), ""), next(iter(new), "")
    if call.interface != DELEGATE and all(first) and _beside(old, first[0]) == _beside(new, first[1]):
        return  # Another place in the service is none to the script.
    if first[0] and first[1] and first[0] != first[1]:
        yield Difference(f"what {call.name} runs", first[0], first[1], call.declared)
    elif not old or not new:
        yield Difference(f"what {call.name} runs", first[0] or None, first[1] or None, call.declared)
        return
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) == new.get(name):
            continue
        if name in (VERSION, PLACE):
            yield Difference(f"{call.name}: {name} of its artifact", old.get(name), new.get(name), call.declared)
        elif name not in (first if first[0] != first[1] else ()):
            what = f"the content of {name}" if name in old and name in new else name
            yield Difference(what, shown_digest(old.get(name)), shown_digest(new.get(name)), call.declared)


def _beside(files: Mapping[str, str], script: str) -> dict[str, str]:
    """Files by their paths as seen from a script; one whose content is not known keeps its own path."""
    return {seen_from(script, name) if digest else name: digest for name, digest in files.items()}


def shown_digest(content: str | None) -> str | None:
    """Enough of a file's digest to tell two apart."""
    return None if content is None else content[:12] or "there"


def _values(
    names: Iterable[str],
    old: Mapping[str, object],
    new: Mapping[str, object],
    now: Content,
    before: Content,
    call: OperationCall,
) -> Iterator[Difference]:
    about = DifferenceKind.PROPERTY if call.interface == DELEGATE else DifferenceKind.INPUT
    kind = "property" if about is DifferenceKind.PROPERTY else f"{call.name}: input"
    for name in names:
        span: Span | None = now.spans.get(name) or before.spans.get(name)
        declared = str(span) if span is not None and name in new else call.declared
        setting = name.removeprefix(SETTING) if name.startswith(SETTING) else ""
        called = name.replace("::", ".")
        yield Difference(
            f"{call.name}: property {setting} of its artifact" if setting else f"{kind} {called}",
            shown(readable(old.get(name))),
            shown(readable(new.get(name))),
            declared,
            DifferenceKind.OTHER if setting else about,
            called if about is DifferenceKind.INPUT and not setting else "",
        )


def readable(stable: object) -> object:
    """A stable value as people wrote it, or as it was evaluated."""
    if isinstance(stable, dict) and set(stable) == {"written", "parts"}:
        return {**stable} if stable["parts"] else stable["written"]
    return stable
