"""Planning `heal`: it checks, repairs and restarts instances, and replaces those that this does not help."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import msgspec

from ordito.app.data_at_stake import may_be_lost, risked
from ordito.app.errors import Refused
from ordito.app.job.report import HealedInstance, HealedReport
from ordito.app.names import InstanceNames
from ordito.app.place import place_of
from ordito.app.proposal import PlanningContext, Proposal, known_of
from ordito.app.proposals.making import for_deployed, make_plan, read_deployed
from ordito.app.proposals.move import nothing_deployed
from ordito.app.requests import INSTANCE, HealRequest, recorded_command, words_of_losing
from ordito.base.collector import paused_collector
from ordito.base.text import listed
from ordito.ensemble.store import read_ensemble
from ordito.instances.dependencies import targets_first
from ordito.instances.hosting import chain, replaceable_host
from ordito.instances.records import Instance, Snapshot, StatusReason
from ordito.instances.status import ERROR, OPERATIONAL, UNKNOWN
from ordito.model.service import Service
from ordito.planning.options import DataLoss, Healing, PlanOptions
from ordito.planning.repair_first import KNOWN, WHETHER
from ordito.work.options import AUTO, WHOLE_HOST
from ordito.work.plan import Action, ChangeCause, Plan
from ordito.work.probes import CHECK, HEAL, maintaining

MOST_NAMED = 12
NOT_NEEDED, REPAIRED, RESTARTED, REPLACED, FAILED = "not needed", "repaired", "restarted", "replaced", "failed"
UNLINKED, TAKEN = "not linked", "taken for ok"
NOT_OK = frozenset({ERROR, UNKNOWN})
REQUIRED_FIRST = "required-first"
"""The code of the refusal to heal an instance that cannot be ok before something else is."""
NOTHING_HEALS = "nothing-heals"
"""The code of the refusal to heal instances without any operation."""


def propose(request: HealRequest, known: PlanningContext) -> Proposal:
    """The plan. Raises ``InvalidDocument``, ``PlanRefused``, ``Refused`` and ``EnsembleError``."""
    status = known.status
    if not status.service:
        raise nothing_deployed(request.workflow)
    chosen: dict[str, Instance] = {}
    allowed: frozenset[str] = frozenset()
    with paused_collector():
        read = read_deployed(known)

        def choose(service: Service, options: PlanOptions) -> PlanOptions:
            nonlocal allowed
            chosen.update(_chosen(request, service, known.snapshot))
            if not request.reinstall:
                _refuse_in_vain(request, service, known.snapshot, chosen)
            allowed = may_be_lost(request.may_lose, service, known.snapshot)
            return replace(
                options,
                instances=frozenset(chosen),
                healing=Healing(request.reinstall, request.scope),
                data_loss=DataLoss(allowed),
            )

        made = make_plan(known, request.workflow, read, status.inputs, choose=choose)
    _refuse_nothing(made.plan, chosen)
    risks = risked(made.plan, known.snapshot, named=chosen, allowed=allowed)
    unapproved = () if request.allow_changed else made.plan.summary.drifted
    proposal = for_deployed(known, request.workflow, read, made)
    told = recorded_command(msgspec.structs.replace(request, names=tuple(chosen)))
    return msgspec.structs.replace(proposal, risks=risks, unapproved=unapproved).with_job(told=told)


def runs_nothing(plan: Plan) -> bool:
    """Whether a plan has no operation that is implemented, and nothing that a provider does."""
    return not any(s.action is Action.DELEGATE or (s.call >= 0 and plan.calls[s.call].artifact) for s in plan.steps)


def to_heal(proposal: Proposal) -> tuple[str, ...]:
    """The ids of the instances that a plan is to heal."""
    plan = proposal.plan
    asked = [s.instance for s in plan.steps if s.action is Action.FILTER and plan.calls[s.call].operation == WHETHER]
    asked += [c.instance for c in plan.changes if c.cause is ChangeCause.TO_HEAL]
    return tuple(dict.fromkeys(asked))


def not_known(proposal: Proposal) -> Mapping[str, str]:
    """The instances that were to be healed and were left alone, each with the host (or itself) whose status could not
    be found out."""
    plan, instances = proposal.plan, proposal.snapshot.instances
    looked = [s.instance for s in plan.steps if s.action is Action.FILTER and plan.calls[s.call].operation == KNOWN]
    unanswered = StatusReason.UNANSWERED
    unknown = next((i for i in looked if instances[i].status_reason is unanswered), "")
    found = {i: i if instances[i].status_reason is unanswered else unknown for i in to_heal(proposal)}
    return {instance: host for instance, host in found.items() if host}


def still_missed(proposal: Proposal, hosts: Collection[str]) -> tuple[str, ...]:
    """The instances that are recorded on these hosts and do not exist: they must still be created again."""
    snapshot = proposal.snapshot
    missed = (record for record in snapshot.instances.values() if record.is_missed) if hosts else ()
    return tuple(r.id for r in missed if any(host.id in hosts for host in chain(snapshot, r.host)))


def failed_links(proposal: Proposal, instance: str) -> tuple[str, ...]:
    """The instances to which an instance is not linked because an operation of the pair has failed."""
    snapshot = proposal.snapshot
    links = (snapshot.links[name] for name in snapshot.links_of(instance))
    return tuple(dict.fromkeys(link.target for link in links if link.source == instance and link.failed))


def one_by_one(request: HealRequest, service: Service, snapshot: Snapshot) -> tuple[HealRequest, ...]:
    """The wanted instances as separate requests, in the order of their requirements, because some may turn out not to
    need healing. Whole hosts are healed host by host, or all at once if they are replaced without a check."""
    names = InstanceNames(service, snapshot, deleted=True)
    records = {record.id: record for text in request.names for record in _named(names, text)}
    whole = request.scope == WHOLE_HOST
    if request.reinstall and whole:
        return (request,)
    if not request.reinstall:
        _refuse_in_vain(request, service, snapshot, records)
    groups: dict[str, dict[str, None]] = {}
    places = {node.name: place for place, node in enumerate(targets_first(service))}
    for record in sorted(records.values(), key=lambda r: places.get(r.node, len(places))):
        group = replaceable_host(service, snapshot, record) if whole else record.id
        groups.setdefault(group, {})[record.id] = None
    replace_names = msgspec.structs.replace
    return tuple(
        replace_names(request, names=tuple(f"{INSTANCE}{name}" for name in found)) for found in groups.values()
    )


def _chosen(request: HealRequest, service: Service, snapshot: Snapshot) -> Mapping[str, Instance]:
    names = InstanceNames(service, snapshot, deleted=True)
    chosen = {record.id: record for text in request.names for record in _named(names, text)}
    whole = request.scope == WHOLE_HOST
    for record in chosen.values():
        if not record.exists and not record.is_missed:
            raise Refused(
                "not-deployed",
                f"{record.id} does not exist: it was {'scaled in' if record.was_scaled_in else 'removed'}",
                next_words=("deploy",),
                purpose="make what the service describes",
            )
        is_replaced = request.reinstall or (whole and not _can_be_repaired(service, record))
        if record.is_unmanaged and is_replaced:
            raise Refused(
                "kept",
                f"{record.id} was not created by this ensemble, and is not replaced by it",
                "a check or heal of the interface type ordito.interfaces.Maintain could repair it in place",
            )
    places = {replaceable_host(service, snapshot, record) if whole else record.id for record in chosen.values()}
    if len(places) > 1 and not (whole and request.reinstall):
        raise Refused(
            "one-by-one",
            f"{listed(list(chosen), MOST_NAMED)} cannot be healed in one job, because each is checked separately for"
            " how far healing has to go",
            "heal one after the other, as `ordito heal` does by itself where several are named",
        )
    return chosen


def _refuse_nothing(plan: Plan, chosen: Mapping[str, Instance]) -> None:
    """Raise ``Refused`` if instances count as ok and nothing would be run. For instances that are not ok it is allowed:
    that is how to declare them ok again."""
    if not runs_nothing(plan) or not all(record.local in OPERATIONAL for record in chosen.values()):
        return
    names = [*chosen]
    raise Refused(
        "nothing-heals",
        f"nothing can heal or check {listed(names, MOST_NAMED)}: no operation of it is implemented",
        "an operation check of the interface type ordito.interfaces.Maintain says how it is, and its operations heal,"
        " stop and start repair it",
        next_words=("describe", names[0]),
        purpose="see what is known of it",
    )


def _refuse_in_vain(request: HealRequest, service: Service, snapshot: Snapshot, chosen: Mapping[str, Instance]) -> None:
    """Raise ``Refused`` for instances that cannot be ok before something that they require is: they would be stopped
    and replaced in vain."""
    places = [replaceable_host(service, snapshot, record) for record in chosen.values()]
    # What lies on a host that is replaced is replaced as well.
    taken = {i for i in places if request.scope == WHOLE_HOST or snapshot.instances[i].local not in OPERATIONAL}
    found = [
        record
        for record in _required_not_ok(service, snapshot, chosen)
        if not _lies_on(record, chosen, snapshot) and replaceable_host(service, snapshot, record) not in taken
    ]
    if not found:
        return
    order = {node.name: place for place, node in enumerate(targets_first(service))}
    found.sort(key=lambda record: order.get(record.node, len(order)))
    shown = found[:MOST_NAMED]
    said = listed([f"{record.id} ({record.local})" for record in found], MOST_NAMED)
    options = ["--scope", request.scope] if request.scope != AUTO else []
    raise Refused(
        "required-first",
        f"{listed([*chosen], MOST_NAMED)} cannot be healed before what it requires is ok: {said}",
        "heal that first; --reinstall replaces what is named without that",
        next_words=("heal", *(record.id for record in shown), *chosen, *options, *words_of_losing(request.may_lose)),
        purpose="heal what is required first, then this",
    )


def _lies_on(record: Instance, chosen: Collection[str], snapshot: Snapshot) -> bool:
    """Whether an instance is one of the chosen ones, or is hosted on one and replaced with it."""
    return any(above.id in chosen for above in chain(snapshot, record.id))


def _required_not_ok(service: Service, snapshot: Snapshot, chosen: Mapping[str, Instance]) -> list[Instance]:
    """The instances that are known not to be ok and that these need, by all requirements up to the Computes, which
    healing checks itself. Of a node with several instances one that is ok is enough."""
    found: dict[str, Instance] = {}
    seen: set[str] = set()
    waiting: list[str] = []

    def require(node: str, records: list[Instance]) -> None:
        template = service.nodes.get(node)
        if template is None or template.is_compute or template.settings.is_optional:
            return
        if node not in seen:
            seen.add(node)
            waiting.append(node)
        if not any(record.local in OPERATIONAL for record in records):
            found.update({r.id: r for r in records if r.local in NOT_OK or r.is_missed})

    for record in chosen.values():
        template = service.nodes.get(record.node)
        for requirement in template.requirements if template is not None else ():
            host = snapshot.instances.get(record.host) if requirement.is_hosting else None
            require(requirement.target, [host] if host is not None else snapshot.records_of(requirement.target))
    while waiting:
        for requirement in service.nodes[waiting.pop()].requirements:
            if requirement.target not in seen:
                require(requirement.target, snapshot.records_of(requirement.target))
    return list(found.values())


def _named(names: InstanceNames, text: str) -> list[Instance]:
    """The instance that a text names."""
    found = [record for record in names.instances((text,)) if not record.was_scaled_in]
    if len(found) > 1:
        raise Refused(
            "several-instances",
            f'"{text}" has several instances',
            f"name one: {listed([record.id for record in found], MOST_NAMED)}",
        )
    if not found:
        raise Refused("not-deployed", f'"{text}" has no instances', next_words=("deploy",), purpose="make them")
    return found


def _can_be_repaired(service: Service, record: Instance) -> bool:
    """Whether an instance has an operation that checks it or repairs it in place."""
    template = service.nodes.get(record.node)
    if template is None:
        return False
    return record.exists and any(maintaining(template, name) is not None for name in (CHECK, HEAL))


# Healing several instances: a job for each, since each is asked for itself how far healing has to go.


def healings(
    directory: str, request: HealRequest, environment: str | None, hosts: str | None = None
) -> tuple[HealRequest, ...]:
    """The healing requests of a command, one after the other, or host by host; all at once if nobody is asked. Raises
    ``InvalidDocument``, ``Refused`` and ``EnsembleError``."""
    place = place_of(directory)
    if len(request.names) < 2 or not place.layout.exists:
        return (request,)
    with read_ensemble(directory) as ensemble:
        known = known_of(place, ensemble.snapshot, ensemble.status, environment, hosts)
        if not known.status.service:
            return (request,)
        return one_by_one(request, read_deployed(known).service, known.snapshot)


# ------------------------------------------------------------------------------------------------------ what came of it


def healed_report(proposal: Proposal, job: str) -> HealedReport:
    """What the job of a proposal has come to, by the records as they are when it has ended."""
    records, nodes = proposal.snapshot.instances, proposal.source.whole.service.nodes
    anew = TAKEN if runs_nothing(proposal.plan) else REPLACED
    unknown, names, found = not_known(proposal), to_heal(proposal), {}
    for name in names:
        record = records[name]
        healing = FAILED if name in unknown else _came_to(record, job, anew)
        unlinked = failed_links(proposal, name) if healing != FAILED else ()
        healing = UNLINKED if unlinked else healing
        found[name] = HealedInstance(healing, record.local, record.state, unknown.get(name, ""), unlinked)
    # Where a relationship has failed, the instance alone may not have needed anything.
    whole = [name for name, one in found.items() if _came_to_itself(records[name], job, anew, one) == NOT_NEEDED]
    return HealedReport(
        found,
        still_missed(proposal, whole),
        any(nodes[records[name].node].keeps_data for name in names if records[name].node in nodes),
    )


def _came_to_itself(record: Instance, job: str, anew: str, found: HealedInstance) -> str:
    return _came_to(record, job, anew) if found.unlinked else found.healing


def _came_to(record: Instance, job: str, anew: str) -> str:
    """What the job has done with an instance; ``anew`` is the word if it was replaced."""
    if record.local not in OPERATIONAL:
        return FAILED
    if record.created >= job:
        return anew
    done = {key.rpartition(".")[2] for key, one in record.applied.items() if one.change >= job}
    return RESTARTED if "start" in done else REPAIRED if HEAL in done else NOT_NEEDED
