"""What a script of a blueprint may read through ``ctx``: a document that is put beside it, as JSON.

What it changes comes back with its outputs (``executors/result_files.py``), so that nothing has to listen meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.masking import Masking
from ordito.base.sensitive import revealed, sensitive_parts
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.instances.hosting import compute_of, far_ends
from ordito.instances.records import Snapshot
from ordito.model.operation import Artifact
from ordito.model.service import NodeTemplate, Relationship, Service
from ordito.syntax.expressions import Value
from ordito.work.invocation import Launch
from ordito.work.places import ExecutionPlace
from ordito.work.plan import OperationCall, Plan

CONTEXT = "ORDITO_CONTEXT"
"""The variable that names the document."""

SERVICE = "ORDITO_SERVICE"
"""The variable that names the folder of the blueprint's main file."""

PROCESS = "process"
"""The input that says how a script is started, and is none of its variables."""

OF_FABRIC = (
    *("fabric_env", "script_path", "commands", "use_sudo", "hide_output"),
    "non_recoverable_error_exit_codes",
)
"""The inputs of what fabric runs that are none of its variables."""

DEPLOYMENT = "cloudify.artifacts.Deployment"
"""The type of what is done with another service that stands for a node."""

LIFECYCLE = "cloudify.interfaces.relationship_lifecycle"
SIDES = ("source", "target")
WORKFLOWS = {"deploy": "install", "undeploy": "uninstall", "upgrade": "update", "run": "execute_operation"}
BELOW = ("cloudify.base.", "tosca.")
"""How the names of types begin that no blueprint knows."""

TAGS = "resource_tags."
"""How the metadata of a service begin that are tags of its resources."""

POLLED = frozenset({"get_state"})
"""Operations that are asked again until their result is true."""

ADDRESSES = ("ip", "private_address", "public_address")
EXPLICIT_RETRIES = 60


class OwnProgram(msgspec.Struct, frozen=True):
    """How a script calls this program itself, for services that stand for nodes: the words of the command, and the
    directory of the ensemble."""

    words: tuple[str, ...]
    directory: str


class ScriptContexts:
    """Makes the documents of a job's scripts."""

    def __init__(
        self,
        service: Service,
        snapshot: Snapshot,
        evaluator: Evaluator,
        masking: Masking,
        deployment: str,
        job: str,
        program: OwnProgram | None = None,
    ) -> None:
        self._program = program
        self._service = service
        self._snapshot = snapshot
        self._evaluator = evaluator
        self._masking = masking
        self._deployment = deployment
        self._job = job

    def document(
        self,
        plan: Plan,
        place: ExecutionPlace,
        call: OperationCall,
        attempt: int,
        inputs: Mapping[str, object],
        implementation: Artifact,
    ) -> str:
        """The document of one operation, with its ``inputs``, and what is carried out if that is no file. It may hold
        secrets."""
        relationship = place.relationship
        found: dict[str, object] = {
            "deployment": {"id": self._deployment, "name": self._deployment, "resource_tags": self._tags()},
            "blueprint": {"id": self._service.name},
            "execution_id": self._job,
            "workflow_id": WORKFLOWS.get(plan.workflow, plan.workflow),
            "operation": {
                "name": f"{written_interface(call)}.{call.operation}",
                "retry_number": attempt - 1,
                "max_retries": call.attempts - 1 if call.attempts else EXPLICIT_RETRIES,
            },
            "polls": call.operation in POLLED,
            "inputs": {name: value for name, value in inputs.items() if name != PROCESS},
            "text": implementation.properties.get("text"),
        }
        if self._program is not None and implementation.kinds[0] == DEPLOYMENT:
            found["program"] = {"words": list(self._program.words), "directory": self._program.directory}
        if relationship is None:
            found["instance"] = self._instance(place.instance, related=True)
        else:
            ends = (relationship.source, place.source), (relationship.target, place.target)
            for side, (node, instance) in zip(SIDES, ends, strict=True):
                found[side] = self._instance(instance, related=True) if instance else self._node_alone(node)
        self._masking.know(sensitive_parts(found))
        return msgspec.json.encode(revealed(found)).decode()

    def _tags(self) -> dict[str, str]:
        """The tags of resources that the blueprint names."""
        about = self._service.metadata
        return {name.removeprefix(TAGS): value for name, value in about.items() if name.startswith(TAGS)}

    def _instance(self, instance: str, *, related: bool) -> dict[str, object]:
        """A node and one of its instances."""
        record = self._snapshot.instances[instance]
        template = self._service.nodes[record.node]
        about: dict[str, object] = {
            "id": record.id,
            "index": record.index + 1,
            "host_ip": self._host_address(instance),
            "runtime_properties": self._runtime_properties(instance),
        }
        if related:
            about["relationships"] = [
                self._related(relationship, far)
                for relationship in template.requirements
                for far in far_ends(self._snapshot, relationship, "source", record)
            ]
        return {"node": self._node(template, Context(node=template.name, instance=instance)), "instance": about}

    def _related(self, relationship: Relationship, far: str) -> dict[str, object]:
        found: dict[str, object] = {
            "type": relationship.type,
            "type_hierarchy": hierarchy(relationship.kinds),
            "properties": self._values(relationship.properties, Context(relationship=relationship)),
        }
        return {**found, "target": self._instance(far, related=False)}

    def _node_alone(self, name: str) -> dict[str, object]:
        return {"node": self._node(self._service.nodes[name], Context(node=name)), "instance": None}

    def _node(self, template: NodeTemplate, context: Context) -> dict[str, object]:
        return {
            "id": template.name,
            "name": template.name,
            "type": template.type,
            "type_hierarchy": hierarchy(template.kinds),
            "properties": self._values(template.properties, context),
        }

    def _values(self, written: Mapping[str, Value], context: Context) -> dict[str, object]:
        """The present values of properties; null for one that has none now."""
        found: dict[str, object] = {}
        for name, value in written.items():
            try:
                given = self._evaluator.evaluate(value, context)
            except EvaluationError:
                given = None
            found[name] = None if isinstance(given, Nothing) else given
        return found

    def _runtime_properties(self, instance: str) -> dict[str, object]:
        recorded = self._snapshot.attributes.get(instance, {})
        return {name: value for name, value in recorded.items() if value is not None and "::" not in name}

    def _host_address(self, instance: str) -> object:
        """The address of the host of an instance: what an operation has set, or the property, else what its provider
        knows; None where there is none."""
        host = compute_of(self._service, self._snapshot, instance)
        if not host:
            return None
        template = self._service.nodes[self._snapshot.instances[host].node]
        known = self._runtime_properties(host)
        written = self._values({"ip": template.properties.get("ip")}, Context(node=template.name, instance=host))
        return known.get("ip") or written["ip"] or next((known[name] for name in ADDRESSES if known.get(name)), None)


def hierarchy(kinds: tuple[str, ...]) -> list[str]:
    """The names of a type and its ancestors that a blueprint knows, the eldest first."""
    return [kind for kind in reversed(kinds) if not kind.startswith(BELOW)]


def written_interface(call: OperationCall) -> str:
    """What the interface of a call is named in its blueprint (``lowering.cloudify.operations.interface_name``)."""
    if call.side and call.interface == call.side:
        return LIFECYCLE
    return call.interface.removesuffix(f"@{call.side}") if call.side else call.interface


def launch_of(process: object) -> tuple[Launch, dict[str, str]]:
    """How the input ``process`` says that a script is started, and the variables that it adds."""
    given = process if isinstance(process, Mapping) else {}
    arguments, variables = given.get("args") or [], given.get("env") or {}
    return (
        Launch(
            tuple(_text(a) for a in (arguments if isinstance(arguments, list) else [arguments])),
            tuple(str(given.get("command_prefix") or "").split()),
            str(given.get("cwd") or ""),
        ),
        {str(name): _text(value) for name, value in variables.items()} if isinstance(variables, Mapping) else {},
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
