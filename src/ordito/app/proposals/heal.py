"""What healing would do: checks, mends, and makes anew what neither helps."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import ClassVar

from ordito.app.errors import Refused
from ordito.app.names import INSTANCE, Names
from ordito.app.proposal import KeptAsItIs, Known, Proposal
from ordito.app.proposals.making import for_deployed, make_plan, read_deployed
from ordito.app.proposals.move import nothing_deployed
from ordito.base.collector import paused_collector
from ordito.base.listing import listed
from ordito.instances.records import CANNOT_BE_ASKED, Instance, Snapshot
from ordito.model.service import Service
from ordito.planning.choose_anew import TO_HEAL
from ordito.planning.mend_first import KNOWN, WHETHER
from ordito.planning.options import PlanOptions
from ordito.work.plan import Action
from ordito.work.probes import CHECK, HEAL, maintaining

MOST_NAMED = 12


class HealAsked(KeptAsItIs, frozen=True):
    """To heal the instances that ``names`` mean: instances, and nodes that have one; with ``reinstall`` they are made
    anew without being checked or mended first. The service is the one that was deployed last."""

    workflow: ClassVar[str] = "heal"
    makes_ensemble: ClassVar[bool] = False

    names: tuple[str, ...]
    reinstall: bool = False

    def propose(self, known: Known) -> Proposal:
        """The plan. Raises ``InvalidDocument``, ``PlanRefused``, ``Refused`` and ``EnsembleError``."""
        status = known.status
        if not status.service:
            raise nothing_deployed(self.workflow)
        with paused_collector():
            read = read_deployed(known)

            def choose(service: Service, options: PlanOptions) -> PlanOptions:
                chosen = _chosen(self, service, known.snapshot)
                return replace(options, instances=frozenset(chosen), reinstall=self.reinstall)

            made = make_plan(known, self.workflow, read, status.inputs, choose=choose)
        return for_deployed(known, self.workflow, read, made)


def to_heal(proposal: Proposal) -> tuple[str, ...]:
    """The ids of the instances that a plan is to heal."""
    plan = proposal.plan
    asked = [s.instance for s in plan.steps if s.action is Action.FILTER and plan.calls[s.call].operation == WHETHER]
    asked += [c.instance for c in plan.changes if c.reason.startswith(TO_HEAL)]
    return tuple(dict.fromkeys(asked))


def not_known(proposal: Proposal) -> Mapping[str, str]:
    """The instances that were to be healed and were left as they are, each with that host, or itself, of which nobody
    could find out how it is."""
    plan, instances = proposal.plan, proposal.snapshot.instances
    looked = [s.instance for s in plan.steps if s.action is Action.FILTER and plan.calls[s.call].operation == KNOWN]
    unknown = next((i for i in looked if instances[i].note == CANNOT_BE_ASKED), "")
    found = {i: i if instances[i].note == CANNOT_BE_ASKED else unknown for i in to_heal(proposal)}
    return {instance: host for instance, host in found.items() if host}


def still_missed(proposal: Proposal, hosts: Collection[str]) -> tuple[str, ...]:
    """What is on these instances as far as is recorded, and not there: it is still to be made again."""
    instances = proposal.snapshot.instances
    found = []
    for record in instances.values() if hosts else ():
        host = record.host if record.is_missed else ""
        while host and host not in hosts:
            host = instances[host].host
        if host:
            found.append(record.id)
    return tuple(found)


def by_host(asked: HealAsked, service: Service, snapshot: Snapshot) -> tuple[HealAsked, ...]:
    """What is asked for, host by host, where one of the instances may turn out not to need it."""
    names = Names(service, snapshot, deleted=True)
    hosts: dict[str, dict[str, None]] = {}
    is_asked = False
    for record in (record for text in asked.names for record in _named(names, text)):
        hosts.setdefault(_outermost(service, snapshot, record), {})[record.id] = None
        is_asked |= _may_be_spared(service, record)
    if not is_asked:
        return (asked,)
    return tuple(HealAsked(tuple(f"{INSTANCE}{name}" for name in found)) for found in hosts.values())


def _chosen(asked: HealAsked, service: Service, snapshot: Snapshot) -> Mapping[str, Instance]:
    names = Names(service, snapshot, deleted=True)
    chosen = {record.id: record for text in asked.names for record in _named(names, text)}
    hosts: dict[str, str] = {}
    for record in chosen.values():
        if not record.exists and not record.is_missed:
            raise Refused(
                "not-deployed",
                f"{record.id} does not exist: it was {'scaled in' if record.was_scaled_in else 'removed'}",
                next_words=("deploy",),
                purpose="make what the service describes",
            )
        spared = not asked.reinstall and _may_be_spared(service, record)
        if not spared and (record.is_unmanaged or service.nodes[record.node].settings.protected):
            why = "protected" if not record.is_unmanaged else "not created by this ensemble"
            raise Refused(
                "kept",
                f"{record.id} is {why}, and is not removed to be made again",
                "a check or heal of the interface type ordito.interfaces.Maintain could mend it in place",
            )
        if spared:
            hosts.setdefault(_outermost(service, snapshot, record), record.id)
    if hosts and len({_outermost(service, snapshot, record) for record in chosen.values()}) > 1:
        raise Refused(
            "several-hosts",
            f"{listed(list(chosen), MOST_NAMED)} are on different hosts, and"
            f" {next(iter(hosts.values()))} is asked first whether it has to be healed",
            "heal what is on one host after the other, or give --reinstall to make all of it anew in one job",
        )
    return chosen


def _named(names: Names, text: str) -> list[Instance]:
    """The instance that a text means."""
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


def _may_be_spared(service: Service, record: Instance) -> bool:
    template = service.nodes.get(record.node)
    if template is None:
        return False
    return record.exists and any(maintaining(template, name) is not None for name in (CHECK, HEAL))


def _outermost(service: Service, snapshot: Snapshot, record: Instance) -> str:
    """The nearest Compute up the hosts of an instance, else the instance itself."""
    current: Instance | None = record
    while current is not None and (current.node not in service.nodes or not service.nodes[current.node].is_compute):
        current = snapshot.instances.get(current.host)
    return (current or record).id
