"""What a deployment or an upgrade has to do with an existing instance: its class, with the causes by name.

It follows from the operations that were carried out for the instance, each with its digest, and from the differences
between its template and its form. Instances of one template in one form for which the same was carried out are of one
class, which is found once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ordito.model.service import NodeTemplate
from ordito.planning.compared import NO_DIFFERENCE, RANK, Cause, Compared, compare, kind_of
from ordito.planning.draft import Draft
from ordito.planning.forms import Formed
from ordito.planning.operation_sequence import SequencedOperation
from ordito.planning.planned_instances import PlannedInstance
from ordito.work.plan import ChangeKind, Difference, DifferenceKind
from ordito.work.probes import UPDATE, maintaining

_WHOLE_SENTENCES = frozenset({DifferenceKind.UNKNOWN, DifferenceKind.NOT_COUNTED})
"""Differences that are sentences of their own; the others are followed by "changed"."""
ASKED_FOR = "--replace"
MOST_NAMED = 2
"""How many causes the sentence about a class names."""


class Class(NamedTuple):
    """What is to be done with an instance, why, and what differs. ``adopted`` are the keys of operations that count as
    carried out as they are wanted now, without being carried out; ``forgotten`` those of operations that are no longer
    wanted; ``changed`` the names of values with what they were and are."""

    kind: ChangeKind
    reason: str = ""
    differences: tuple[Difference, ...] = ()
    adopted: tuple[str, ...] = ()
    changed: Mapping[str, tuple[object, object]] = {}
    forgotten: tuple[str, ...] = ()


UNCHANGED = Class(ChangeKind.UNCHANGED)


class InstanceFindings(NamedTuple):
    """What was found of an instance: the places of operations that were carried out in another form, with their
    digests, and of missing operations; operations that are no longer wanted; whether it is to move to another host; the
    job in which its own update operation has failed (``attempted``, "" for none); and whether an operation was carried
    out exactly as wanted, and so with the targets that are required now (``is_bound``), whatever its form says."""

    differing: tuple[tuple[int, str], ...] = ()
    missing: tuple[int, ...] = ()
    gone: tuple[str, ...] = ()
    moves: tuple[str, str] | None = None
    attempted: str = ""
    is_bound: bool = False


class Classes:
    """The classes of the instances of one plan."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._differences = draft.differences
        self._compared: dict[tuple[str, str], Compared] = {}
        self._known: dict[tuple[str, str, InstanceFindings], Class] = {}

    def compared(self, node: NodeTemplate, form: Formed) -> Compared:
        """The differences between a template and what it was in a form."""
        if form is self._draft.forms.own and not self._is_joined:
            return NO_DIFFERENCE
        key = (node.name, form.name)
        if key not in self._compared:
            self._compared[key] = compare(self._draft, node, form, self._differences)
        return self._compared[key]

    @property
    def _is_joined(self) -> bool:
        """Whether something left behind is removed, so that even an instance that is as wanted may have a link too
        many."""
        return bool(self._draft.options.pruned)

    @property
    def are_plain(self) -> bool:
        """Whether instances whose records name no form are in the wanted one, without a link too many."""
        return not self._is_joined and not self._draft.forms.has_base

    def of(
        self, member: PlannedInstance, form: Formed, entries: Sequence[SequencedOperation], found: InstanceFindings
    ) -> Class:
        """The class of an instance."""
        node = member.template
        key = (node.name, form.name, found)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._find(node, form, entries, found)
        return known

    def _find(
        self, node: NodeTemplate, form: Formed, entries: Sequence[SequencedOperation], found: InstanceFindings
    ) -> Class:
        compared = self.compared(node, form)
        causes = [*self._replacing(node, found), *(c for c in compared.causes if not (c.binds and found.is_bound))]
        adopted: list[str] = []
        unread: list[Cause] = []
        for place, applied in found.differing:
            entry = entries[place]
            those = list(self._of_operation(entry, applied, form))
            if not those:
                adopted.append(entry.key)
            unread += those
        for place in found.missing:
            unread += self._of_missing(entries[place], form)
        causes += unread
        causes += [compared.gone[key] for key in found.gone]
        values = compared.values
        if found.attempted and not causes:
            # It is wanted as it was before the update that failed: that may have been carried out in part.
            attempted = self.compared(node, self._attempted(form, found))
            causes, values = list(attempted.causes), attempted.values
        kind = max((cause.kind for cause in causes), key=RANK.__getitem__, default=ChangeKind.UNCHANGED)
        if not causes and (adopted or found.gone):
            kind = ChangeKind.ADOPT
        kind, reason = self._with_update(node, kind, causes, found)
        differences = _once(c.difference for c in causes)
        every = [e.key for e in entries] if kind is ChangeKind.UPDATE else adopted
        changed = {**_inputs(causes), **values} if kind is ChangeKind.UPDATE else {}
        return Class(kind, reason, differences, tuple(every), changed, found.gone)

    def _attempted(self, form: Formed, found: InstanceFindings) -> Formed:
        """The form to which an instance was to be updated when that failed; its own if that form is no longer known."""
        return self._draft.forms.named(found.attempted) or form

    def _replacing(self, node: NodeTemplate, found: InstanceFindings) -> Iterator[Cause]:
        declared = str(node.span) if node.span else ""
        if node.name in self._draft.options.changes.replaced:
            asked = Difference(f"{ASKED_FOR} {node.name}", None, None, declared, DifferenceKind.REQUEST)
            yield Cause(ChangeKind.REPLACE, asked, firm=True)
        if found.moves is not None:
            before, after = found.moves
            yield Cause(ChangeKind.REPLACE, Difference("host", before or None, after or None, declared), firm=True)

    def _of_operation(self, entry: SequencedOperation, applied: str, form: Formed) -> Iterator[Cause]:
        """What an operation that was carried out in another form requires; nothing if it does the same as before."""
        call = self._draft.calls.all[entry.call]
        changed = self._differences.of(entry.call, applied, form)
        kind = kind_of(entry, call.operation)
        if not changed.known:
            what = f"{call.name} was carried out in another form"
            unknown = Difference(what, declared=call.declared, about=DifferenceKind.UNKNOWN)
            yield from (Cause(kind, d) for d in changed.differences or (unknown,))
        yield from (Cause(kind, d) for d in changed.differences if changed.known)

    def _of_missing(self, entry: SequencedOperation, form: Formed) -> Iterator[Cause]:
        call = self._draft.calls.all[entry.call]
        missing = Difference(f"what {call.name} runs", None, call.artifact or None, call.declared)
        if self._differences.before(form).content(call) is not None:
            # It was rolled back, and made good by hand if at all.
            what = f"{call.name} does not count as carried out"
            missing = Difference(what, declared=call.declared, about=DifferenceKind.NOT_COUNTED)
        yield Cause(kind_of(entry, call.operation), missing)

    def _with_update(
        self, node: NodeTemplate, kind: ChangeKind, causes: Iterable[Cause], found: InstanceFindings
    ) -> tuple[ChangeKind, str]:
        """The class in view of the node's own update operation, and the sentence about it. What can be updated is
        replaced only because of its type or its host, or because that was asked for."""
        causes = list(causes)
        if found.attempted and kind is not ChangeKind.REPLACE:
            return ChangeKind.UPDATE, f"its {UPDATE} has failed"
        if RANK[kind] <= RANK[ChangeKind.ADOPT] or maintaining(node, UPDATE) is None:
            return kind, sentence([c.difference for c in causes if c.kind is kind])
        firm = [c.difference for c in causes if c.firm]
        if firm:
            return ChangeKind.REPLACE, sentence(firm)
        return ChangeKind.UPDATE, sentence([c.difference for c in causes if RANK[c.kind] > RANK[ChangeKind.ADOPT]])


def _once(differences: Iterable[Difference]) -> tuple[Difference, ...]:
    """Differences without repeated ones: their values may be of any kind."""
    found: list[Difference] = []
    for difference in differences:
        if difference not in found:
            found.append(difference)
    return tuple(found)


def _inputs(causes: Iterable[Cause]) -> dict[str, tuple[object, object]]:
    """What has changed besides properties, by name; an input is named as it is declared."""
    found: dict[str, tuple[object, object]] = {}
    for cause in causes:
        difference = cause.difference
        if difference.about is not DifferenceKind.PROPERTY:
            found[difference.name or difference.what] = (difference.before, difference.after)
    return found


def sentence(differences: Sequence[Difference]) -> str:
    """Why an instance is changed, in a few words."""
    if any(d.about is DifferenceKind.REQUEST for d in differences):
        return f"{ASKED_FOR} names it"
    plain = list(dict.fromkeys(d.what for d in differences if d.about not in _WHOLE_SENTENCES))
    if not plain:
        return "; ".join(list(dict.fromkeys(d.what for d in differences))[:MOST_NAMED])
    shown, more = plain[:MOST_NAMED], len(plain) - MOST_NAMED
    if more > 0:
        return f"{', '.join(shown)} and {more} more have changed"
    return f"{' and '.join(shown)} {'have' if len(shown) > 1 else 'has'} changed"
