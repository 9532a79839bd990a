"""What a healing has come to, for each instance that it was to heal."""

from __future__ import annotations

from ordito.app.job.report import HealedInstance, HealedReport
from ordito.app.proposal import Proposal
from ordito.app.proposals.heal import failed_links, not_known, runs_nothing, still_missed, to_heal
from ordito.instances.records import Instance
from ordito.instances.status import OPERATIONAL
from ordito.work.probes import HEAL

NOT_NEEDED, REPAIRED, RESTARTED, REPLACED, FAILED = "not needed", "repaired", "restarted", "replaced", "failed"
UNLINKED, TAKEN = "not linked", "taken for ok"


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
