"""The workflow of a single node: what its provider does, or the operations of its own lifecycle, with its links to what
it requires."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ordito.instances.records import link_id
from ordito.planning.chains import in_sequence, set_states
from ordito.planning.draft import Draft
from ordito.planning.links import pair_step, was_begun
from ordito.planning.members import PlannedInstance
from ordito.planning.pairing import Pairing

DEPLOYS, UNDEPLOYS = "deploy", "undeploy"
DELEGATED = {DEPLOYS: DEPLOYS, "install": DEPLOYS, UNDEPLOYS: UNDEPLOYS, "uninstall": UNDEPLOYS}
"""The workflows of single nodes, by their names and by other words for them."""


def deploys(draft: Draft, member: PlannedInstance, *, after_failure: bool, again: bool) -> list[int]:
    """The steps that make an instance and link it, in order: what the record shows as done is not done again, for a
    provider would make the node a second time; all of it where the plan has removed it before (``again``)."""
    record, recipe = member.record, draft.recipes.making(member.template)
    done = record.applied if record.exists and record.created and not again else {}
    entries = tuple(e for e in recipe.install if e.key not in done)
    chain = in_sequence(draft, member, entries, form=draft.forms.own, after_failure=after_failure) if entries else []
    return _finished(draft, chain, list(_links(draft, member, again=again)), pairs_first=False)


def _links(draft: Draft, member: PlannedInstance, *, again: bool) -> Iterator[int]:
    pairing, node = Pairing(draft), member.template.name
    for pairs in draft.recipes.making(member.template).link:
        relationship = pairs.relationship
        for target in pairing.wanted(member, relationship):
            link = draft.snapshot.links.get(link_id(relationship.key, node, member.id, target.id))
            done = link.applied if link is not None and not again else {}
            for entry in pairs.entries:
                if entry.key not in done:
                    yield pair_step(draft, member, target, relationship, entry)


def undeploys(draft: Draft, member: PlannedInstance, *, after_failure: bool) -> list[int]:
    """The steps that undo the links of an instance and remove it, in order."""
    form = draft.falling(member)
    pairing, recipe = Pairing(draft), form.recipes.removing(form.service.nodes[member.template.name])
    undone: list[int] = []
    for pairs in recipe.unlink:
        for target in reversed(pairing.targets(member, pairs.relationship)):
            if was_begun(draft, member, target, pairs):
                undone += [pair_step(draft, member, target, pairs.relationship, e) for e in pairs.entries]
    for number in undone:
        draft.steps[number].after_failure = after_failure
    chain = in_sequence(draft, member, recipe.uninstall, form=form, after_failure=after_failure)
    return _finished(draft, chain, undone, pairs_first=True)


def _finished(draft: Draft, chain: list[int], pairs: list[int], *, pairs_first: bool) -> list[int]:
    """The operations of an instance, which follow each other already, and those of its pairs, with the states that they
    pass through."""
    order = draft.why("the order of the lifecycle")
    numbers = [*pairs, *chain] if pairs_first else [*chain, *pairs]
    own = set(chain)
    for before, after in pairwise(numbers):
        if before not in own or after not in own:
            draft.edge(before, after, order)
    steps = [draft.steps[number] for number in numbers]
    if steps:
        steps[0].opens, steps[-1].closes = True, True
        set_states(steps)
    return numbers
