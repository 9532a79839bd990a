"""Whose data a plan would lose, and who has said that they may be lost.

What keeps data and was named by the command itself is lost once somebody has written its name; all else only with an
option that names it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ordito.app.errors import Refused
from ordito.app.names import InstanceNames
from ordito.app.proposal import Proposal, Risks
from ordito.app.requests import again, words_of_losing
from ordito.base.text import listed
from ordito.instances.records import Snapshot
from ordito.model.service import Service
from ordito.work.plan import Plan

BACKUP = "back them up first"
AWAY = "what was found to be absent may come back (is its volume mounted?), and `ordito check` sees that then"
NO_DATA = "what keeps no data says so in its metadata: ordito.data: none"
MOST_NAMED = 12


def may_be_lost(texts: Iterable[str], service: Service, snapshot: Snapshot) -> frozenset[str]:
    """The instances, and the nodes, that texts name, what is not there at the moment included. Raises ``Refused`` for
    what there never was."""
    names = InstanceNames(service, snapshot, deleted=True)
    found = (names.find(text) for text in texts)
    return frozenset(named.instance or named.node for named in found)


def risked(plan: Plan, snapshot: Snapshot, *, named: Collection[str], allowed: Collection[str]) -> Risks:
    """The instances whose data a plan loses, and of which nobody has ``allowed`` that; ``named`` is what the command
    has named by itself. Both are instances and nodes."""
    records = snapshot.instances
    lost = tuple(i for i in plan.summary.losing if i not in allowed and records[i].node not in allowed)
    return Risks(lost, is_unforeseen=any(i not in named and records[i].node not in named for i in lost))


def refuse_risks(proposal: Proposal, *, asks: bool) -> None:
    """Refuse to lose data of which nobody has said that they may be lost; what the command has named is left to be
    asked about where it ``asks``. Raises ``Refused``."""
    lost, snapshot = proposal.risks.lost, proposal.snapshot
    if lost and proposal.risks.is_unforeseen:
        why = {change.instance: change.reason for change in proposal.plan.changes}
        raise _lost([f"{i} ({why[i]})" if why.get(i) else i for i in lost], lost, snapshot)
    if lost and not asks:
        raise _lost(lost, lost, snapshot)


def refuse_unasked(proposal: Proposal) -> None:
    """Refuse to lose data where nobody has seen the plan, whatever it is about; the command by which a person does the
    same is named. Raises ``Refused``."""
    if losing := proposal.plan.summary.losing:
        words = again(proposal.job.told)
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
