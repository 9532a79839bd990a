"""What is wanted in another form than it was carried out: which files, values and targets, from what to what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.base.sensitive import shown
from ordito.base.span import Span
from ordito.instances.context import Context
from ordito.model.operation import Operation
from ordito.model.service import NodeTemplate, Relationship
from ordito.planning.calls import Calls
from ordito.planning.digests import SETTING, Content, Digests
from ordito.planning.options import Deployed, PlanOptions
from ordito.work.plan import DELEGATE, Call, Difference

MOST_SHOWN = 24
"""Differences of one operation that are named."""


class Differences:
    """The differences between what was deployed last and what is wanted now, each operation looked at once.

    What was deployed is asked for when the first difference is looked for, and not before.
    """

    def __init__(self, calls: Calls, digests: Digests, options: PlanOptions) -> None:
        self._calls = calls
        self._digests = digests
        self._options = options
        self._before: _Before | None = None
        self._known: dict[tuple[int, str], tuple[Difference, ...]] = {}

    def of(self, number: int, applied: str) -> tuple[Difference, ...]:
        """How a call differs from the one of digest ``applied``; nothing where that was not deployed last, so that
        nobody knows."""
        key = (number, applied)
        if key not in self._known:
            self._known[key] = tuple(self._find(self._calls.all[number], number, applied))[:MOST_SHOWN]
        return self._known[key]

    def _find(self, call: Call, number: int, applied: str) -> Iterator[Difference]:
        if self._before is None:
            deployed = self._options.deployed()
            self._before = _Before(deployed or Deployed(), self._options.digest_key)
        now, before = self._calls.content(number), self._before.content(call)
        if not self._before.is_of(before, applied):
            return
        yield from _files(before, now, call)
        yield from _values(
            self._before.values(before), self._digests.values(now) if now is not None else {}, now, before, call
        )


class _Before:
    """What was deployed last."""

    def __init__(self, deployed: Deployed, key: Callable[[], bytes]) -> None:
        self._service = deployed.service
        self._relationships: dict[str, Relationship] | None = None
        self._digests = (
            Digests(deployed.service, deployed.inputs, deployed.digests, Diagnostics(), key)
            if deployed.service
            else None
        )

    def content(self, call: Call) -> Content | None:
        """What a call carried out then; None for nothing."""
        if self._service is None or self._digests is None:
            return None
        holder: NodeTemplate | Relationship | None
        if call.side:
            if self._relationships is None:
                self._relationships = {r.key: r for n in self._service.nodes.values() for r in n.requirements}
            holder = self._relationships.get(call.owner)
            context = Context(relationship=holder)
        else:
            holder = self._service.nodes.get(call.owner)
            context = Context(node=call.owner)
        if holder is None:
            return None
        if call.interface == DELEGATE:
            return self._digests.provided(holder) if isinstance(holder, NodeTemplate) else None
        operation = _operation(holder, call)
        return self._digests.content(operation, context) if operation and operation.implementation else None

    def is_of(self, content: Content | None, applied: str) -> bool:
        """Whether a digest is that of this content, as far as that is the same for every instance."""
        if content is None or self._digests is None:
            return self._service is not None
        digest, by_slot = self._digests.of(content)
        return by_slot or digest == applied

    def values(self, content: Content | None) -> Mapping[str, object]:
        """The values of what was carried out."""
        return self._digests.values(content) if content is not None and self._digests is not None else {}


def _operation(holder: NodeTemplate | Relationship, call: Call) -> Operation | None:
    interface = holder.interfaces.get(call.interface)
    return interface.operations.get(call.operation) if interface is not None else None


def _files(before: Content | None, now: Content | None, call: Call) -> Iterator[Difference]:
    """What became of the implementation, of the files it needs, and of the targets a node is deployed beside."""
    old, new = (dict(c.files) if c is not None else {} for c in (before, now))
    first = next(iter(old), ""), next(iter(new), "")
    if _is_file(first[0]) and _is_file(first[1]) and first[0] != first[1]:
        yield Difference(f"{call.name} runs", first[0], first[1], call.declared)
    elif not old or not new:
        yield Difference(f"{call.name} runs", first[0] or None, first[1] or None, call.declared)
        return
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name) and name not in (first if first[0] != first[1] else ()):
            what = f"the content of {name}" if _is_file(name) and name in old and name in new else name
            yield Difference(what, _digest(old.get(name), name), _digest(new.get(name), name), call.declared)


TARGET = " -> "


def _is_file(name: str) -> bool:
    return bool(name) and TARGET not in name


def _digest(content: str | None, name: str) -> str | None:
    """Enough of a file's digest to tell two apart; the type of a relationship as it is."""
    if content is None:
        return None
    return (content[:12] or "there") if _is_file(name) else content


def _values(
    old: Mapping[str, object], new: Mapping[str, object], now: Content | None, before: Content | None, call: Call
) -> Iterator[Difference]:
    kind = "property" if call.interface == DELEGATE else f"{call.name}: input"
    spans = now.spans if now is not None else {}
    fallback = before.spans if before is not None else {}
    for name in dict.fromkeys((*old, *new)):
        if name not in old or name not in new or old[name] != new[name]:
            span: Span | None = spans.get(name) or fallback.get(name)
            declared = str(span) if span is not None and name in new else call.declared
            setting = name.removeprefix(SETTING) if name.startswith(SETTING) else ""
            yield Difference(
                f"{call.name}: property {setting} of its artifact" if setting else f"{kind} {name.replace('::', '.')}",
                shown(_readable(old.get(name))),
                shown(_readable(new.get(name))),
                declared,
            )


def _readable(stable: object) -> object:
    """A stable value as people wrote it, or as it was evaluated."""
    if isinstance(stable, dict) and set(stable) == {"written", "parts"}:
        return {**stable} if stable["parts"] else stable["written"]
    return stable
