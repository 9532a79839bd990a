"""Artifacts that a node is deployed with (§3.6.7, §5.4): each is deployed by its own operation, as part of the node's
lifecycle.

An artifact with a ``deploy_path`` is copied there on the node's host. One of a deployment type (a package, an image)
without such a path is handled by a processor. Plain files without a path have no operation, and an artifact that
implements an operation is run by that operation.
"""

from __future__ import annotations

import msgspec

from ordito.model.operation import Artifact, Input, Interface, Operation
from ordito.model.service import ARTIFACT, STANDARD, NodeTemplate, Service
from ordito.syntax.expressions import Value

DEPLOYMENT = "tosca.artifacts.Deployment"
TEMPLATE = "tosca.artifacts.template"
PLACING = "ordito.placing"
"""Stands before the types of an artifact that is deployed, or removed again: it implements no operation. It is also
what copies such an artifact to its ``deploy_path``."""

INTERFACE = "artifact."
"""The interfaces of artifacts are called ``artifact.<name>``."""

DEPLOY, UNDEPLOY = "deploy", "undeploy"
DEPLOY_ON_HOST, UNDEPLOY_FROM_HOST = "deploy_on_host", "undeploy_from_host"
"""The operations for artifacts of a host itself, which must exist before."""


def with_deployment(service: Service) -> Service:
    """A service whose nodes have the interfaces of the artifacts that they are deployed with."""
    nodes = {name: _with_interfaces(node) for name, node in service.nodes.items()}
    if all(node is service.nodes[name] for name, node in nodes.items()):
        return service
    return msgspec.structs.replace(service, nodes=nodes)


def _with_interfaces(node: NodeTemplate) -> NodeTemplate:
    """A node with an interface for each artifact that is deployed; what exists already is deployed by others."""
    deployed = [a for a in node.artifacts.values() if a.kinds and (a.deploy_path or DEPLOYMENT in a.kinds)]
    if not deployed or node.existing:
        return node
    interfaces = {f"{INTERFACE}{a.name}": _interface(node, a) for a in deployed}
    return msgspec.structs.replace(node, interfaces={**node.interfaces, **interfaces})


def _interface(node: NodeTemplate, artifact: Artifact) -> Interface:
    name = f"{INTERFACE}{artifact.name}"
    deploy, undeploy = (DEPLOY_ON_HOST, UNDEPLOY_FROM_HOST) if node.is_compute else (DEPLOY, UNDEPLOY)
    deployed = msgspec.structs.replace(artifact, kinds=(PLACING, *artifact.kinds))
    made = Operation(name, deploy, deployed, inputs=_values(node, artifact), span=artifact.span)
    gone = Operation(name, undeploy, deployed, span=artifact.span)
    return Interface(name, (ARTIFACT,), {deploy: made, undeploy: gone})


def _values(node: NodeTemplate, artifact: Artifact) -> dict[str, Input]:
    """What a template that is put in place is filled with: the properties of its node."""
    if TEMPLATE not in artifact.kinds:
        return {}
    declared = node.definitions
    return {
        name: Input(name, declared[name].schema, has_value=True, value=value, metadata=declared[name].metadata)
        for name, value in node.properties.items()
    }


# Nodes that are made from an image, which stands where other nodes have a script: as the implementation of ``create``
# (the use cases of containers, §11.1.17 and §11.1.18).

IMAGE = "tosca.artifacts.Deployment.Image"
MACHINE_IMAGE = "tosca.artifacts.Deployment.Image.VM"


def is_image(operation: Operation) -> bool:
    """Whether an image implements an operation: it is not run; a container or machine is made from it."""
    return operation.implementation is not None and IMAGE in operation.implementation.kinds


def images_of(node: NodeTemplate) -> list[Artifact]:
    """The images from which a node could be made: only the one that implements its ``create``, or else all it has."""
    image = image_of_create(node)
    return [a for a in node.artifacts.values() if IMAGE in a.kinds] if image is None else [image]


def values_of_create(node: NodeTemplate) -> dict[str, Value]:
    """The values of the inputs of a node's ``create``, by name."""
    for interface in node.interfaces.values():
        create = interface.operations.get("create") if STANDARD in interface.kinds else None
        if create is not None:
            return {name: i.value for name, i in create.inputs.items() if i.has_value}
    return {}


def image_of_create(node: NodeTemplate) -> Artifact | None:
    """The image that a node is made from, where it implements its ``create``."""
    for interface in node.interfaces.values():
        create = interface.operations.get("create") if STANDARD in interface.kinds else None
        if create is not None and is_image(create):
            return create.implementation
    return None
