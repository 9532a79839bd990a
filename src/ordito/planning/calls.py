"""The calls of a plan: each operation once, with what runs it, what it must give back, and the digest that tells
whether it is still the same."""

from __future__ import annotations

import hashlib

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.instances.context import Context, EvaluationError, NeedsInstance, Nothing
from ordito.instances.entities import NodeEntity
from ordito.instances.evaluate import STATIC, Evaluator
from ordito.instances.lookup import INDEX
from ordito.model.service import Artifact, NodeTemplate, Operation, Relationship, Service
from ordito.planning.options import PlanOptions
from ordito.planning.referenced_outputs import referenced_outputs
from ordito.syntax.expressions import Call as FunctionCall
from ordito.syntax.expressions import Value, as_written, calls
from ordito.work.plan import DELEGATE, Call

SETTLE = Call("", "", "ordito", "settle")
"""What stands for the end of a chain of which everything was carried out already."""


class Calls:
    """The calls of one plan, in the order in which they are first asked for."""

    def __init__(self, service: Service, static: Evaluator, options: PlanOptions, diagnostics: Diagnostics) -> None:
        self._static = static
        self._options = options
        self._diagnostics = diagnostics
        self._outputs = referenced_outputs(service)
        self._known: dict[tuple[str, str, str, str], int] = {}
        self._refused: set[str] = set()
        self.all: list[Call] = []

    def of_node(self, node: NodeTemplate, interface: str, name: str, operation: Operation | None) -> int:
        """The number of the call of a node's operation; one without an implementation does nothing."""
        return self._of(node.name, "", interface, name, operation, Context(node=node.name))

    def of_relationship(self, relationship: Relationship, side: str, operation: Operation) -> int:
        """The number of the call of a relationship's operation at one side of it."""
        context = Context(relationship=relationship)
        return self._of(relationship.key, side, operation.interface, operation.name, operation, context)

    def of_provider(self, node: NodeTemplate, name: str) -> int:
        """The number of the call by which a provider is asked to make or to remove an instance."""
        key = (node.name, "", DELEGATE, name)
        if key not in self._known:
            capabilities = {c.name: dict(c.properties) for c in node.capabilities.values()}
            written: dict[str, Value] = {**node.properties, "": capabilities}  # type: ignore[dict-item]
            digest = digest_of({"kinds": node.kinds, "values": self._stable(written, Context(node=node.name))})
            declared = str(node.span) if node.span else ""
            self._add(key, Call(node.name, "", DELEGATE, name, digest=digest, declared=declared))
        return self._known[key]

    def nothing(self, node: NodeTemplate, interface: str, name: str) -> int:
        """The number of a call that does nothing and is not remembered."""
        key = (node.name, "nothing", interface, name)
        if key not in self._known:
            declared = str(node.span) if node.span else ""
            self._add(
                key,
                msgspec.structs.replace(
                    SETTLE, owner=node.name, interface=interface, operation=name, declared=declared
                ),
            )
        return self._known[key]

    def _of(
        self, owner: str, side: str, interface: str, name: str, operation: Operation | None, context: Context
    ) -> int:
        key = (owner, side, interface, name)
        known = self._known.get(key)
        if known is not None:
            return known
        if operation is None or operation.implementation is None:
            declared = str(operation.span) if operation and operation.span else ""
            return self._add(key, Call(owner, side, interface, name, digest=NO_OP_DIGEST, declared=declared))
        implementation = operation.implementation
        wanted = dict.fromkeys((*operation.outputs, *self._outputs.get((owner, interface, name), ())))
        call = Call(
            owner=owner,
            side=side,
            interface=interface,
            operation=name,
            artifact=implementation.file,
            processor=self._processor(implementation),
            dependencies=tuple(d.file for d in operation.dependencies),
            outputs=tuple(wanted),
            timeout=operation.timeout,
            digest=digest_of(self._carried_out(operation, context)),
            declared=str(operation.span) if operation.span else "",
        )
        return self._add(key, call)

    def _add(self, key: tuple[str, str, str, str], call: Call) -> int:
        self.all.append(call)
        self._known[key] = len(self.all) - 1
        return len(self.all) - 1

    def _processor(self, artifact: Artifact) -> str:
        """The nearest type of an implementation that some executor processes."""
        found = next((kind for kind in artifact.kinds if self._options.accepts((kind,))), "")
        if not found and artifact.file not in self._refused:
            self._refused.add(artifact.file)
            kind = artifact.kinds[0] if artifact.kinds else "unknown"
            self._diagnostics.error(
                "no-executor",
                f'no executor processes "{artifact.file}" (artifact type {kind})',
                artifact.span,
                hint="use an implementation that ends in .sh, .bash or .py, or give the artifact a type derived from"
                " tosca.artifacts.Implementation.Bash or .Python",
            )
        return found

    # -------------------------------------------------------------------------------------------------- digests

    def _carried_out(self, operation: Operation, context: Context) -> dict[str, object]:
        """Everything that decides what an operation does, as far as the documents say it."""
        assert operation.implementation is not None
        files = [operation.implementation, *operation.dependencies]
        return {
            "files": [(f.file, self._options.digests.get(f.file, "")) for f in files],
            "inputs": {i.name: self._stable(i.value, context) for i in operation.inputs.values() if i.has_value},
        }

    def _stable(self, value: Value, context: Context) -> object:
        """What of a value is known before anything exists: the value itself if it is static; else how it is written,
        with the static parts and the artifacts in it."""
        if isinstance(value, str | int | float) or value is None:
            return value
        inner = list(calls(value))
        if all(c.function in STATIC and INDEX not in c.arguments for c in inner):
            return self._evaluated(value, context)
        parts = [self._part(c, context) for c in inner]
        return {"written": as_written(value), "parts": [p for p in parts if p is not None]}

    def _part(self, call: FunctionCall, context: Context) -> object:
        if call.function == "get_artifact":
            return self._artifact_digest(call, context)
        if call.function == "get_input":
            return self._evaluated(FunctionCall("get_input", call.arguments[:1], call.span), context)
        if call.function == "get_property" and INDEX not in call.arguments:
            return self._evaluated(call, context)
        return None

    def _artifact_digest(self, call: FunctionCall, context: Context) -> str:
        name, artifact_name = str(call.arguments[0]), str(call.arguments[1])
        holder: NodeTemplate | Relationship | None = None
        entities = self._static.entities
        if name == "HOST":
            host = entities.host(NodeEntity(self._static.service.nodes[context.node])) if context.node else None
            holder = host.template if host else None
        elif name in self._static.service.nodes:
            holder = self._static.service.nodes[name]
        elif context.relationship is not None and name in {"SELF", "SOURCE", "TARGET"}:
            end = {"SOURCE": context.relationship.source, "TARGET": context.relationship.target}.get(name)
            holder = self._static.service.nodes[end] if end else context.relationship
        elif context.node:
            holder = self._static.service.nodes[context.node]
        artifact = holder.artifacts.get(artifact_name) if holder else None
        return self._options.digests.get(artifact.file, artifact.file) if artifact else ""

    def _evaluated(self, value: Value, context: Context) -> object:
        try:
            found = self._static.evaluate(value, context)
        except NeedsInstance:
            return self._by_instance(value)
        except EvaluationError as error:
            if str(error) not in self._refused:
                self._refused.add(str(error))
                self._diagnostics.error("bad-value", error.message, error.span, hint=error.hint)
            return None
        return ["nothing"] if isinstance(found, Nothing) else found

    def _by_instance(self, value: Value) -> object:
        """What stands for a value that differs from instance to instance through a property it refers to: how it is
        written, and all inputs, since any of them may be what the property reads by the instance's slot."""
        return [as_written(value), dict(self._static.inputs)]


def digest_of(data: object) -> str:
    """A digest of data, the same for equal data."""
    return hashlib.sha256(msgspec.json.encode(data, order="deterministic")).hexdigest()[:DIGEST_LENGTH]


DIGEST_LENGTH = 32
NO_OP_DIGEST = digest_of("nothing")
"""The digest of an operation without an implementation."""
