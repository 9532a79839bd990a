"""Nodes that are made from an image, which stands where other nodes have a script: as the implementation of ``create``
(the use cases of containers, §11.1.17 and §11.1.18)."""

from __future__ import annotations

from ordito.model.operation import Artifact, Operation
from ordito.model.service import STANDARD, NodeTemplate
from ordito.syntax.expressions import Value

IMAGE = "tosca.artifacts.Deployment.Image"
MACHINE_IMAGE = "tosca.artifacts.Deployment.Image.VM"


def is_image(operation: Operation) -> bool:
    """Whether an image implements an operation: nothing runs it, something is made from it."""
    return operation.implementation is not None and IMAGE in operation.implementation.kinds


def images_of(node: NodeTemplate) -> list[Artifact]:
    """The images that a node could be made from: the one that implements its ``create``, alone, else all it has."""
    image = image_of_create(node)
    return [a for a in node.artifacts.values() if IMAGE in a.kinds] if image is None else [image]


def values_of_create(node: NodeTemplate) -> dict[str, Value]:
    """What is given to the ``create`` of a node, by name."""
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
