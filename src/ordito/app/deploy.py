"""Bring the running system to its description."""

from __future__ import annotations

import msgspec

from ordito.app.conversation import Conversation
from ordito.app.errors import Declined, Refused
from ordito.app.gate import refuse_unfinished
from ordito.app.given_choices import GivenChoices
from ordito.app.given_inputs import GivenInputs
from ordito.app.job_run import JobReport, run_new
from ordito.app.place import Place, place_of
from ordito.app.proposal import Proposal, pinned, propose_deploy
from ordito.ensemble.manifest import write_user_part
from ordito.ensemble.status import Status
from ordito.ensemble.store import Ensemble, open_ensemble
from ordito.instances.records import Snapshot
from ordito.work.records import JobOptions


class DeployRequest(msgspec.Struct, frozen=True):
    """What to deploy and where: ``directory`` is the ensemble's, ``service`` may be "" where the ensemble knows it.
    ``wait_lock`` is how many seconds to wait for another command, ``allow_large`` permits very many link operations of
    one requirement, ``fetch`` that what the service names by URLs is fetched, ``choices`` are made where it leaves
    a choice."""

    directory: str
    service: str = ""
    inputs: GivenInputs = GivenInputs()
    options: JobOptions = JobOptions()
    wait_lock: float = 0.0
    allow_large: bool = False
    fetch: bool = False
    choices: GivenChoices = GivenChoices()


class DeployResult(msgspec.Struct, frozen=True):
    """What came of it. ``report`` is None where there was nothing to do, and nothing was written: ``changed`` then
    names inputs whose values are others than at the last deployment, though no operation depends on that, and
    ``ignored`` those that this command gave and that are not remembered."""

    service: str
    report: JobReport | None = None
    outputs: dict[str, object] = {}
    changed: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def deploy(request: DeployRequest, conversation: Conversation) -> DeployResult:
    """Plan, ask, and carry out.

    Raises ``InvalidDocument``, ``PlanRefused``, ``Refused``, ``Locked``, ``JobUnfinished``, ``EnsembleError`` and
    ``Declined``; then no operation has run.
    """
    place = place_of(request.directory)
    if not place.layout.exists:
        # Nothing is made on disk before the plan is there and approved, not even the file that is locked.
        proposal = _propose(place, request, Snapshot(), Status(), conversation)
        if proposal.plan.is_empty:
            return _nothing_to_do(proposal, Status())
        with open_ensemble(request.directory, command="deploy", wait_lock=request.wait_lock) as ensemble:
            if place.layout.manifest.exists() or ensemble.snapshot.instances or ensemble.unfinished:
                raise Refused(
                    "changed",
                    f"{place.shown} has become an ensemble meanwhile",
                    next_words=("status",),
                    purpose="look at it",
                )
            return _carry_out(ensemble, place, proposal, request, conversation)
    with open_ensemble(request.directory, command="deploy", wait_lock=request.wait_lock) as ensemble:
        refuse_unfinished(ensemble)
        proposal = _propose(place, request, ensemble.snapshot, ensemble.status, conversation)
        if proposal.plan.is_empty:
            return _nothing_to_do(proposal, ensemble.status)
        return _carry_out(ensemble, place, proposal, request, conversation)


def _propose(
    place: Place, request: DeployRequest, snapshot: Snapshot, status: Status, conversation: Conversation
) -> Proposal:
    proposal = propose_deploy(
        place,
        request.service,
        request.inputs,
        snapshot,
        status,
        allow_large=request.allow_large,
        fetch=request.fetch,
        choices=request.choices,
    )
    conversation.found(proposal.diagnostics)
    if not proposal.plan.is_empty and not conversation.approve(proposal):
        raise Declined
    return proposal


def _carry_out(
    ensemble: Ensemble, place: Place, proposal: Proposal, request: DeployRequest, conversation: Conversation
) -> DeployResult:
    kept = pinned(place.layout, proposal)
    if proposal.user_part is not None:
        write_user_part(place.layout, proposal.user_part)
    report = run_new(ensemble, kept, request.options, conversation)
    return DeployResult(proposal.service.name, report, dict(report.outputs))


def _nothing_to_do(proposal: Proposal, status: Status) -> DeployResult:
    ignored = tuple(name for name, given in proposal.given.items() if status.given.get(name) != given)
    return DeployResult(proposal.service.name, None, status.outputs, proposal.changed_inputs, ignored)
