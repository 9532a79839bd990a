"""Exactly the plan that somebody has seen: it is made again when its job begins, and compared.

Unlike a saved plan (``saved_plan.py``), it stays good while what is recorded moves on, by a check for example, as long
as the same steps come out for the same service, inputs, choices and inventory.
"""

from __future__ import annotations

import hashlib

import msgspec

from ordito.app.errors import Refused
from ordito.app.plan_basis import ExactPlan, PlanBasis
from ordito.app.proposal import Grounds, PlanningContext, Proposal, Proposer, proposer
from ordito.app.requests import Request
from ordito.app.saved_plan import MOST_NAMED, Sealing, basis_of, comparable, differences, user_digest
from ordito.base.sensitive import Sensitive
from ordito.base.text import listed
from ordito.planning.risks import risks_of


def plan_digest(proposal: Proposal, known: PlanningContext) -> str:
    """A digest of what a plan does: its steps in their order, calls, changes with their differences, and risks. The
    same plan has the same digest, whoever makes it and when. Sensitive values go in by a keyed digest."""
    plan, key = comparable(proposal.plan), Sealing(known.place.layout)

    def hidden(value: object) -> object:
        if isinstance(value, Sensitive):
            return ["sensitive", key.digest(value)]
        raise NotImplementedError(type(value))

    parts = [
        plan.workflow,
        plan.steps,
        sorted((before, after) for before, after, _ in plan.edges),
        plan.calls,
        plan.changes,
        plan.capacity,
        plan.scopes,
        plan.hooks,
        plan.undone,
        plan.counts.wanted,
        plan.summary.losing,
        proposal.unapproved,
        risks_of(proposal.plan, proposal.service, proposal.snapshot),
    ]
    return hashlib.sha256(msgspec.json.encode(parts, enc_hook=hidden, order="deterministic")).hexdigest()[:32]


def exactly(wanted: ExactPlan) -> Proposer:
    """Plans a request, and refuses what is not the wanted plan."""

    def propose(request: Request, known: PlanningContext) -> Proposal | None:
        basis = wanted.basis
        if user_digest(known) != basis.user:
            raise _stale([f"your part of {known.place.manifest} was changed"])

        def examine(grounds: Grounds) -> None:
            if different := list(differences(basis, basis_of(known, grounds))):
                raise _stale(different)

        proposal = proposer(request)(request, msgspec.structs.replace(known, examine=examine))
        if proposal is None:
            raise _stale(["nothing is deployed any more"])
        if plan_digest(proposal, known) != wanted.digest:
            raise _stale([_what_ran(basis, known)])
        return proposal

    return propose


def _what_ran(basis: PlanBasis, known: PlanningContext) -> str:
    last = known.status.last_job
    ran = f"{last.id} ({last.workflow})" if last is not None else ""
    since = f", since job {ran} has run" if ran and ran != basis.job else ""
    return f"planning again gives other steps{since}"


def _stale(different: list[str]) -> Refused:
    return Refused(
        "stale-plan",
        f"the plan is for another state: {listed(different, MOST_NAMED, between='; ')}",
        "nothing was done; plan again, check the new plan, and apply it",
    )
