"""Records changed together with the template: what is recorded afterwards must be what deploying would leave."""

from __future__ import annotations

import msgspec

from ordito.app.errors import Refused
from ordito.app.proposal import Known, Proposal
from ordito.app.proposals.deploy import DeployAsked
from ordito.app.services.pinned import pin_service
from ordito.app.state.edit import Basis
from ordito.instances.records import Delta, Snapshot
from ordito.work.plan import Kind

replace = msgspec.structs.replace

CHANGES = frozenset({Kind.RELINK, Kind.RESTART, Kind.RECONFIGURE, Kind.UPDATE, Kind.REPLACE})
"""What is carried out on instances that run."""


def proposed(known: Known, snapshot: Snapshot) -> Proposal:
    """What deploying the service as it is written now would do if the records were these.

    What runs and would be changed may not be recorded as if it had been. Raises ``InvalidDocument``, ``PlanRefused``,
    ``Refused`` and ``EnsembleError``.
    """
    proposal = DeployAsked().propose(replace(known, snapshot=snapshot))
    changed = next((c for c in proposal.plan.changes if c.kind in CHANGES), None)
    if changed is not None:
        raise Refused(
            "changed",
            f"{changed.instance} runs in another form than the template describes: {changed.reason}",
            "deploy that first, or put the template back",
            next_words=("plan",),
            purpose="see what deploying would do",
        )
    return proposal


def new_basis(known: Known, proposal: Proposal) -> Basis:
    """The ground of records that belong to the service as it is written now, of which a copy is kept."""
    pinned = pin_service(known.place.layout, proposal.read, proposal.measured, proposal.files)
    plan = proposal.plan
    return Basis(
        proposal.whole,
        pinned,
        proposal.inputs,
        proposal.given,
        plan.counts,
        proposal.environment,
        plan.kept_counts,
        proposal.named,
        proposal.plan.older,
    )


def copied(snapshot: Snapshot) -> Snapshot:
    """A snapshot of its own with the same records."""
    copy = Snapshot()
    copy.apply(
        Delta(
            instances=tuple(snapshot.instances.values()),
            links=tuple(snapshot.links.values()),
            attributes=snapshot.attributes,
            outputs=snapshot.outputs,
        )
    )
    copy.highest.update(snapshot.highest)
    return copy


def not_wanted(what: str, hint: str) -> Refused:
    """That the template does not speak of something so."""
    return Refused("not-wanted", what, hint, next_words=("plan",), purpose="see what deploying would do")
