"""What a processor of artifacts is told (§13.2): plain data about the artifact, and about what it is for."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.model.deploying import DEPLOY, DEPLOY_ON_HOST, INTERFACE, PLACING, UNDEPLOY, UNDEPLOY_FROM_HOST
from ordito.model.operation import Artifact
from ordito.work.needs import JINJA, filled_name
from ordito.work.places import ExecutionPlace
from ordito.work.plan import OperationCall

FORMAT = "ordito.artifact-call/1"
RUN = "run"
LEFT = "leave"
"""The verb for an artifact that stays at its place, since another instance on the same machine uses it there."""

VERBS = {DEPLOY: DEPLOY, DEPLOY_ON_HOST: DEPLOY, UNDEPLOY: UNDEPLOY, UNDEPLOY_FROM_HOST: UNDEPLOY}


def place_of(artifact: Artifact) -> str:
    """Where an artifact is put: its path, or its own name in that folder, which for a template is the name of the
    rendered file; "" if no place is named."""
    path, file = artifact.deploy_path, artifact.file
    if not path.endswith("/"):
        return path
    return path + (filled_name(file) if JINJA in artifact.kinds else file.rpartition("/")[2])


def artifact_data(
    call: OperationCall,
    place: ExecutionPlace,
    artifact: Artifact,
    properties: Mapping[str, object],
    inputs: Mapping[str, object],
    job: str,
    attempt: int,
) -> dict[str, object]:
    """What is told of one call: ``verb`` is ``run`` for what implements an operation, ``deploy`` and ``undeploy`` for
    an artifact that its node is deployed with."""
    is_deployed = call.interface.startswith(INTERFACE) and PLACING in artifact.kinds
    relationship = place.relationship
    return {
        "format": FORMAT,
        "verb": VERBS[call.operation] if is_deployed else RUN,
        "artifact": {
            "name": artifact.name,
            "types": [kind for kind in artifact.kinds if kind != PLACING],
            "file": artifact.file,
            "repository": artifact.repository,
            "version": artifact.version,
            "mime_type": artifact.mime_type,
            "deploy_path": artifact.deploy_path,
            "properties": dict(properties),
        },
        "deploy_path": place_of(artifact),
        "operation": call.name,
        "node": place.node,
        "instance": place.instance,
        "relationship": relationship.key if relationship is not None else "",
        "far": place.far,
        "inputs": dict(inputs),
        "outputs": list(call.outputs),
        "job": job,
        "attempt": attempt,
    }
