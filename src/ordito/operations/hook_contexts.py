"""What a lifecycle step can refer to: the context of its condition, which its block also gets as a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from ordito.base.span import SourceText, Span
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Instance, Snapshot
from ordito.instances.topology_outputs import topology_outputs
from ordito.model.service import NodeTemplate, Service
from ordito.syntax.expressions import Call
from ordito.work.hooks import Hook, Moment, Transition

NOWHERE = Span(SourceText("", ""), 1, 1, 1, 1)


class DeployedBefore(msgspec.Struct, frozen=True):
    """The service as it was deployed before, and its inputs."""

    service: Service
    inputs: Mapping[str, object] = {}


AsksBefore = Callable[[], DeployedBefore | None]
"""Gives what was deployed before; None if nothing was, or it is no longer known."""


def nothing_before() -> None:
    """Nothing was deployed before."""


def nothing_removed() -> None:
    """Nothing is known of what was removed."""


RemembersRemoved = Callable[[], Snapshot | None]
"""Gives what existed before anything was removed; None if that is not known."""


class HookContexts:
    """Contexts of the lifecycle steps of one job.

    | name | of a component | of the module |
    |---|---|---|
    | ``values`` | its properties | the inputs of the topology |
    | ``resources`` | its instances: ``id``, ``state``, ``host``, ``attributes`` | the same, by component |
    | ``outputs`` | the attributes of its first instance | the same, by component |
    | ``component`` | ``name`` | |
    | ``module`` | ``name``, ``version`` | ``name``, ``version``, ``outputs`` |
    | ``transition``, ``phase`` | what is done, and which part of it | the same |
    | ``previous`` | ``values`` and ``module`` as they were before, in an upgrade | the same |

    Every context has all of these names. Values that are not known are left out, and so are instances that are not
    begun yet or are gone. A step that comes after a removal still sees the outputs of what was removed.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        counts: Callable[[], Mapping[str, int]],
        before: AsksBefore = nothing_before,
        removed: RemembersRemoved = nothing_removed,
    ) -> None:
        """``counts`` gives the wanted number of instances by node."""
        self._evaluator = evaluator
        self._service = evaluator.service
        self._snapshot: Snapshot = evaluator.snapshot
        self._counts = counts
        self._asks_before = before
        self._asked: tuple[DeployedBefore | None] | None = None
        self._removed = removed
        self._recalled: tuple[int, Evaluator] | None = None

    def evaluator(self, hook: Hook) -> Evaluator:
        """The evaluator for a lifecycle step; for a step that comes after a removal, one that still sees what was
        removed."""
        if hook.component and (hook.transition, hook.moment) == (Transition.DELETE, Moment.AFTER):
            return self._with_removed()
        return self._evaluator

    def _with_removed(self) -> Evaluator:
        as_of, now = len(self._snapshot.changes), self._evaluator
        if self._recalled is None or self._recalled[0] != as_of:
            before = self._removed()
            if before is None:
                return now
            known = Evaluator(now.service, self._snapshot.with_gone(before), now.inputs, root=now.root)
            self._recalled = as_of, known
        return self._recalled[1]

    def of(self, hook: Hook) -> dict[str, object]:
        """The present context of a lifecycle step: plain data, parts of which may be sensitive."""
        context = self._of_component(hook) if hook.component else self._of_module()
        context |= {"transition": str(hook.transition), "phase": hook.phase, "previous": {}}
        if hook.transition is Transition.UPGRADE and (before := self._before()) is not None:
            values = self._values_before(before, hook.component)
            context["previous"] = {"values": values, "module": _module(before.service)}
        return context

    def _of_component(self, hook: Hook) -> dict[str, object]:
        name, evaluator = hook.component, self.evaluator(hook)
        node, instances = self._service.template(name), self._instances(name)
        known = instances or self._instances(name, evaluator.snapshot)
        return {
            "values": _properties(self._evaluator, node, instances) if node is not None else {},
            "resources": [self._resource(instance) for instance in instances],
            "outputs": _outputs(evaluator, known[0]) if known else {},
            "component": {"name": name},
            "module": _module(self._service),
        }

    def _of_module(self) -> dict[str, object]:
        resources: dict[str, object] = {}
        outputs: dict[str, object] = {}
        for name in self._service.nodes:
            if instances := self._instances(name):
                resources[name] = [self._resource(instance) for instance in instances]
                outputs[name] = _outputs(self._evaluator, instances[0])
        found, _ = topology_outputs(self._evaluator, self._counts())
        return {
            "values": self._inputs(self._evaluator.inputs, self._service),
            "resources": resources,
            "outputs": outputs,
            "module": {**_module(self._service), "outputs": {n: v for n, v in found.items() if v is not None}},
        }

    def _instances(self, name: str, snapshot: Snapshot | None = None) -> list[Instance]:
        """The instances of a node; for a substituted node, those of the nodes inside it."""
        stand_in = self._service.substituted.get(name)
        nodes = stand_in.nodes if stand_in is not None else (name,)
        snapshot = self._snapshot if snapshot is None else snapshot
        return [i for node in nodes for i in snapshot.of_node(node) if i.created]

    def _resource(self, instance: Instance) -> dict[str, object]:
        return {
            "id": instance.id,
            "state": instance.state,
            "host": instance.host,
            "attributes": dict(self._snapshot.attributes.get(instance.id, {})),
        }

    def _before(self) -> DeployedBefore | None:
        if self._asked is None:
            self._asked = (self._asks_before(),)
        return self._asked[0]

    def _values_before(self, before: DeployedBefore, component: str) -> dict[str, object]:
        if not component:
            return self._inputs(before.inputs, before.service)
        node = before.service.template(component)
        if node is None:
            return {}
        return _properties(Evaluator(before.service, self._snapshot, before.inputs), node, ())

    def _inputs(self, inputs: Mapping[str, object], service: Service) -> dict[str, object]:
        """The inputs of a topology, without those of the topologies it includes."""
        found: dict[str, object] = {}
        for name, definition in service.inputs.items():
            if inputs.get(name) is not None and name not in service.inner_inputs:
                found[name] = self._evaluator.marks.wrap(inputs[name], self._evaluator.marks.of(definition))
        return found


def _module(service: Service) -> dict[str, object]:
    """The name of a service, and its version if it has one (§3.10.3.2)."""
    version = service.metadata.get("template_version")
    return {"name": service.name, **({"version": version} if version else {})}


def _outputs(evaluator: Evaluator, instance: Instance) -> dict[str, object]:
    """The attributes of an instance that have a value, including recorded ones that are not declared."""
    node = evaluator.service.nodes.get(instance.node)
    found: dict[str, object] = dict(evaluator.snapshot.attributes.get(instance.id, {}))
    context = Context(node=instance.node, instance=instance.id)
    for name in node.attribute_definitions if node is not None else ():
        value = _value(evaluator, Call("get_attribute", ("SELF", name), NOWHERE), context)
        if value is not None:
            found[name] = value
    return found


def _properties(evaluator: Evaluator, node: NodeTemplate, instances: Sequence[Instance]) -> dict[str, object]:
    """The properties of a node that have a value, as its first instance sees them, if there is one."""
    found: dict[str, object] = {}
    own = instances[0] if instances and instances[0].node == node.name else None
    context = Context(node=node.name, instance=own.id if own is not None else "")
    for name in node.definitions.keys() | node.properties.keys():
        value = _value(evaluator, Call("get_property", ("SELF", name), NOWHERE), context)
        if value is not None:
            found[name] = value
    return dict(sorted(found.items()))


def _value(evaluator: Evaluator, call: Call, context: Context) -> object:
    try:
        found = evaluator.evaluate(call, context)
    except EvaluationError:
        return None
    return None if isinstance(found, Nothing) else found
