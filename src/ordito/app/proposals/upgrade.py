"""What upgrading would do: changing what runs into what a service says now, or another one does."""

from __future__ import annotations

from ordito.app.errors import Refused
from ordito.app.place import relative_to
from ordito.app.proposal import PlanningContext, Proposal
from ordito.app.proposals.to_a_description import NamedService, is_same, proposed
from ordito.app.requests import UpgradeRequest
from ordito.app.services.workflows import overriding
from ordito.model.service import Service
from ordito.work.records import GivenService
from ordito.work.workflows import DEPLOY, workflow_of


def propose(request: UpgradeRequest, known: PlanningContext) -> Proposal:
    """What it would do. Raises ``InvalidDocument``, ``PlanRefused``, ``EnsembleError`` and ``Refused``, also where the
    template has a way of its own to deploy: what that does cannot be compared."""

    def check(known: PlanningContext, service: Service) -> None:
        found = overriding(service, DEPLOY)
        if found is not None:
            raise Refused(
                "own-deploy",
                f'the template has a workflow "{found.name}" of its own, which deploys it: what it would change of'
                " what runs cannot be told",
                f'write it as "service" in {known.place.manifest}, and deploy' if request.service else "",
                next_words=("deploy",),
                purpose="have that workflow bring what runs to what the template says",
            )

    return proposed(request, known, lambda: _named(request, known), check)


def _named(request: UpgradeRequest, known: PlanningContext) -> NamedService:
    """The service to upgrade to."""
    place, user, asked = known.place, known.spec.user, request.service
    if not is_deployed(known):
        raise Refused(
            "not-deployed",
            f"nothing is deployed in {place.shown}, so there is nothing to upgrade",
            next_words=("deploy", asked) if asked else ("deploy",),
            purpose="deploy it",
        )
    remembered = known.status.named if user.service != user.written else None
    if not asked:
        if not user.service:
            raise Refused(
                "no-service",
                f"{place.manifest} names no service",
                'name the new one, or add it to what you wrote there, below "spec:", as in: service: service.yaml',
                next_words=("upgrade", "SERVICE"),
                purpose="SERVICE is a definitions file, or a folder that holds one",
            )
        return NamedService(user.service_path(place.layout, place.shown), remembered)
    if user.written and is_same(asked, user.written_path(place.layout, place.shown)):
        return NamedService(asked)
    return NamedService(asked, GivenService(relative_to(place.layout, asked), user.written))


def is_deployed(known: PlanningContext) -> bool:
    """Whether anything is deployed that could be upgraded."""
    if not known.status.service:
        return False
    last = known.status.last_job
    exist = any(instance.exists for instance in known.snapshot.instances.values())
    return exist or (last is not None and workflow_of(last.workflow).describes)
