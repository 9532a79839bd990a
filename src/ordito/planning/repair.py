"""Transform: a deployment repairs what is known to be broken although everything was carried out, before anything else
that needs it: as healing does it, as far as to make it anew where it is, and never further. Where it is to check, it
asks what is to stay as it is as well, and repairs what it finds not to be ok.

Instances are taken node by node, those first that others require: so each stage is about instances that are no pairs of
each other, and each of them goes as far as it has to by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ordito.instances.states import ERROR as FAILED
from ordito.instances.states import STARTED
from ordito.instances.status import ERROR, UNKNOWN
from ordito.planning.choose_anew import contained, outermost
from ordito.planning.draft import Draft
from ordito.planning.fates import Fate
from ordito.planning.members import DraftStep, Member
from ordito.planning.mend_first import can_do_without
from ordito.planning.probes import can_be_looked_at, probe
from ordito.planning.widening import HEALED, AskedHosts, Laying, Widening
from ordito.work.plan import Action, Condition, Kind
from ordito.work.probes import CHECK, maintaining

STAYS = frozenset({Fate.KEEP, Fate.NEW, Fate.CONTINUE})
"""The fates of what may be around an instance that is repaired."""


def repairing(laying: Laying) -> Callable[[Draft], None]:
    """The transform that repairs."""

    def repair(draft: Draft) -> None:
        broken = {m.id: m for m in draft.members.values() if _is_broken(draft, m)}
        while apart := [name for name, m in broken.items() if not _stands_alone(draft, m, broken)]:
            for name in apart:
                del broken[name]
        why = {name: f"it is {member.record.local}" for name, member in broken.items()}
        asked = _asked(draft, broken) if draft.options.upgrading.checks else {}
        hosts = [member for member in asked.values() if member.template.is_compute]
        for name, member in asked.items():
            if not member.template.is_compute:
                broken[name], why[name] = member, "it is checked first"
        looks = AskedHosts({}, {})
        if broken:
            with draft.aside():
                _widen(draft, laying, broken, why, looks)
        for member in broken.values():
            member.fate, member.presumed = Fate.KEEP, True
        _ask_hosts(draft, hosts, looks)

    return repair


def _widen(
    draft: Draft, laying: Laying, broken: Mapping[str, Member], why: Mapping[str, str], looks: AskedHosts
) -> None:
    """Lay the stages of all that is repaired, node by node."""
    by_node: dict[str, list[str]] = {}
    for name, member in broken.items():
        by_node.setdefault(member.template.name, []).append(name)
    for node in draft.ordered:
        roots = dict.fromkeys(by_node.get(node.name, ()), "")
        for root in roots:
            host = outermost(draft, root)
            roots[root] = host if host != root else ""
        if roots:
            widening = Widening(draft, laying, roots, why, widest=False, presumed=broken, hosts=looks)
            widening.lay()
            for root in roots:
                broken[root].repaired = widening.begin[root], widening.told[root]


def _asked(draft: Draft, broken: Mapping[str, Member]) -> dict[str, Member]:
    """The instances that are up, and stay as they are, and can be asked whether they are ok; of the others it is said
    why they are not asked."""
    quiet = {
        name: all(m.id in broken or m.fate is Fate.KEEP for m in members) for name, members in draft.of_node.items()
    }
    calm = {name: all(m.id in broken or m.fate in STAYS for m in members) for name, members in draft.of_node.items()}
    found: dict[str, Member] = {}
    for member in draft.members.values():
        node, record = member.template, member.record
        stays = member.fate is Fate.KEEP and record.state == STARTED and node.name not in draft.options.left_behind
        if not stays or member.id in broken or draft.is_left_out(member):
            continue
        host = draft.members.get(record.host)
        above = [m for name in contained(draft, member.id) if (m := draft.members.get(name)) is not None]
        if maintaining(node, CHECK) is None and not can_be_looked_at(draft, member):
            _say_unasked(draft, member, NO_CHECK)
        elif (
            member.kind is not Kind.UNCHANGED
            or not all(quiet.get(r.target, True) for r in node.requirements if not r.is_hosting)
            or not all(calm.get(r.source, True) for r in draft.service.incoming.get(node.name, ()) if not r.is_hosting)
            or (host is not None and host.id not in broken and host.fate is not Fate.KEEP)
            or not all(m.id in broken or m.fate in STAYS for m in above)
        ):
            _say_unasked(draft, member, CHANGES_AROUND)
        else:
            found[member.id] = member
    return found


NO_CHECK = "not checked: nothing tells how it is"
CHANGES_AROUND = "not checked: this plan changes it, what it requires, or what requires it"


def _say_unasked(draft: Draft, member: Member, reason: str) -> None:
    draft.kept.append(Member(member.record, member.template, Fate.KEEP, reason))


def _ask_hosts(draft: Draft, hosts: Iterable[Member], looks: AskedHosts) -> None:
    """Ask hosts how they are that nobody has asked yet. None is made anew: where one is not ok that has failed, and
    nothing is done that needs it."""
    reason = draft.why("whether it is ok in the end")
    for host in hosts:
        number = looks.fit.get(host.id)
        if number is None:
            number = probe(draft, host, CHECK, "it is checked first")
            assert number is not None
            can_do_without(draft.steps[number])
        call = draft.calls.nothing(host.template, "ordito", HEALED)
        step = DraftStep(f"{host.id}.ordito.{HEALED}", Action.CALL, host.id, host.id, call=call, reason=reason)
        step.condition = Condition.IF_HEALED
        told = draft.add(step)
        draft.edge(number, told, reason)
        host.repaired = number, told


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
