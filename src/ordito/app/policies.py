"""Show the policies of what is deployed: their targets, what their triggers wait for, and what these have done."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.errors import Refused
from ordito.app.job.jobs import ensemble_place
from ordito.app.services.compiled import Hidden
from ordito.app.services.in_use import service_in_use
from ordito.app.unsupported import is_heeded
from ordito.base.suggest import nearest
from ordito.ensemble.inbox import HANDLED, Firing, InboxEntry, open_inbox
from ordito.ensemble.store import read_ensemble
from ordito.model.imperative import Activity, Policy, Trigger
from ordito.model.service import Service
from ordito.syntax.expressions import as_written
from ordito.work.evaluations import Evaluation, period_of, wanted_of


class PoliciesRequest(msgspec.Struct, frozen=True):
    """The ensemble, and the name of a policy, "" for all."""

    directory: str
    name: str = ""


class NoticeHandled(msgspec.Struct, frozen=True):
    """What a trigger did because of a notice, and whether its actions wait or are running."""

    entry: InboxEntry
    firing: Firing


class TriggerView(msgspec.Struct, frozen=True):
    """A trigger."""

    trigger: Trigger
    wanted: int
    """In how many evaluations its condition must hold."""

    remembered: dict[str, tuple[Evaluation, ...]]
    """The remembered evaluations, by entity."""

    made: tuple[NoticeHandled, ...]
    """What it did because of notices, the latest first."""

    @property
    def hits(self) -> dict[str, int]:
        """By entity, in how many of the remembered evaluations the condition held."""
        period = period_of(self.trigger)
        found: dict[str, int] = {}
        for entity, kept in self.remembered.items():
            last = kept[-1].at if kept else 0.0
            counted = [e for e in kept if not period or e.at > last - period]
            found[entity] = sum(e.holds for e in counted) if period else _in_a_row(counted)
        return found

    @property
    def actions(self) -> tuple[str, ...]:
        """Its actions, for people."""
        return tuple(map(_action, self.trigger.actions))


class PolicyView(msgspec.Struct, frozen=True):
    """A policy, whether this program obeys it, its triggers, and its properties as plain data without secrets."""

    policy: Policy
    is_heeded: bool
    triggers: tuple[TriggerView, ...]
    properties: Mapping[str, object] = {}


class PoliciesView(msgspec.Struct, frozen=True):
    """The policies, and the notices that wait to be handled, in their order."""

    policies: tuple[PolicyView, ...]
    waiting: tuple[InboxEntry, ...]


def policies(request: PoliciesRequest) -> PoliciesView:
    """Show policies. Raises ``Refused``, ``EnsembleError``, and ``InvalidDocument`` if the deployed files were
    changed."""
    place = ensemble_place(request.directory)
    with read_ensemble(request.directory) as ensemble:
        service = service_in_use(place, ensemble).service
    found = list(service.policies.values())
    if request.name:
        if request.name not in service.policies:
            near = nearest(request.name, service.policies)
            raise Refused(
                "unknown-policy",
                f'there is no policy "{request.name}"',
                f"did you mean {near[0]}?" if near else "",
                next_words=("policy", "list"),
                purpose="see which there are",
            )
        found = [service.policies[request.name]]
    entries: tuple[InboxEntry, ...] = ()
    remembered: dict[tuple[str, str], dict[str, tuple[Evaluation, ...]]] = {}
    inbox = open_inbox(place.layout)
    if inbox is not None:
        with inbox:
            entries = inbox.all()
            remembered = {(p.name, t): inbox.evaluated(p.name, t) for p in found for t in p.triggers}
    views = tuple(_view(service, policy, entries, remembered) for policy in found)
    return PoliciesView(views, tuple(e for e in reversed(entries) if e.state != HANDLED))


def _view(
    service: Service,
    policy: Policy,
    entries: tuple[InboxEntry, ...],
    remembered: dict[tuple[str, str], dict[str, tuple[Evaluation, ...]]],
) -> PolicyView:
    triggers = tuple(
        TriggerView(
            trigger,
            wanted_of(trigger),
            remembered.get((policy.name, name), {}),
            tuple(
                NoticeHandled(e, f) for e in entries for f in e.firings if (f.policy, f.trigger) == (policy.name, name)
            ),
        )
        for name, trigger in policy.triggers.items()
    )
    shown = {"properties": policy.properties, **Hidden(service).instead(policy)}["properties"]
    return PolicyView(policy, is_heeded(service, policy), triggers, as_written(shown))  # type: ignore[arg-type]


def _in_a_row(kept: list[Evaluation]) -> int:
    count = 0
    for one in reversed(kept):
        if not one.holds:
            break
        count += 1
    return count


def _action(activity: Activity) -> str:
    return f"{activity.kind} {activity.name}"
