"""Transform: a deployment repairs what is known to be broken although everything was carried out, before anything else
that needs it: as healing does, up to replacing it on its host, and never further.

With ``--check`` it also checks what is to stay as it is, and repairs what it finds not to be ok. Instances are repaired
node by node, those first that others require: so each stage is about instances that are no pairs of each other, and
each goes only as far as it has to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum

from ordito.base.text import listed
from ordito.instances.hosting import chain
from ordito.instances.states import ERROR as FAILED
from ordito.instances.states import STARTED
from ordito.instances.status import ERROR, UNKNOWN
from ordito.planning.draft import Draft
from ordito.planning.planned_instances import DraftStep, InstanceAction, PlannedInstance
from ordito.planning.probes import can_be_looked_at, probe
from ordito.planning.repair_first import make_optional
from ordito.planning.widening import HEALED, AskedHosts, Laying, Widening
from ordito.work.plan import Action, ChangeKind, StepCondition
from ordito.work.probes import CHECK, maintaining

STAYS = frozenset({InstanceAction.KEEP, InstanceAction.NEW, InstanceAction.CONTINUE})
"""The actions of instances that may be around a repaired one."""


def repairing(laying: Laying) -> Callable[[Draft], None]:
    """The transform that repairs."""

    def repair(draft: Draft) -> None:
        around = _Around(draft)
        broken = _standing_alone(draft, {m.id: m for m in draft.members.values() if _is_broken(draft, m)}, around)
        why = {name: f"it is {member.record.local}" for name, member in broken.items()}
        asked = _asked(draft, broken, around) if draft.options.changes.checks else {}
        hosts = [member for member in asked.values() if member.template.is_compute]
        for name, member in asked.items():
            if not member.template.is_compute:
                broken[name], why[name] = member, "it is checked first"
        looks = AskedHosts({}, {})
        if broken:
            with draft.aside():
                _widen(draft, laying, broken, why, looks)
        for member in broken.values():
            member.action, member.presumed = InstanceAction.KEEP, True
        _ask_hosts(draft, hosts, looks)

    return repair


def _widen(
    draft: Draft, laying: Laying, broken: Mapping[str, PlannedInstance], why: Mapping[str, str], looks: AskedHosts
) -> None:
    """Lay the stages of everything that is repaired, node by node."""
    by_node: dict[str, list[str]] = {}
    for name, member in broken.items():
        by_node.setdefault(member.template.name, []).append(name)
    for node in draft.ordered:
        roots = dict.fromkeys(by_node.get(node.name, ()), "")
        for root in roots:
            host = draft.replaceable_host(root)
            roots[root] = host if host != root else ""
        if roots:
            widening = Widening(draft, laying, roots, why, widest=False, presumed=broken, hosts=looks)
            widening.lay()
            for root in roots:
                broken[root].repaired = widening.begin[root], widening.told[root]


class _Around:
    """What the plan does around instances that may be repaired: the nodes of which something is changed or removed, and
    the instances that are, or contain, something of the kind. What is created or continued only comes up."""

    def __init__(self, draft: Draft) -> None:
        self._nodes: set[str] = set()
        self._over: set[str] = set()
        for member in draft.members.values():
            if member.action in STAYS:
                continue
            self._nodes.add(member.template.name)
            for above in chain(draft.snapshot, member.id):
                if above.id in self._over:
                    break
                self._over.add(above.id)

    def comes_up(self, draft: Draft, member: PlannedInstance) -> bool:
        """Whether everything that requires an instance or is hosted on it stays, or comes up."""
        sources = draft.service.incoming.get(member.template.name, ())
        return member.id not in self._over and not any(r.source in self._nodes for r in sources if not r.is_hosting)


def _changing(draft: Draft, broken: Mapping[str, PlannedInstance]) -> set[str]:
    """The nodes of which the plan changes anything besides what is repaired."""
    return {
        m.template.name for m in draft.members.values() if m.action is not InstanceAction.KEEP and m.id not in broken
    }


def _standing_alone(draft: Draft, broken: dict[str, PlannedInstance], around: _Around) -> dict[str, PlannedInstance]:
    """Those of the broken instances around which the plan does nothing to what they require, and only brings up what
    requires them or is hosted on them. A broken instance that is not among these changes what requires it."""
    changing = _changing(draft, broken)
    hosted: dict[str, list[PlannedInstance]] = {}
    of_node: dict[str, list[PlannedInstance]] = {}
    for member in broken.values():
        hosted.setdefault(member.record.host, []).append(member)
        of_node.setdefault(member.template.name, []).append(member)
    members, found = draft.members, dict(broken)
    waiting = [m for m in broken.values() if not around.comes_up(draft, m)]
    waiting += [
        m
        for name, beside in hosted.items()
        if (host := members.get(name)) is not None and name not in broken and host.action is not InstanceAction.KEEP
        for m in beside
    ]
    for name in changing:
        waiting += _requiring(draft, name, of_node)
    for member in waiting:  # grows while it is read
        if found.pop(member.id, None) is None:
            continue
        waiting += hosted.get(member.id, ())
        if member.template.name not in changing:
            changing.add(member.template.name)
            waiting += _requiring(draft, member.template.name, of_node)
    return found


def _requiring(draft: Draft, node: str, of_node: Mapping[str, list[PlannedInstance]]) -> Iterator[PlannedInstance]:
    """The broken instances that require a node, and are not hosted on it."""
    sources = {r.source for r in draft.service.incoming.get(node, ()) if not r.is_hosting}
    return (member for source in sources for member in of_node.get(source, ()))


def _asked(draft: Draft, broken: Mapping[str, PlannedInstance], around: _Around) -> dict[str, PlannedInstance]:
    """The instances that are up, stay as they are, and can be checked; for the others the reason is noted why they are
    not checked."""
    changing = _changing(draft, broken)
    found: dict[str, PlannedInstance] = {}
    for member in draft.members.values():
        node, record = member.template, member.record
        stays = (
            member.action is InstanceAction.KEEP
            and record.state == STARTED
            and node.name not in draft.options.orphans.nodes
        )
        if not stays or member.id in broken or draft.is_left_out(member):
            continue
        host = draft.host_of(member)
        if maintaining(node, CHECK) is None and not can_be_looked_at(draft, member):
            _say_unasked(draft, member, NO_CHECK)
        elif (
            member.kind is not ChangeKind.UNCHANGED
            or any(r.target in changing for r in node.requirements if not r.is_hosting)
            or (host is not None and host.id not in broken and host.action is not InstanceAction.KEEP)
            or not around.comes_up(draft, member)
        ):
            _say_unasked(draft, member, CHANGES_AROUND)
        else:
            found[member.id] = member
    return found


NO_CHECK = "not checked: nothing tells how it is"
CHANGES_AROUND = "not checked: this plan changes it, what it requires, or what requires it"


def _say_unasked(draft: Draft, member: PlannedInstance, reason: str) -> None:
    draft.kept.append(PlannedInstance(member.record, member.template, InstanceAction.KEEP, reason))


def _ask_hosts(draft: Draft, hosts: Iterable[PlannedInstance], looks: AskedHosts) -> None:
    """Check the hosts that nothing has checked yet. None is replaced: if one is not ok, that has failed, and nothing is
    done that needs it."""
    reason = draft.why("whether it is ok in the end")
    for host in hosts:
        number = looks.fit.get(host.id)
        if number is None:
            number = probe(draft, host, CHECK, "it is checked first")
            assert number is not None
            make_optional(draft.steps[number])
        call = draft.calls.nothing(host.template, "ordito", HEALED)
        step = DraftStep(f"{host.id}.ordito.{HEALED}", Action.CALL, host.id, host.id, call=call, reason=reason)
        step.condition = StepCondition.IF_HEALED
        told = draft.add(step)
        draft.edge(number, told, reason)
        host.repaired = number, told


def _is_broken(draft: Draft, member: PlannedInstance) -> bool:
    """Whether the status of an instance is not ok, or unknown, although everything that creates it was carried out as
    it is wanted, and none of that has failed."""
    record = member.record
    if member.action is not InstanceAction.CONTINUE or draft.options.force or draft.is_left_out(member):
        return False
    if record.local not in (ERROR, UNKNOWN) or record.state not in (STARTED, FAILED):
        return False
    made = draft.sequences.making(member.template).install
    if any(entry.key in record.failed for entry in made):
        return False  # It is gone on with. What has failed to look after it, or to stop it, is nothing that is to come.
    return member.done >= len(made) and not _hindrance(draft, member)


class Hindrance(StrEnum):
    """Why a deployment does not repair an instance that is not ok although everything was carried out."""

    HOST = "its provider says how it is"
    LINKS = "a link of it has failed"
    CHANGED = "it is to be recorded in another way"
    NOTHING = "nothing is run to make it"
    FORM = "it is in another form than is wanted"
    AROUND = "this plan changes it, what it requires, or what requires it"
    BACK = "going back repairs nothing"


def _hindrance(draft: Draft, member: PlannedInstance) -> Hindrance | None:
    """Why an instance is not repaired, for reasons of its own."""
    record = member.record
    links = (draft.snapshot.links[name] for name in draft.snapshot.links_of(record.id))
    made = draft.sequences.making(member.template).install
    if member.template.is_compute:
        return Hindrance.HOST
    if any(link.failed and link.source == record.id for link in links):
        return Hindrance.LINKS  # It is not up because of what has failed of that.
    if member.kind is not ChangeKind.UNCHANGED or member.adopted or member.dropped:
        return Hindrance.CHANGED
    if not any(e.delegated or draft.calls.all[e.call].artifact for e in made):
        return Hindrance.NOTHING
    return Hindrance.FORM if draft.forms.of(record) is not draft.forms.own else None


def say_unrepaired(draft: Draft) -> None:
    """Transform: warn of what is not ok and not repaired although nothing is left to be carried out, so that the job
    fails unless it is found to be ok."""
    found: dict[tuple[str, Hindrance], list[PlannedInstance]] = {}
    for member in draft.members.values():
        if member.action is not InstanceAction.CONTINUE or member.up is None:
            continue
        last = draft.steps[member.up.end]
        if last.condition is StepCondition.IF_REPAIRED and not last.done:
            going_back = Hindrance.BACK if draft.workflow.goes_back else None
            why = going_back or _hindrance(draft, member) or Hindrance.AROUND
            found.setdefault((member.template.name, why), []).append(member)
    for (_, why), members in found.items():
        names = [member.id for member in members]
        are = "is" if len(names) == 1 else "are"
        # Plans show no hints, so that the command is a part of what is said.
        draft.diagnostics.warning(
            "not-repaired",
            f"{listed(names, MOST_NAMED)} {are} not ok, and not repaired by this ({why}): it fails there unless a check"
            f" says ok; repair it first: `ordito heal {' '.join(names[:MOST_NAMED])}`",
            members[0].template.span,
        )


MOST_NAMED = 8
