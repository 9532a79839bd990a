"""The instances whose data a plan would lose, and the permission to lose them.

Data of instances that the command itself names may be lost after the user has typed their names; data of all others
only with an option that names them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ordito.app.errors import Refused
from ordito.app.names import InstanceNames
from ordito.app.proposal import Proposal, Risks
from ordito.app.requests import command_of, words_of_losing
from ordito.base.text import listed
from ordito.instances.records import Snapshot
from ordito.model.service import Service
from ordito.work.plan import Plan

BACKUP = "back them up first"
AWAY = "what was found to be absent may come back (is its volume mounted?); then `ordito check` finds it again"
NO_DATA = "what keeps no data can say so in its metadata: ordito.data: none"
MOST_NAMED = 12


def may_be_lost(texts: Iterable[str], service: Service, snapshot: Snapshot) -> frozenset[str]:
    """The instances and nodes that texts name, also those that do not exist at the moment. Raises ``Refused`` for names
    that never existed."""
    names = InstanceNames(service, snapshot, deleted=True)
    found = (names.find(text) for text in texts)
    return frozenset(named.instance or named.node for named in found)


def risked(plan: Plan, snapshot: Snapshot, *, named: Collection[str], allowed: Collection[str]) -> Risks:
    """The instances whose data a plan loses without permission; ``allowed`` and ``named`` (by the command itself) are
    instances and nodes."""
    records = snapshot.instances
    lost = tuple(i for i in plan.summary.losing if i not in allowed and records[i].node not in allowed)
    return Risks(lost, is_unforeseen=any(i not in named and records[i].node not in named for i in lost))


def refuse_risks(proposal: Proposal, *, asks: bool) -> None:
    """Raise ``Refused`` if data would be lost without permission. If the command ``asks``, what it has named is not
    refused here, but asked about."""
    lost, snapshot = proposal.risks.lost, proposal.snapshot
    if lost and proposal.risks.is_unforeseen:
        why = {change.instance: change.reason for change in proposal.plan.changes}
        raise _lost([f"{i} ({why[i]})" if why.get(i) else i for i in lost], lost, snapshot)
    if lost and not asks:
        raise _lost(lost, lost, snapshot)


def refuse_unasked(proposal: Proposal) -> None:
    """Raise ``Refused`` if data would be lost by a plan that nobody has seen; the hint names the command by which a
    person can do the same."""
    if losing := proposal.plan.summary.losing:
        words = command_of(proposal.job.told)
        if proposal.risks.lost:
            words = (*words, *words_of_losing(proposal.risks.lost))
        raise Refused(
            "data-loss",
            f"data of {listed(losing, MOST_NAMED)} would be lost, and nobody has permitted that; nothing was changed",
            f"{BACKUP}; {NO_DATA}",
            next_words=words,
            purpose=f"do it, and lose the data of {listed(losing, MOST_NAMED)}",
        )


def _lost(told: Collection[str], names: Collection[str], snapshot: Snapshot) -> Refused:
    is_away = any(snapshot.instances[name].was_lost for name in names)
    return Refused(
        "data-loss",
        f"data of {listed([*told], MOST_NAMED)} would be lost; nothing was changed",
        f"{AWAY if is_away else BACKUP}; {NO_DATA}",
        more_words=words_of_losing(names),
        purpose=f"do it, and lose the data of {listed([*names], MOST_NAMED)}",
    )
