"""Orphaned nodes, which are no longer in the service while their instances exist: they are added to it as they were
deployed.

The running instances are described by the files of their deployment, so these nodes are taken from there: with their
own inputs, artifacts and requirements. Relationships to them from nodes that the service still has are kept, too, since
these relationships still exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

import msgspec

from ordito.base.paths import below
from ordito.model.lifecycle_steps import LifecycleStep
from ordito.model.operation import Artifact, Operation
from ordito.model.renaming import Renaming
from ordito.model.schema import PropertyDefinition
from ordito.model.service import NodeTemplate, Relationship, Service, Substituted, by_target, by_template
from ordito.syntax.expressions import Value

replace = msgspec.structs.replace


class Left(msgspec.Struct, frozen=True):
    """The orphaned nodes of one earlier version of a service: nodes with instances that the service no longer has."""

    name: str
    """The id of the version."""
    service: Service
    """The service in that version."""
    inputs: Mapping[str, object]
    """The values of its inputs."""
    nodes: frozenset[str]
    """The nodes whose instances exist and that were removed from the service since."""
    root: str = "."
    """The path from the root of the present service to the root of that version, "." where they are the same."""


def with_left_behind(service: Service, left: Iterable[Left]) -> Service:
    """A service with its orphaned nodes; the service itself where there are none."""
    nodes = dict(service.nodes)
    joined = service
    for form in left:
        moved = _Moved(form)
        for name in _needed(form, nodes):
            nodes[name] = moved.node(form.service.nodes[name])
        _keep_relationships(form, moved, nodes)
        joined = replace(
            joined,
            sanitised={**form.service.sanitised, **joined.sanitised},
            data_types={**form.service.data_types, **joined.data_types},
            substituted={**moved.substituted(), **joined.substituted},
            inputs={**moved.definitions(), **joined.inputs},
            inner_inputs={**joined.inner_inputs, **moved.inputs()},
            hooks={**joined.hooks, **_hooks(form, moved, joined)},
        )
    if joined is service:
        return service
    return replace(joined, nodes=nodes, incoming=by_target(nodes), relationship_templates=by_template(nodes))


def _needed(form: Left, nodes: Mapping[str, NodeTemplate]) -> list[str]:
    """The nodes of a form to take: the orphaned ones, and what they require that no longer exists in the service."""
    needed = [name for name in form.service.nodes if name in form.nodes and name not in nodes]
    known = {*nodes, *needed}
    for name in needed:  # It grows while it is walked.
        for relationship in form.service.nodes[name].requirements:
            if relationship.target not in known:
                known.add(relationship.target)
                needed.append(relationship.target)
    return needed


def _hooks(form: Left, moved: _Moved, joined: Service) -> dict[str, LifecycleStep]:
    """The lifecycle steps of a form about its orphaned nodes, with ids that nothing else has."""
    found: dict[str, LifecycleStep] = {}
    for step in form.service.hooks.values():
        if step.component in form.nodes and step.component not in joined.nodes:
            name = f"{form.name}:{step.id}" if step.id in joined.hooks else step.id
            found[name] = replace(moved.hook(step), id=name, root=form.root)
    return found


def _keep_relationships(form: Left, moved: _Moved, nodes: dict[str, NodeTemplate]) -> None:
    """Nodes that the service still has keep their relationships with orphaned nodes. Another host is not kept: the plan
    decides whether existing instances may move."""
    for target in form.nodes:
        for relationship in form.service.incoming.get(target, ()):
            node = nodes.get(relationship.source)
            if node is None or relationship.is_hosting or relationship.source in form.nodes:
                continue
            if all(r.key != relationship.key for r in node.requirements):
                kept = replace(moved.relationship(relationship), index=len(node.requirements))
                nodes[node.name] = replace(node, requirements=(*node.requirements, kept))


class _Moved(Renaming):
    """An earlier form of a service, seen from where the service is now: nodes keep their names, inputs get names of
    their own, and artifacts lie where that form was kept."""

    def __init__(self, form: Left) -> None:
        super().__init__(form.service, form.name)
        self._form = form

    def name(self, name: str) -> str:
        return name

    def input(self, name: str) -> str:
        return f"{self._form.name}:{name}"

    def inputs(self) -> dict[str, Value]:
        """The values of that form's inputs, by their new names."""
        inner = {self.input(n): self.value(v) for n, v in self._form.service.inner_inputs.items()}
        return {**inner, **{self.input(n): cast(Value, v) for n, v in self._form.inputs.items()}}

    def definitions(self) -> dict[str, PropertyDefinition]:
        """The definitions of that form's inputs, by their new names."""
        return {self.input(n): d for n, d in self._form.service.inputs.items()}

    def substituted(self) -> dict[str, Substituted]:
        """The substituted nodes of that form."""
        items = self._form.service.substituted.items()
        return {n: replace(s, template=self.node(s.template)) for n, s in items}

    def node(self, node: NodeTemplate) -> NodeTemplate:
        return replace(super().node(node), artifacts=self._once(node.artifacts, self._artifacts))

    def _relationship(self, item: Relationship) -> Relationship:
        return replace(super()._relationship(item), artifacts=self._once(item.artifacts, self._artifacts))

    def _operation(self, operation: Operation) -> Operation:
        found = super()._operation(operation)
        if operation.implementation is None or self._form.root == ".":
            return found
        return replace(
            found,
            implementation=self._artifact(operation.implementation),
            dependencies=tuple(self._artifact(d) for d in operation.dependencies),
        )

    def _artifacts(self, artifacts: Mapping[str, Artifact]) -> Mapping[str, Artifact]:
        return {n: self._artifact(a) for n, a in artifacts.items()}

    def _artifact(self, artifact: Artifact) -> Artifact:
        return replace(artifact, file=below(self._form.root, artifact.file))
