"""What a plan is to make is asked for before anything runs: whether there is a host for each Compute, say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ordito.app.plugins import Plugins
from ordito.base.diagnostics import Diagnostics
from ordito.base.sensitive import revealed
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.instances.lifecycle import PROVIDE, UNPROVIDE
from ordito.instances.records import Snapshot
from ordito.model.service import NodeTemplate, Service
from ordito.operations.delegating import anti_affinity
from ordito.planning.refused import PlanRefused
from ordito.work.plan import Action, Plan
from ordito.work.providing import Delegation, Foresees, ProviderVerb, recorded_with


def foresee(
    plugins: Plugins, service: Service, snapshot: Snapshot, plan: Plan, inputs: Mapping[str, object], ensemble: str
) -> None:
    """See that providers can make what a plan has them make, those that can tell. Raises ``PlanRefused``."""
    by_provider: dict[str, list[Delegation]] = {}
    foreseeing = {p.name: f for p in plugins.providers.all if (f := _foresees(p)) is not None}
    if not foreseeing:
        return
    asking, going = _Asking(service, snapshot, plan, inputs, ensemble), frozenset(_delegated(plan, UNPROVIDE))
    for instance in _delegated(plan, PROVIDE):
        asked = asking.of(instance)
        attributes = {} if instance in going else snapshot.attributes.get(instance, {})
        provider = plugins.providers.for_instance(asked.node, asked.kinds, attributes)
        if provider is not None and provider.name in foreseeing:
            by_provider.setdefault(provider.name, []).append(asked)
    diagnostics = Diagnostics()
    for name, asked_of in by_provider.items():
        problems = foreseeing[name].foresee(asked_of, going, recorded_with(name, snapshot))
        _report(service, asked_of, problems, diagnostics)
    if diagnostics.has_errors:
        raise PlanRefused(diagnostics.sorted())


def _foresees(provider: object) -> Foresees | None:
    return provider if isinstance(provider, Foresees) else None


def _report(
    service: Service, asked: Sequence[Delegation], problems: Mapping[str, str], diagnostics: Diagnostics
) -> None:
    """Say what cannot be made; of instances of one node with the same reason once."""
    alike: dict[tuple[str, str], list[str]] = {}
    for one in asked:
        if one.instance in problems:
            alike.setdefault((one.node, problems[one.instance]), []).append(one.instance)
    for (node, why), instances in alike.items():
        more = f" (and {len(instances) - 1} more of {node})" if len(instances) > 1 else ""
        diagnostics.error(
            "no-free-host",
            f"there is no host for {instances[0]}{more}: {why}",
            service.nodes[node].span,
            hint="add a host to the inventory, ask for less, or make fewer instances; `ordito hosts list` shows who"
            " has which",
        )


def _delegated(plan: Plan, operation: str) -> Iterator[str]:
    for step in plan.steps:
        if step.action is Action.DELEGATE and plan.calls[step.call].operation == operation:
            yield step.instance


class _Asking:
    """What is asked for each instance, as far as it is known before anything runs."""

    def __init__(
        self, service: Service, snapshot: Snapshot, plan: Plan, inputs: Mapping[str, object], ensemble: str
    ) -> None:
        self._service = service
        self._nodes = {i.id: i.node for i in (*snapshot.instances.values(), *plan.instances)}
        self._static = Evaluator(service, Snapshot(), inputs)
        self._apart = anti_affinity(service)
        self._ensemble = ensemble
        self._properties: dict[str, Mapping[str, object]] = {}

    def of(self, instance: str) -> Delegation:
        node = self._service.nodes[self._nodes[instance]]
        if node.name not in self._properties:
            self._properties[node.name] = self._known(node)
        return Delegation(
            instance,
            node.kinds,
            ProviderVerb.CREATE,
            node=node.name,
            properties=self._properties[node.name],
            metadata=node.metadata,
            apart=self._apart.get(node.name, frozenset()),
            ensemble=self._ensemble,
        )

    def _known(self, node: NodeTemplate) -> dict[str, object]:
        """The properties that do not wait for anything that runs, those of capabilities as ``capability::name``."""
        written = dict(node.properties)
        for capability in node.capabilities.values():
            written |= {f"{capability.name}::{name}": value for name, value in capability.properties.items()}
        found: dict[str, object] = {}
        for name, value in written.items():
            try:
                data = self._static.evaluate(value, Context(node=node.name))
            except EvaluationError:
                continue
            if not isinstance(data, Nothing):
                found[name] = revealed(data)
        return found
