"""What providers, and who reaches hosts, are asked to do for a delegated step, put together when the step starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ordito.base.masking import Masking
from ordito.base.paths import below, is_url
from ordito.base.sensitive import Sensitive, is_sensitive, revealed, sensitive_parts
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.instances.hosting import compute_of, contained, far_ends
from ordito.instances.lifecycle import PROVIDE, UNPROVIDE
from ordito.instances.records import Snapshot
from ordito.model.deploying import IMAGE, MACHINE_IMAGE, image_of_create, images_of, values_of_create
from ordito.model.operation import Artifact
from ordito.model.service import Capability, NodeTemplate, Relationship, Service
from ordito.operations.connecting import Connecting
from ordito.operations.kept_apart import kept_apart
from ordito.operations.targeting import Targets
from ordito.syntax.expressions import Value
from ordito.work.plan import OperationCall, Step
from ordito.work.providing import Delegation, Far, Material, ProviderVerb
from ordito.work.targets import HostTarget

VERBS: Mapping[str, ProviderVerb] = {
    PROVIDE: ProviderVerb.CREATE,
    UNPROVIDE: ProviderVerb.DELETE,
    "look": ProviderVerb.LOOK,
    "reach": ProviderVerb.REACH,
    "start": ProviderVerb.START,
    "stop": ProviderVerb.STOP,
}
"""What is asked, by the operation of the interface ``delegate``."""


class Delegating:
    """Says what is asked, in one job. ``ensemble`` is the id of the deployment."""

    def __init__(  # noqa: PLR0913  (what is asked is made of all of it)
        self,
        service: Service,
        snapshot: Snapshot,
        evaluator: Evaluator,
        masking: Masking,
        targets: Targets,
        *,
        root: str,
        job: str,
        ensemble: str,
    ) -> None:
        self._service = service
        self._snapshot = snapshot
        self._evaluator = evaluator
        self._masking = masking
        self._targets = targets
        self._root = root
        self._job = job
        self._ensemble = ensemble
        self._apart = kept_apart(service)
        self._connecting = Connecting(service, self._evaluated)

    def delegation(self, step: Step, call: OperationCall) -> Delegation:
        """What is asked for a delegated step, with values as they are now. Raises ``Unreachable``."""
        template = self._service.nodes[self._snapshot.instances[step.instance].node]
        context = Context(node=template.name, instance=step.instance)
        verb = VERBS[call.operation]
        connections, endpoints = self._connecting.of(template.name)
        properties = self._known(_written(template), context)
        return Delegation(
            step.instance,
            template.kinds,
            verb,
            node=template.name,
            properties={name: revealed(value) for name, value in properties.items()},
            attributes=self._attributes(step.instance),
            metadata=template.metadata,
            host=self._host(step.instance, template, verb),
            requirements=self._requirements(template, step.instance),
            artifacts=(*(self._material(a, context) for a in _artifacts(template)), *self._images_on(template)),
            inputs=self._inputs(template, context),
            apart=self._apart.get(template.name, frozenset()),
            ensemble=self._ensemble,
            job=self._job,
            timeout=call.timeout,
            connections=connections,
            endpoints=endpoints,
            secret=frozenset(name for name, value in properties.items() if is_sensitive(value)),
            anew=step.anew,
            on_it=tuple(contained(self._snapshot, step.instance)[1:]) if verb is ProviderVerb.DELETE else (),
        )

    def _host(self, instance: str, template: NodeTemplate, verb: ProviderVerb) -> HostTarget | None:
        if template.is_compute and verb in (ProviderVerb.REACH, ProviderVerb.LOOK):
            return self._targets.of(instance)
        host = self._snapshot.instances[instance].host
        return self._targets.of(compute_of(self._service, self._snapshot, host))

    # -------------------------------------------------------------------------------------------------- values

    def _properties(self, template: NodeTemplate, context: Context) -> dict[str, object]:
        """The properties of a node, those of its capabilities as ``capability::name``; one without a value is not
        there."""
        return self._evaluated(_written(template), context)

    def _evaluated(self, written: Mapping[str, Value], context: Context) -> dict[str, object]:
        """Values as providers need them."""
        return {name: revealed(value) for name, value in self._known(written, context).items()}

    def _known(self, written: Mapping[str, Value], context: Context) -> dict[str, object]:
        """The values that are known now; what is sensitive in them is hidden from now on."""
        found: dict[str, object] = {}
        for name, value in written.items():
            try:
                data = self._evaluator.evaluate(value, context)
            except EvaluationError:
                continue  # Static values were evaluated when the plan was made; what is left waits for instances.
            if not isinstance(data, Nothing):
                self._masking.know(sensitive_parts(data))
                found[name] = data
        return found

    def _attributes(self, instance: str) -> dict[str, object]:
        return {name: revealed(value) for name, value in self._snapshot.attributes.get(instance, {}).items()}

    def _inputs(self, template: NodeTemplate, context: Context) -> dict[str, object]:
        """Those of the operation that makes a node, which nothing implements but its provider."""
        return self._evaluated(values_of_create(template), context)

    # ---------------------------------------------------------------------------------------------- requirements

    def _requirements(self, template: NodeTemplate, instance: str) -> dict[str, tuple[Far, ...]]:
        record, found = self._snapshot.instances[instance], dict[str, tuple[Far, ...]]()
        for relationship in template.requirements:
            far = tuple(
                self._far(relationship, instance, end)
                for end in far_ends(self._snapshot, relationship, "source", record)
            )
            found[relationship.requirement] = (*found.get(relationship.requirement, ()), *far)
        return found

    def _far(self, relationship: Relationship, instance: str, target: str) -> Far:
        template = self._service.nodes[relationship.target]
        context = Context(relationship=relationship, source=instance, target=target)
        return Far(
            target,
            template.kinds,
            self._attributes(target),
            self._properties(template, Context(node=template.name, instance=target)),
            self._evaluated(relationship.properties, context),
        )

    # ------------------------------------------------------------------------------------------------- artifacts

    def _images_on(self, template: NodeTemplate) -> Iterator[Material]:
        """The images of machines that components on a Compute stand for (§11.1.3)."""
        for relationship in self._service.incoming.get(template.name, ()) if template.is_compute else ():
            component = self._service.nodes[relationship.source]
            image = image_of_create(component) if relationship.is_hosting else None
            if image is not None and MACHINE_IMAGE in image.kinds:
                yield self._material(image, Context(node=component.name))

    def _material(self, artifact: Artifact, context: Context) -> Material:
        is_file = not (artifact.repository or artifact.address) and not is_url(artifact.file)
        return Material(
            artifact.name,
            artifact.kinds,
            below(self._root, artifact.file) if is_file else artifact.file,
            artifact.address or artifact.repository,
            {} if artifact.account is None else _account(artifact.account),
            properties=self._evaluated(artifact.properties, context),
        )


def _artifacts(template: NodeTemplate) -> list[Artifact]:
    """The artifacts of a node; of several images the one that implements ``create`` is meant, alone."""
    return [*images_of(template), *(a for a in template.artifacts.values() if IMAGE not in a.kinds)]


def _account(account: Sensitive) -> dict[str, object]:
    told = account.reveal()
    found = dict(told) if isinstance(told, Mapping) else {}
    return {**found, "token": Sensitive(found.get("token", ""))}


def _written(template: NodeTemplate) -> dict[str, Value]:
    """The properties of a node and of its capabilities, as they are written."""
    return {**template.properties, **_of_capabilities(template.capabilities)}


def _of_capabilities(capabilities: Mapping[str, Capability]) -> dict[str, Value]:
    return {f"{c.name}::{name}": value for c in capabilities.values() for name, value in c.properties.items()}
