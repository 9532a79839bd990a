"""Transform: a deployment repairs what is known to be broken although everything was carried out, before anything else
that needs it: as healing does it, as far as to make it anew where it is, and never further.

Instances are taken node by node, those first that others require: so each stage is about instances that are no pairs of
each other, and each of them goes as far as it has to by itself.
"""

from __future__ import annotations

from collections.abc import Callable

from ordito.instances.states import ERROR as FAILED
from ordito.instances.states import STARTED
from ordito.instances.status import ERROR, UNKNOWN
from ordito.planning.choose_anew import contained, outermost
from ordito.planning.draft import Draft
from ordito.planning.fates import Fate
from ordito.planning.members import Member
from ordito.planning.widening import Laying, Widening
from ordito.work.plan import Kind

STAYS = frozenset({Fate.KEEP, Fate.NEW, Fate.CONTINUE})
"""The fates of what may be around an instance that is repaired."""


def repairing(laying: Laying) -> Callable[[Draft], None]:
    """The transform that repairs."""

    def repair(draft: Draft) -> None:
        broken = {m.id: m for m in draft.members.values() if _is_broken(draft, m)}
        while apart := [name for name, m in broken.items() if not _stands_alone(draft, m, broken)]:
            for name in apart:
                del broken[name]
        if not broken:
            return
        with draft.aside():
            for node in draft.ordered:
                roots = {m.id: "" for m in broken.values() if m.template.name == node.name}
                for root in roots:
                    host = outermost(draft, root)
                    roots[root] = host if host != root else ""
                if roots:
                    why = f"it is {broken[next(iter(roots))].record.local}"
                    widening = Widening(draft, laying, roots, why, widest=False, reinstalls=False, presumed=broken)
                    widening.lay()
                    for root in roots:
                        broken[root].repaired = widening.begin[root], widening.told[root]
        for member in broken.values():
            member.fate, member.presumed = Fate.KEEP, True

    return repair


def _is_broken(draft: Draft, member: Member) -> bool:
    """Whether an instance is known not to be ok, or nothing is known of it, although all that makes it was carried out
    as it is wanted, and nothing has failed since. Of hosts their provider says how they are."""
    record = member.record
    if (
        member.fate is not Fate.CONTINUE
        or member.template.is_compute
        or draft.options.force
        or draft.is_left_out(member)
    ):
        return False
    if record.local not in (ERROR, UNKNOWN) or record.state not in (STARTED, FAILED) or record.failed:
        return False
    links = (draft.snapshot.links[name] for name in draft.snapshot.links_of(record.id))
    if any(link.failed and link.source == record.id for link in links):
        return False  # It is not up because of what has failed of that.
    as_wanted = member.kind is Kind.UNCHANGED and not (member.adopted or member.dropped)
    made = draft.recipes.making(member.template).install
    is_whole = member.done >= len(made) and any(e.delegated or draft.calls.all[e.call].artifact for e in made)
    return as_wanted and is_whole and draft.forms.of(record) is draft.forms.own


def _stands_alone(draft: Draft, member: Member, broken: dict[str, Member]) -> bool:
    """Whether nothing else is done by the plan to what an instance requires, nor to what requires it or lies on it, but
    that this comes up."""
    node, of_node = member.template, draft.of_node
    required = [m for r in node.requirements if not r.is_hosting for m in of_node.get(r.target, ())]
    if (host := draft.members.get(member.record.host)) is not None:
        required.append(host)
    if any(m.id not in broken and m.fate is not Fate.KEEP for m in required):
        return False
    sources = (r.source for r in draft.service.incoming.get(node.name, ()) if not r.is_hosting)
    above = [m for source in sources for m in of_node.get(source, ())]
    above += [m for name in contained(draft, member.id) if (m := draft.members.get(name)) is not None]
    return all(m.id in broken or m.fate in STAYS for m in above)
