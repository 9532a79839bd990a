"""Which artifacts of a node are deployed by operations of their own (§5.4), and that nobody passes one over."""

from __future__ import annotations

from ordito.base.diagnostics import Diagnostics
from ordito.model.operation import Artifact, Operation
from ordito.model.service import ARTIFACT, NodeTemplate
from ordito.planning.calls import Calls
from ordito.syntax.expressions import calls as calls_in


def is_deployed(
    node: NodeTemplate, operation: Operation, calls: Calls, diagnostics: Diagnostics, *, taken: bool
) -> bool:
    """Whether an artifact of a node is deployed by an operation of its own. It is not where the provider of the node
    has ``taken`` it, nor where no processor takes it and an operation of the template does; where nobody does, that is
    an error."""
    artifact = operation.implementation
    assert artifact is not None
    if taken and not node.is_compute:
        return False
    if calls.deploying(artifact):
        return True
    if not taken and not is_used(node, artifact):
        version = f", version {artifact.version}" if artifact.version else ""
        diagnostics.error(
            "no-processor",
            f'there is no processor for artifact "{artifact.name}" of node "{node.name}", which is of type '
            f"{artifact.kinds[1]}{version}",
            artifact.span or node.span,
            hint="give it a deploy_path to have the file put there, name it among the dependencies of an operation,"
            " implement create, or install a processor (docs/plugins.md)",
        )
    return False


def is_used(node: NodeTemplate, artifact: Artifact) -> bool:
    """Whether an operation of a node does something with an artifact of it: ``create``, whose business it is, or one
    that names it."""
    own = (interface for interface in node.interfaces.values() if ARTIFACT not in interface.kinds)
    return any(
        operation.name == "create" or _names(operation, artifact)
        for interface in own
        for operation in interface.operations.values()
        if operation.implementation is not None
    )


def _names(operation: Operation, artifact: Artifact) -> bool:
    if any(dependency.file == artifact.file for dependency in operation.dependencies):
        return True
    found = (call for given in operation.inputs.values() for call in calls_in(given.value))
    return any(call.function == "get_artifact" and call.arguments[1] == artifact.name for call in found)
