"""What is asked of providers and of the access to hosts for a delegated step; it is put together when the step
starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ordito.base.masking import Masking
from ordito.base.paths import below, is_url
from ordito.base.sensitive import Sensitive, is_sensitive, revealed, sensitive_parts
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.instances.hosting import compute_of, contained, far_ends
from ordito.instances.lifecycle import PROVIDE, UNPROVIDE
from ordito.instances.records import Snapshot
from ordito.model.connections import NodeConnection as Written
from ordito.model.connections import Ports, connections, exposed, ports_of
from ordito.model.deploying import IMAGE, MACHINE_IMAGE, image_of_create, images_of, values_of_create
from ordito.model.hosting import compute_of as compute_of_node
from ordito.model.imperative import Policy
from ordito.model.operation import Artifact
from ordito.model.service import Capability, NodeTemplate, Relationship, Service
from ordito.operations.targeting import Targets
from ordito.syntax.expressions import Value
from ordito.work.plan import OperationCall, Step
from ordito.work.providing import Delegation, Endpoint, Far, Material, OpenWay, ProviderVerb, Span
from ordito.work.targets import HostTarget

VERBS: Mapping[str, ProviderVerb] = {
    PROVIDE: ProviderVerb.CREATE,
    UNPROVIDE: ProviderVerb.DELETE,
    "look": ProviderVerb.LOOK,
    "reach": ProviderVerb.REACH,
    "start": ProviderVerb.START,
    "stop": ProviderVerb.STOP,
}
"""The verbs of delegations, by operation of the interface ``delegate``."""


class Delegating:
    """Makes the delegations of one job. ``ensemble`` is the id of the deployment."""

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
        self._apart = anti_affinity(service)
        self._connecting = Connecting(service, self._evaluated)

    def delegation(self, step: Step, call: OperationCall) -> Delegation:
        """The delegation of a step, with present values. Raises ``Unreachable``."""
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
            anew=step.effect.replaces,
            on_it=tuple(contained(self._snapshot, step.instance)[1:]) if verb is ProviderVerb.DELETE else (),
            by_itself=self._targets.is_by_itself(step.instance),
        )

    def _host(self, instance: str, template: NodeTemplate, verb: ProviderVerb) -> HostTarget | None:
        if template.is_compute and verb in (ProviderVerb.REACH, ProviderVerb.LOOK):
            return self._targets.of(instance)
        host = self._snapshot.instances[instance].host
        return self._targets.of(compute_of(self._service, self._snapshot, host))

    # -------------------------------------------------------------------------------------------------- values

    def _properties(self, template: NodeTemplate, context: Context) -> dict[str, object]:
        """The properties of a node that have a value, those of its capabilities as ``capability::name``."""
        return self._evaluated(_written(template), context)

    def _evaluated(self, written: Mapping[str, Value], context: Context) -> dict[str, object]:
        """Evaluate values for a provider."""
        return {name: revealed(value) for name, value in self._known(written, context).items()}

    def _known(self, written: Mapping[str, Value], context: Context) -> dict[str, object]:
        """The values that are known now; the masking learns the sensitive ones."""
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
        """The inputs of the operation that creates a node, if only the provider implements that."""
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
        """The machine images that components on a Compute represent (§11.1.3)."""
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
    """The artifacts of a node; of several images only the one that implements ``create``."""
    return [*images_of(template), *(a for a in template.artifacts.values() if IMAGE not in a.kinds)]


def _account(account: Sensitive) -> dict[str, object]:
    told = account.reveal()
    found = dict(told) if isinstance(told, Mapping) else {}
    return {**found, "token": Sensitive(found.get("token", ""))}


def _written(template: NodeTemplate) -> dict[str, Value]:
    """The properties of a node and of its capabilities, not evaluated."""
    return {**template.properties, **_of_capabilities(template.capabilities)}


def _of_capabilities(capabilities: Mapping[str, Capability]) -> dict[str, Value]:
    return {f"{c.name}::{name}": value for c in capabilities.values() for name, value in c.properties.items()}


# What a provider is told of who reaches a Compute: the connections of what stands on it, and its endpoints (§8).

Evaluated = Callable[[Mapping[str, Value], Context], dict[str, object]]

PUBLIC = "tosca.capabilities.Endpoint.Public"
CARRIED = {"udp": "udp", "icmp": "icmp"}
"""The transport protocols; all other protocols are carried by TCP."""


class Connecting:
    """The connections and endpoints of a service, by Compute; each node is evaluated once."""

    def __init__(self, service: Service, evaluated: Evaluated) -> None:
        self._service = service
        self._evaluated = evaluated
        self._written: dict[str, list[Written]] | None = None
        self._endpoints: dict[str, list[Endpoint]] = {}
        self._known: dict[str, tuple[tuple[OpenWay, ...], tuple[Endpoint, ...]]] = {}

    def of(self, node: str) -> tuple[tuple[OpenWay, ...], tuple[Endpoint, ...]]:
        """The connections of a node and of all that it hosts, and their endpoints."""
        known = self._known.get(node)
        if known is None:
            written = self._by_node().get(node, ())
            found = tuple(one for connection in written for one in self._of(connection))
            known = self._known[node] = found, tuple(self._endpoints.get(node, ()))
        return known

    def _by_node(self) -> dict[str, list[Written]]:
        if self._written is None:
            self._written = {}
            for connection in connections(self._service.nodes):
                ends = (connection.source, connection.target)
                for name in dict.fromkeys(n for end in ends for n in (end.node, end.host) if n):
                    self._written.setdefault(name, []).append(connection)
            for one in exposed(self._service.nodes):
                self._endpoints.setdefault(one.host, []).append(self._endpoint(one.node, one.endpoint))
        return self._written

    def _of(self, written: Written) -> Iterator[OpenWay]:
        """One connection for each transport protocol."""
        context = Context(node=written.target.node)
        values = self._evaluated({"initiator": written.initiator, "secure": written.secure}, context)
        by_protocol: dict[str, tuple[list[Span], list[Span]]] = {}
        for ports in written.ports or (Ports(None),):
            # A port of the source alone is what its own endpoint says.
            of_source = ports.target is None and ports.source is not None
            said_by = Context(node=written.source.node) if of_source else context
            protocol, target, source = self._spans(ports, said_by)
            spans = by_protocol.setdefault(protocol, ([], []))
            spans[0].extend(target)
            spans[1].extend(source)
        for protocol, (targets, sources) in by_protocol.items():
            yield OpenWay(
                written.source.node,
                written.target.node,
                written.source.host,
                written.target.host,
                protocol,
                tuple(targets),
                tuple(sources),
                str(values.get("initiator") or "source"),
                values.get("secure") is True,
                written.relationship,
            )

    def _spans(self, ports: Ports, context: Context) -> tuple[str, list[Span], list[Span]]:
        values = self._evaluated({"protocol": ports.protocol, "source": ports.source, "target": ports.target}, context)
        protocol = str(values.get("protocol") or "tcp").lower()
        return CARRIED.get(protocol, "tcp"), _span(values.get("target")), _span(values.get("source"))

    def _endpoint(self, node: str, endpoint: Capability) -> Endpoint:
        context = Context(node=node)
        values = self._evaluated(
            {name: endpoint.properties.get(name) for name in ("network_name", "dns_name", "floating", "protocol")},
            context,
        )
        spans = [span for ports in ports_of(endpoint) for span in self._spans(ports, context)[1]]
        return Endpoint(
            node,
            endpoint.name,
            PUBLIC in endpoint.kinds,
            CARRIED.get(str(values.get("protocol")).lower(), "tcp"),
            tuple(dict.fromkeys(spans)),
            str(values.get("network_name") or ""),
            str(values.get("dns_name") or ""),
            values.get("floating") is True,
        )


def _span(value: object) -> list[Span]:
    """The first and the last port of a written port or range of ports."""
    if isinstance(value, list) and len(value) == 2:
        return [(int(str(value[0])), int(str(value[1])))]
    text = str(value)
    return [(int(text), int(text))] if text.isdecimal() else []


# Which Computes are not to share a machine, because a placement policy keeps what is on them apart.


PLACEMENT = "tosca.policies.Placement"
ANTI_AFFINITY = "anti_affinity"


def anti_affinity(service: Service) -> Mapping[str, frozenset[str]]:
    """By node template of a Compute, the templates whose instances must run on other machines than its own instances:
    other templates, or the template itself. A policy with `anti_affinity` keeps its targets on different machines
    (R-12-10)."""
    found: dict[str, frozenset[str]] = {}
    known: dict[str, str] = {}
    for policy in service.policies.values():
        if not _separates(policy):
            continue
        computes = frozenset(host for name in policy.nodes if (host := compute_of_node(service.nodes, name, known)))
        for name in computes:
            # One set for all of them, since a policy may name thousands.
            found[name] = found[name] | computes if name in found else computes
    return found


def _separates(policy: Policy) -> bool:
    """Whether a policy keeps its targets on different Computes; containers of other types do not concern machines."""
    kind = policy.properties.get(ANTI_AFFINITY)
    return PLACEMENT in policy.kinds and isinstance(kind, str) and kind.rpartition(".")[2] == "Compute"
