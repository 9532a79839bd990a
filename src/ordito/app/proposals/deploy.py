"""What deploying would do."""

from __future__ import annotations

from pathlib import Path

from ordito.app.errors import Refused
from ordito.app.proposal import PlanningContext, Proposal
from ordito.app.proposals.to_a_description import SERVICE_FILE, NamedService, is_same, proposed
from ordito.app.requests import DeployRequest, DescriptionRequest


def propose(request: DeployRequest, known: PlanningContext) -> Proposal:
    """What it would do. Raises ``InvalidDocument``, ``PlanRefused``, ``Refused`` and ``EnsembleError``."""
    return proposed(request, known, lambda: _named(request, known))


def service_to_keep(request: DescriptionRequest, known: PlanningContext, proposal: Proposal) -> str:
    """The path of the service that a saved plan has to name, "" where the ensemble names it itself."""
    if proposal.source.user_part is None:
        return ""
    return request.service or str(Path(known.place.shown) / SERVICE_FILE)


def _named(request: DeployRequest, known: PlanningContext) -> NamedService:
    """The service to deploy. An ensemble deploys one service; another one needs the user's word in its file, or an
    upgrade."""
    place, user, asked = known.place, known.spec.user, request.service
    if user.exists and not user.service:
        raise Refused(
            "no-service",
            f"{place.manifest} names no service",
            'add it to what you wrote there, below "spec:", as in: service: service.yaml',
            next_words=("status",),
            purpose="see what exists",
        )
    if not user.service:
        beside = Path(place.shown) / SERVICE_FILE
        if asked or beside.is_file():
            # What `init` makes is deployed where it lies.
            return NamedService(asked or str(beside))
        raise Refused(
            "no-service",
            f"no service is named, and {place.shown} is not an ensemble yet",
            "name the service",
            next_words=("deploy", "SERVICE"),
            purpose="SERVICE is a definitions file, or a folder that holds one",
        )
    remembered = known.status.named if user.service != user.written else None
    current = user.service_path(place.layout, place.shown)
    if not asked and not Path(current).exists():
        by = f'"service" in {place.manifest} names it' if remembered is None else "an upgrade has named it"
        raise Refused("file-not-found", f"this ensemble deploys {current}, and there is no such file or folder", by)
    if not asked or is_same(asked, current):
        return NamedService(current, remembered)
    if not Path(asked).exists():
        # The reader says what is the matter with it.
        return NamedService(asked)
    exist = any(instance.exists for instance in known.snapshot.instances.values())
    written = user.written_path(place.layout, place.shown)
    if not exist and is_same(asked, written):
        # With nothing left of what it was upgraded to, the user's own word is as good.
        return NamedService(written)
    hint = f'to deploy the other one here, change "service" in {place.manifest}; '
    hint += "to deploy both, give it a directory of its own with -e DIR"
    raise Refused(
        "other-service",
        f"this ensemble deploys {current}, not {asked}",
        hint,
        next_words=("upgrade", asked) if exist else (),
        purpose="bring what runs here to that one",
    )
