"""Transforms: the operations of pairs: what links the instances of a relationship, and what undoes that (§5.8.5).

The pairs of an instance that is created or removed belong to its own chain, requirement by requirement in declared
order, reversed on removal; inside a requirement in the order of the numbers of the instances at the other end. If the
source stays and only the target comes or goes, the pair is linked when the target's whole chain up has ended, including
its own links and its monitoring, and undone before the target goes down; one such pair that fails does not hold up the
others. A pair with an end that is taken down and up again is undone and linked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, pairwise

from ordito.base.change_ids import job_of
from ordito.instances.lifecycle import UNDONE_BY_STOP, Side
from ordito.instances.records import Applied, Instance, Link, link_id
from ordito.model.service import NodeTemplate, Relationship
from ordito.planning.chains import ChainNeeds
from ordito.planning.decide import tell_relinked
from ordito.planning.draft import Draft
from ordito.planning.forms import Formed
from ordito.planning.operation_sequence import Making, PairEntry, Pairs
from ordito.planning.options import MOST_PAIRS
from ordito.planning.pairing import Pairing, warn_of_left_out
from ordito.planning.planned_instances import DOWN_UP, Chain, Down, DraftStep, InstanceAction, PlannedInstance, Up
from ordito.work.plan import Action, ChangeKind, StepCondition


def links(draft: Draft) -> None:
    """Link every pair that is not linked yet."""
    pairing, ordered = Pairing(draft), _OfTurns()
    for node in draft.ordered:
        sequence = draft.sequences.making(node)
        for pairs in sequence.link:
            is_lost = not draft.options.orphans.nodes.isdisjoint((node.name, pairs.relationship.target))
            if is_lost and not draft.options.pruned.isdisjoint((node.name, pairs.relationship.target)):
                continue
            before = draft.linking
            turns = _LinkTurns(draft, pairs.relationship)
            for source in pairing.of_node(node.name):
                updates = source.action is InstanceAction.UPDATE
                if source.rises and not updates and _is_of(pairs, DOWN_UP[source.action].up is not Up.START):
                    targets = pairing.wanted(source, pairs.relationship)
                    _link(draft, source, _once_linked(draft, source, targets, pairs, is_lost), pairs, turns)
                elif source.is_up and (updates or not source.rises) and pairs.is_link:
                    targets = [t for t in _asked(draft, source, pairs.relationship, pairing) if t.rises or not is_lost]
                    known = _once_linked(draft, source, targets, pairs, is_lost)
                    _link_kept(draft, source, known, pairs, turns, ordered)
            if pairs.is_link and not is_lost:
                warn_of_left_out(draft, pairs.relationship, pairing)
            _check_number(draft, pairs.relationship, draft.linking - before)
        if sequence.link:
            _weave(draft, node, sequence)


def unlinks(draft: Draft) -> None:
    """Undo every pair that was begun and one of whose ends is removed or stopped, even if it comes up again."""
    pairing, linking = Pairing(draft), _Linking(draft)
    for node in draft.ordered:
        wanted = draft.sequences.removing(node).unlink
        if not wanted and draft.is_in_one_form:
            continue
        turns = _turns(draft, wanted)
        of_forms: dict[str, tuple[tuple[Pairs, ...], Turns]] = {draft.forms.own.name: (wanted, turns)}
        for source in reversed(pairing.of_node(node.name)):
            form = draft.falling(source)
            if form.name not in of_forms:
                earlier = form.unlinks_of(node.name)
                of_forms[form.name] = (earlier, _turns(draft, earlier))
            unlink, turns = of_forms[form.name]
            if not draft.is_in_one_form and (more := _of_no_form(draft, source, form, linking)):
                unlink, turns = (*unlink, *more), {**turns, **_turns(draft, more)}
                _drop(source, more)
            if not unlink:
                continue
            if not source.falls:
                _unlink_kept(draft, source, unlink, turns, pairing)
            elif source.action is not InstanceAction.DROP and not source.is_lost:
                _unlink(draft, source, unlink, turns, pairing)


class _Linking:
    """The operations that link pairs, and their digests, by the forms of the service."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._alike: dict[tuple[str, str], Mapping[str, str]] = {}

    def otherwise(self, source: PlannedInstance, link: Link, forms: Iterable[Formed]) -> Iterator[str]:
        """The changes that began a pair in another way than the forms say: by another operation, or by another version
        of it. Changes alone do not tell: a job that has failed and was rolled back has linked pairs in two forms."""
        target = self._draft.members.get(link.target)
        applied, failed = dict(link.applied), dict(link.failed)
        if target is None:
            return  # Without the other end nothing can be undone.
        for form in forms:
            known = self._known(form, source, target, link.relationship)
            applied = {key: one for key, one in applied.items() if known.get(key) != one.digest}
            # In which form it was that failed is not recorded.
            failed = {key: change for key, change in failed.items() if key not in known}
            if not (applied or failed):
                return
        yield from failed.values()
        yield from (one.change for one in applied.values())

    def _known(
        self, form: Formed, source: PlannedInstance, target: PlannedInstance, relationship: str
    ) -> Mapping[str, str]:
        """The keys of what links a pair, each with its digest: nearly always the same for all of its pairs."""
        known = self._alike.get((form.name, relationship))
        if known is not None:
            return known
        if not self._draft.is_forming or form is not self._draft.forms.own:
            # Nothing is linked by it here, so it does not matter whether anything could be.
            form = self._draft.forms.unheard(form)
        calls, entries = form.calls, form.linking(source.template.name, relationship)
        ends = self._draft.with_hosts(source), self._draft.with_hosts(target)
        found = {e.key: calls.all[calls.for_instance(e.call, *ends)].digest for e in entries}
        if not any(calls.is_by_slot(e.call) for e in entries):
            self._alike[form.name, relationship] = found
        return found


def _of_no_form(draft: Draft, source: PlannedInstance, falling: Formed, linking: _Linking) -> tuple[Pairs, ...]:
    """What undoes the pairs of a source that neither its present form nor the wanted one has: a failed job has begun
    them, and they are undone as its form says."""
    if not (draft.is_forming or source.goes) or (draft.is_left_out(source) and not source.goes):
        return ()
    # What leaves is not linked as it is wanted: of it all is undone that its own form does not know.
    forms = (falling,) if source.goes or falling is draft.forms.own else (draft.forms.own, falling)
    node = source.template.name
    keys = {pairs.relationship.key for form in forms for pairs in form.unlinks_of(node)}
    begun: dict[str, str] = {}
    for name in draft.snapshot.links_of(source.id):
        link = draft.snapshot.links[name]
        if link.source == source.id and link.relationship not in keys:
            changes = [*linking.otherwise(source, link, forms)]
            if changes:
                begun[link.relationship] = max(begun.get(link.relationship, ""), *changes)
    found: list[Pairs] = []
    for key, change in begun.items():
        found += draft.forms.unlinking(node, key, job_of(change))
    if not source.goes:
        _forget(source, {key for key in begun if not draft.forms.own.requires(node, key)})
    return tuple(p for p in found if p.relationship.target not in draft.options.orphans.nodes - draft.options.pruned)


def _drop(source: PlannedInstance, unlink: tuple[Pairs, ...]) -> None:
    source.dropped |= {pairs.relationship.key for pairs in unlink}
    if not source.goes and source.kind in (ChangeKind.UNCHANGED, ChangeKind.ADOPT):
        source.kind, source.reason = ChangeKind.RELINK, source.reason or "what a job that failed has linked is undone"


def _forget(source: PlannedInstance, relationships: set[str]) -> None:
    """Forget, whether or not anything undoes them, the unwanted relationships that a failed job has begun."""
    source.dropped |= relationships
    if relationships and source.kind is ChangeKind.UNCHANGED:
        source.kind, source.reason = ChangeKind.ADOPT, "what a job that failed has linked is not required"


def _turns(draft: Draft, unlink: tuple[Pairs, ...]) -> Turns:
    return {id(pairs): _LinkTurns(draft, pairs.relationship) for pairs in unlink}


def _weave(draft: Draft, node: NodeTemplate, sequence: Making) -> None:
    """Put the links of a node's instances at their places in the chains."""
    then = 0
    if sequence.reached_by:
        then = draft.why(f"{node.name} gets its address by its link with {sequence.reached_by}")
    for source in draft.of_node.get(node.name, ()):
        if source.up is not None:
            draft.weave(source.up, then)


def _asked(
    draft: Draft, source: PlannedInstance, relationship: Relationship, pairing: Pairing
) -> list[PlannedInstance]:
    """The instances that a source which stays is to be linked with. A partial plan does not make links of what stays as
    it is, unless the one instance that it was linked with is removed."""
    targets = pairing.wanted(source, relationship)
    if draft.is_left_out(source):
        # What is new about it is left out with it.
        knows = draft.forms.of(source.record).requires(source.template.name, relationship.key)
        return [t for t in targets if t.rises] if knows else []
    if not draft.is_partial or pairing.loses(source, relationship):
        return targets
    return [t for t in targets if t.rises or (t.is_meant and _link_has_failed(draft, source, t, relationship))]


def _once_linked(
    draft: Draft, source: PlannedInstance, targets: list[PlannedInstance], pairs: Pairs, is_lost: bool
) -> list[PlannedInstance]:
    """For a relationship that is no longer in the template, the targets with which the source was linked before: what
    was taken down is linked again, and nothing else."""
    if not is_lost:
        return targets
    key, node = pairs.relationship.key, pairs.relationship.source
    return [target for target in targets if link_id(key, node, source.id, target.id) in draft.snapshot.links]


def _is_of(pairs: Pairs, whole: bool) -> bool:
    """Whether operations of pairs belong to a chain of their source: to the whole of it, or to the part that only
    starts or stops."""
    return whole or pairs.is_link


class _LinkTurns:
    """The order at the target's side: operations of one relationship that run on the same target follow each other in
    the order of the sources, whether or not those before succeed."""

    def __init__(self, draft: Draft, relationship: Relationship) -> None:
        self._draft = draft
        self._last: dict[str, int] = {}
        self._reason = draft.why(f"links of {relationship.key} at one target, in order")

    def take(self, number: int) -> None:
        """Have a step take its turn on the instance on which it runs."""
        step = self._draft.steps[number]
        before = self._last.get(step.instance)
        if before is not None:
            _after(self._draft, before, number, self._reason)
        self._last[step.instance] = number


class _OfTurns:
    """The last step so far for the links between one source and the targets of one turn: such steps follow each other,
    and wait for those of no other turn, which may be held until these are done."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str, int], int] = {}

    def put(self, source: PlannedInstance, target: PlannedInstance, last: int) -> int:
        """Make a step the last one; returns the one before, -1 for none."""
        key = (source.id, target.template.name, target.turn if target.falls else -1)
        before = self._last.get(key, -1)
        self._last[key] = last
        return before


Turns = dict[int, _LinkTurns]
"""By what is done with the pairs of a relationship at one place."""


def _after(draft: Draft, before: int, after: int, reason: int) -> None:
    """Keep only the order: if one step does not need the other, a join between them continues after failures."""
    if not draft.steps[after].after_failure:
        turn = draft.join(f"{draft.steps[after].instance}.turn", reason, after_failure=True)
        draft.edge(before, turn, reason)
        before = turn
    draft.edge(before, after, reason)


def _link(
    draft: Draft, source: PlannedInstance, targets: list[PlannedInstance], pairs: Pairs, turns: _LinkTurns
) -> None:
    chain = _up(source)
    order = draft.why(f"links of {pairs.relationship.key}, in order")
    for target in targets:
        for entry in pairs.entries:
            number = pair_step(draft, source, target, pairs.relationship, entry)
            draft.linked.add(draft.steps[number].link)
            if entry.side is Side.TARGET:
                turns.take(number)
            draft.extend(chain, pairs.place, number, order)


def _link_kept(
    draft: Draft,
    source: PlannedInstance,
    targets: list[PlannedInstance],
    pairs: Pairs,
    turns: _LinkTurns,
    ordered: _OfTurns,
) -> None:
    """Link a source that stays with targets that are new or are created again. If these take turns, the source loses no
    more of them at one time: it is linked with those of one turn before the next begins, and before it is updated
    itself, which comes after all of them."""
    chain = _up(source)
    rolls = any(t.turn for t in targets)
    order = draft.why(f"links of {pairs.relationship.key}, in order")
    up = draft.why(f"{pairs.relationship.target} is up, and linked, before {source.template.name} is linked with it")
    whole = draft.why(f"{source.template.name} is linked")
    for target in targets:
        entries = _unlinked(draft, source, target, pairs)
        if not entries:
            continue
        steps = [_new_pair_step(draft, source, target, pairs.relationship, entry) for entry in entries]
        if target.rises or target.repaired is not None:
            draft.edge(_up(target).end, steps[0], up)
        for one, other in pairwise(steps):
            draft.edge(one, other, order)
        for number, entry in zip(steps, entries, strict=True):
            if entry.side is Side.TARGET:
                turns.take(number)
        if rolls:
            before = ordered.put(source, target, steps[-1])
        else:
            before = chain.steps[-1] if chain.steps else -1
        if before >= 0:
            _after(draft, before, steps[0], order)
        draft.edge(steps[-1], chain.end, whole)
        chain.steps.extend(steps)


def _new_pair_step(
    draft: Draft, source: PlannedInstance, target: PlannedInstance, relationship: Relationship, entry: PairEntry
) -> int:
    """Add an operation of a pair that was not carried out yet. If the target is repaired by a restart or a replacement,
    that links the pair as well."""
    number = pair_step(draft, source, target, relationship, entry, reason=f"a new pair with {target.id}")
    draft.linked.add(draft.steps[number].link)
    if target.repaired is not None:
        step = draft.steps[number]
        step.condition = step.condition or StepCondition.UNLESS_LINKED
    return number


def _unlinked(draft: Draft, source: PlannedInstance, target: PlannedInstance, pairs: Pairs) -> list[PairEntry]:
    """The operations of a pair that were not carried out yet, or all of them if they are wanted in another form: then
    the pair is undone before."""
    relationship = pairs.relationship
    link = draft.snapshot.links.get(link_id(relationship.key, relationship.source, source.id, target.id))
    down = DOWN_UP[target.action].down
    if link is None or down is Down.REMOVE or relationship.key in source.dropped:
        return list(pairs.entries)
    missing: list[PairEntry] = []
    alike: dict[str, Applied] = {}
    for entry in pairs.entries:
        applied = link.applied.get(entry.key)
        if applied is None or (down is Down.STOP and entry.key.rpartition(".")[2] in UNDONE_BY_STOP):
            missing.append(entry)
        elif applied.digest != (digest := draft.calls.all[call_of_pair(draft, source, target, entry)].digest):
            if draft.differences.are_alike(entry.call, applied.digest, draft.forms.of(source.record)):
                alike[entry.key] = Applied(applied.change, digest)
                continue
            draft.redone.add(link.id)
            tell_relinked(draft, source, entry.call, applied.digest)
            return list(pairs.entries)
    if alike:
        _count_alike(draft, source, link.id, alike)
    return missing


def _count_alike(draft: Draft, source: PlannedInstance, link: str, alike: dict[str, Applied]) -> None:
    """Have operations of a pair count as carried out if they do what was done, declared at another place of the
    service."""
    draft.adopted_links.setdefault(link, {}).update(alike)
    draft.linked_alike.add(source.id)
    if source.kind is ChangeKind.UNCHANGED:
        source.kind, source.reason = ChangeKind.ADOPT, source.reason or "what links it does what it did"


def _unlink(draft: Draft, source: PlannedInstance, unlink: tuple[Pairs, ...], turns: Turns, pairing: Pairing) -> None:
    """Undo the pairs of a source that goes down, in its chain down."""
    chain = _down(source)
    first = draft.why("links are undone before the instance stops")
    last = draft.why("what linked it is undone once the instance has stopped")
    only_stops = DOWN_UP[source.action].down is Down.STOP
    for pairs in unlink:
        for target in reversed(pairing.targets(source, pairs.relationship, falls=True)):
            if _stays_linked(draft, source, target) or not was_begun(draft, source, target, pairs):
                continue
            if only_stops and not pairs.is_link and pairs.relationship.key not in source.dropped:
                continue
            for number in _undo(draft, source, target, pairs, turns):
                if only_stops:
                    # What a provider has made passes through other states where it is removed.
                    draft.steps[number].stage = draft.steps[chain.begin].stage
                draft.extend(chain, pairs.place, number, first if pairs.is_link else last)
    draft.weave(chain)


def _undo(
    draft: Draft, source: PlannedInstance, target: PlannedInstance, pairs: Pairs, turns: Turns, reason: str = ""
) -> list[int]:
    steps = [
        pair_step(draft, source, target, pairs.relationship, entry, reason=reason, after_failure=True)
        for entry in pairs.entries
    ]
    may_be_linked = bool(draft.linked_before) and not _was_begun(draft, source, target, pairs)
    for number, entry in zip(steps, pairs.entries, strict=True):
        if may_be_linked:
            draft.steps[number].condition = StepCondition.IF_LINKED
        if entry.side is Side.TARGET:
            turns[id(pairs)].take(number)
    return steps


def _unlink_kept(
    draft: Draft, source: PlannedInstance, unlink: tuple[Pairs, ...], turns: Turns, pairing: Pairing
) -> None:
    """Undo the pairs of a source that does not go down, before their targets do."""
    before = draft.why("links are undone before the target stops")
    order = draft.why("links are undone one after the other")
    ordered = _OfTurns()
    rolls = False
    for _, grouped in groupby(unlink, key=lambda p: p.relationship.key):
        own = list(grouped)
        is_dropped = own[0].relationship.key in source.dropped
        targets = pairing.targets(source, own[0].relationship, falls=True)
        rolls |= any(t.turn for t in targets)
        for target in targets if rolls else reversed(targets):
            is_redone = is_dropped or (bool(draft.redone) and _id(source, target, own[0].relationship) in draft.redone)
            if not target.falls and not is_redone and not _is_left(draft, source, target, own):
                continue
            if (
                target.action is InstanceAction.DROP
                or _stays_linked(draft, target, source)
                or not was_begun(draft, source, target, own[0])
            ):
                continue
            removed = is_dropped or DOWN_UP[target.action].down is Down.REMOVE
            reason = f"a pair with {target.id}, which {_happens(target, is_dropped=is_dropped)}"
            for number in (
                n for p in own if _is_of(p, removed) for n in _undo(draft, source, target, p, turns, reason)
            ):
                # It changes no state of the source, which stays as it is.
                draft.steps[number].stage = None
                earlier = ordered.put(source, target, number) if rolls else source.undone[-1] if source.undone else -1
                if earlier >= 0:
                    draft.edge(earlier, number, order)
                else:
                    source.undone_first.append(number)
                source.undone.append(number)
            if source.undone and target.down is not None:
                draft.edge(source.undone[-1], target.down.begin, before)
    chain = source.up
    if not source.undone or chain is None or not chain.steps:
        return
    if rolls:
        _before_linked_again(draft, source, chain)
    else:
        _after(draft, source.undone[-1], chain.steps[0], draft.why("old links are undone before new ones are made"))


def _before_linked_again(draft: Draft, source: PlannedInstance, chain: Chain) -> None:
    """Have each pair of a source be undone before it is made again, whether or not its other pairs succeed."""
    undone = {draft.steps[number].link: number for number in source.undone}
    again: set[str] = set()
    for number in chain.steps:
        link = draft.steps[number].link
        if link in undone and link not in again:
            again.add(link)
            _after(draft, undone[link], number, draft.why("an old link is undone before it is made again"))


def _happens(target: PlannedInstance, *, is_dropped: bool) -> str:
    if is_dropped:
        return "is not required any more"
    if not target.falls:
        return "is linked otherwise"
    if target.action is InstanceAction.REPLACE:
        return "is replaced"
    return "leaves" if DOWN_UP[target.action].down is Down.REMOVE else "is stopped"


def _id(source: PlannedInstance, target: PlannedInstance, relationship: Relationship) -> str:
    return link_id(relationship.key, relationship.source, source.id, target.id)


def _link_has_failed(
    draft: Draft, source: PlannedInstance, target: PlannedInstance, relationship: Relationship
) -> bool:
    link = draft.snapshot.links.get(link_id(relationship.key, relationship.source, source.id, target.id))
    return link is not None and bool(link.failed)


def _is_left(draft: Draft, source: PlannedInstance, target: PlannedInstance, unlink: list[Pairs]) -> bool:
    """Whether a pair with a stopped end is still to be undone: an operation that does so has failed."""
    if not ((target.is_meant and not target.is_up) or (source.is_meant and not source.is_up)):
        return False
    relationship = unlink[0].relationship
    link = draft.snapshot.links.get(link_id(relationship.key, relationship.source, source.id, target.id))
    return link is not None and any(e.key in link.failed for p in unlink if p.is_link for e in p.entries)


def _stays_linked(draft: Draft, member: PlannedInstance, other: PlannedInstance) -> bool:
    """Whether a pair is not undone, because an instance is healed and the other end, which stays, is not up."""
    is_healed = member.action is InstanceAction.REPLACE or (member.action is InstanceAction.RESTART and draft.heals)
    return is_healed and other.action is InstanceAction.KEEP and not other.is_up


def was_begun(draft: Draft, source: PlannedInstance, target: PlannedInstance, pairs: Pairs) -> bool:
    """Whether an operation that begins a pair was started for it (R-5.8.5-10): one of the pair, or one of its source
    for all pairs that existed then, which says nothing of a target that was created later. Also True if an earlier
    stage of the plan may begin it, which is found out when the pair is to be undone."""
    return _was_begun(draft, source, target, pairs) or _id(source, target, pairs.relationship) in draft.linked_before


def _was_begun(draft: Draft, source: PlannedInstance, target: PlannedInstance, pairs: Pairs) -> bool:
    relationship = pairs.relationship
    if link_id(relationship.key, relationship.source, source.id, target.id) in draft.snapshot.links:
        return True
    return any(_began(source.record, key, target.record, each=pairs.begin_each) for key in pairs.evidence)


def _began(source: Instance, key: str, target: Instance, *, each: bool) -> bool:
    applied = source.applied.get(key)
    change = applied.change if applied is not None else source.failed.get(key)
    return change is not None and not (each and change < target.created)


def pair_step(
    draft: Draft,
    source: PlannedInstance,
    target: PlannedInstance,
    relationship: Relationship,
    entry: PairEntry,
    *,
    reason: str = "",
    after_failure: bool = False,
) -> int:
    """Add an operation of one pair, with its source's ``reason`` unless it has one; returns its number."""
    near, far = (source, target) if entry.side is Side.SOURCE else (target, source)
    link = link_id(relationship.key, relationship.source, source.id, target.id)
    step = DraftStep(
        f"{link}.{entry.key}",
        Action.CALL,
        source.id,
        near.id,
        far.id,
        link,
        call_of_pair(draft, source, target, entry),
        draft.runs_on(entry.where, near.id, far.id, falls=after_failure),
        entry.stage,
        after_failure=after_failure,
        reason=draft.why(reason or source.reason),
    )
    ChainNeeds(draft, source.template).mark(step, relationship, installs=not after_failure)
    draft.linking += 1
    return draft.add(step)


def call_of_pair(draft: Draft, source: PlannedInstance, target: PlannedInstance, entry: PairEntry) -> int:
    """The number of the call of an operation for one pair."""
    # A call of another form is of no slot here: what is undone is not remembered by how it was declared.
    if not draft.calls.is_by_slot(entry.call):
        return entry.call
    return draft.calls.for_instance(entry.call, draft.with_hosts(source), draft.with_hosts(target))


def _up(member: PlannedInstance) -> Chain:
    assert member.up is not None
    return member.up


def _down(member: PlannedInstance) -> Chain:
    assert member.down is not None
    return member.down


def _check_number(draft: Draft, relationship: Relationship, number: int) -> None:
    if number > MOST_PAIRS and not draft.options.allow_large:
        draft.diagnostics.error(
            "too-many-pairs",
            f'requirement "{relationship.requirement}" of node "{relationship.source}" makes {number} link operations,'
            f" and more than {MOST_PAIRS} have to be asked for",
            relationship.span,
            hint="plan fewer instances, or give --allow-large",
        )
