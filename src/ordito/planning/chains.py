"""Transform: the chain of every instance: the operations that make it, or that remove it, one after the other."""

from __future__ import annotations

from ordito.instances.states import DELETED
from ordito.model.service import Relationship
from ordito.planning.draft import Chain, Draft, DraftStep, Fate, Member
from ordito.planning.lifecycle import Side, Stage
from ordito.planning.needs import Needs
from ordito.planning.recipes import Entry, Where
from ordito.work.plan import Action


def install_chains(draft: Draft) -> None:
    """The operations of every instance that is made or continued. One that stays gets a join in their place, at which
    others can wait for it."""
    kept = draft.why("stays as it is")
    for node in draft.ordered:
        entries = draft.recipes.making(node).install
        for member in draft.of_node.get(node.name, ()):
            if member.fate is Fate.KEEP:
                member.chain = Chain([draft.join(member.id, kept)])
                member.chain.steps = []
            elif not member.goes:
                member.chain = Chain(in_sequence(draft, member, entries, tolerant=False))


def uninstall_chains(draft: Draft) -> None:
    """The operations of every instance that leaves; they go on past failures."""
    for node in draft.ordered:
        recipe = draft.recipes.removing(node)
        for member in draft.of_node.get(node.name, ()):
            if member.fate is Fate.LEAVE:
                member.chain = Chain(in_sequence(draft, member, recipe.uninstall, tolerant=True))
            elif member.fate is Fate.DROP:
                member.chain = Chain([_drop(draft, member, recipe.drop)])


def in_sequence(draft: Draft, member: Member, entries: tuple[Entry, ...], *, tolerant: bool) -> list[int]:
    """The steps of operations on an instance, one after the other; gives their numbers."""
    reason = draft.why(member.reason)
    identity, calls, needs = member.record.id, draft.calls, Needs(draft, member.template)
    own = draft.with_hosts(member) if calls.differ_by_slot else ()
    places: dict[Where, str] = {}
    steps: list[DraftStep] = []
    for entry in entries:
        far, where = "", entry.where
        if entry.relationship is not None:
            far = _first_far(draft, member, entry.relationship, entry.side)
        if far or where not in places:
            places[where] = draft.runs_on(where, identity, far)
        step = DraftStep(
            f"{identity}.{entry.name}",
            Action.DELEGATE if entry.delegated else Action.CALL,
            identity,
            identity,
            far,
            "",
            calls.for_instance(entry.call, own) if own else entry.call,
            places[where],
            entry.stage,
        )
        step.tolerant, step.reason = tolerant, reason
        if needs.are_said or entry.relationship is not None:
            needs.mark(step, entry.relationship, installs=not tolerant)
        steps.append(step)
    return draft.sequence(steps, draft.why("the order of the lifecycle"))


def _drop(draft: Draft, member: Member, call: int) -> int:
    name = draft.calls.all[call].name
    step = DraftStep(f"{member.id}.{name}", Action.CALL, member.id, member.id, call=call, stage=Stage("", DELETED))
    step.tolerant = True
    step.reason = draft.why(member.reason)
    return draft.add(step)


def _first_far(draft: Draft, member: Member, relationship: Relationship, side: Side) -> str:
    """The far instance of an operation that runs once for all of them: its own host or the first it hosts, else the
    first of the node."""
    if relationship.is_hosting:
        return member.record.host if side is Side.SOURCE else draft.first_hosted(relationship.source, member.id)
    far = relationship.target if side is Side.SOURCE else relationship.source
    return next((other.id for other in draft.of_node.get(far, ()) if not other.goes), "")
