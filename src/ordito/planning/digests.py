"""Digests of what is carried out: everything that decides what an operation does, as far as the documents say it.

Values that only the running system knows count as they are written. What exists never changes a digest: static values
are evaluated without any instance, and what differs by slot with only the instance that it is for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.sensitive import Sensitive
from ordito.base.span import Span
from ordito.instances.context import Context, EvaluationError, NeedsInstance, Nothing
from ordito.instances.entities import NodeEntity
from ordito.instances.evaluate import STATIC, Evaluator
from ordito.instances.records import Delta, Instance, Snapshot
from ordito.instances.slots import SCALABLE
from ordito.model.artifacts import ANSIBLE
from ordito.model.deploying import PLACING, images_of, values_of_create
from ordito.model.operation import Artifact, Operation
from ordito.model.sensitivity import Mark, says_sensitive
from ordito.model.service import NodeTemplate, Relationship, Service
from ordito.syntax.expressions import Call, Value, as_written, calls

DIGEST_LENGTH = 32

VERSION, PLACE = "artifact_version", "deploy_path"
"""Keys among the files of an operation that say something about its implementation."""
TARGET = " -> "
"""The separator of a relationship and its target among the files of a digest."""
SETTING = "artifact::"
"""The prefix of the names of implementation properties among the inputs of an operation."""
OPENS = frozenset({"vault_password"})
"""Properties of playbooks that decrypt files, and do not change what is done with them."""


class Content(msgspec.Struct, frozen=True):
    """What is carried out: files with their digests, targets with their relationship types, values, and the context in
    which these are evaluated. ``spans`` are the places of values if they are known, ``marks`` say which parts are
    sensitive."""

    files: tuple[tuple[str, str], ...]
    values: Mapping[str, Value]
    context: Context
    spans: Mapping[str, Span] = {}
    marks: Mapping[str, Mark] = {}


class Digests:
    """Makes digests; what cannot be evaluated is reported, each error once."""

    def __init__(
        self,
        service: Service,
        inputs: Mapping[str, object],
        digests: Mapping[str, str],
        diagnostics: Diagnostics,
        key: Callable[[], bytes] = bytes,
        names: Mapping[str, str] | None = None,
        lost: frozenset[str] = frozenset(),
    ) -> None:
        """``lost`` are nodes that are removed, so that nothing is carried out with them any more."""
        self._service = service
        self._lost = lost
        self._inputs = dict(inputs)
        self._digests = digests
        self._names = names or {}
        self._diagnostics = diagnostics
        self._contents: dict[int, Content] = {}
        self._targets: dict[str, tuple[tuple[str, str], ...]] = {}
        self._reported: set[str] = set()
        self._by_slot = False
        self._key = key
        self._everywhere = Evaluator(service, Snapshot(), inputs)

    def content(self, operation: Operation, context: Context) -> Content:
        """What an operation with an implementation carries out."""
        shared = self._contents.get(id(operation))
        if shared is None:
            shared = self._contents[id(operation)] = self._shared(operation)
        if not context.node:
            return msgspec.structs.replace(shared, context=context)
        # An operation of a node was carried out beside what the node requires; other targets are another form.
        targets = self._targets.get(context.node)
        if targets is None:
            required = self._service.nodes[context.node].requirements
            left = [r for r in required if r.target not in self._lost] if self._lost else required
            targets = tuple(sorted([(f"{r.key}{TARGET}{r.target}.{r.capability}", r.type) for r in left]))
            self._targets[context.node] = targets
        return Content((*shared.files, *targets), shared.values, context, shared.spans, shared.marks)

    def _shared(self, operation: Operation) -> Content:
        """What an operation carries out wherever it is called: templates of one type share its operations."""
        assert operation.implementation is not None
        files = self._files(operation)
        given = [i for i in operation.inputs.values() if i.has_value]
        values = {i.name: i.value for i in given} | _settings(operation.implementation)
        spans = {i.name: i.span for i in given if i.span is not None}
        by = self._everywhere.marks.by
        marks = {i.name: mark for i in given if (mark := by(i.schema, i.metadata)) is not None}
        return Content(tuple(files), values, Context(), spans, marks)

    def _files(self, operation: Operation) -> list[tuple[str, str]]:
        """The files of an operation with their digests, by the names under which they are deployed."""
        assert operation.implementation is not None
        files = [f.file for f in (operation.implementation, *operation.dependencies)]
        found = [(self._names.get(file, file), self._digests.get(file, "")) for file in files]
        version, path = operation.implementation.version, operation.implementation.deploy_path
        found += [(VERSION, version)] if version else []
        return found + ([(PLACE, path)] if path and PLACING in operation.implementation.kinds else [])

    def of_step(self, config: Mapping[str, Value], context: Context, more: list[object]) -> str:
        """The digest of a lifecycle step: of its config, and of ``more``."""
        values = {name: self._stable(value, context, self._everywhere) for name, value in config.items()}
        return self._digest([values, more])

    def of_written(self, operation: Operation, values: Mapping[str, Value], more: list[object]) -> str:
        """The digest of an operation that a workflow calls with inputs of its own: of these inputs as written, and of
        ``more``."""
        assert operation.implementation is not None
        files = self._files(operation)
        everything = {**values, **_settings(operation.implementation)}
        return self._digest([files, {name: as_written(value) for name, value in everything.items()}, more])

    def provided(self, node: NodeTemplate) -> Content:
        """What a provider is asked to create. The number of instances says nothing about any one of them, and is left
        out."""
        values = dict(node.properties)
        definitions = dict(node.definitions)
        for capability in node.capabilities.values():
            if SCALABLE in capability.kinds:
                continue
            values |= {f"{capability.name}::{name}": value for name, value in capability.properties.items()}
            definitions |= {f"{capability.name}::{name}": d for name, d in capability.definitions.items()}
        whole, of = says_sensitive(node.metadata), self._everywhere.marks.of
        found = {n: Mark(whole=True) if whole else of(definitions.get(n)) for n in values}
        marks = {name: mark for name, mark in found.items() if mark is not None}
        files = [(kind, "") for kind in node.kinds]
        for image in images_of(node):
            files.append((self._names.get(image.file, image.file), self._digests.get(image.file, image.address)))
            values |= {f"create::{name}": value for name, value in values_of_create(node).items()}
        return Content(tuple(files), values, Context(node=node.name), marks=marks)

    def of_artifact(self, artifact: Artifact) -> str:
        """What represents the content of an artifact: its digest if that is known."""
        file = self._names.get(artifact.file, artifact.file)
        return self._digests.get(artifact.file, "") or file or artifact.address

    def of(self, content: Content) -> tuple[str, bool]:
        """The digest of what is carried out for every instance, and whether it differs by slot."""
        self._by_slot = False
        values = self.values(content)
        return self._digest([content.files, values]), self._by_slot

    def values(self, content: Content) -> dict[str, object]:
        """The values of what is carried out for every instance: equal as long as they mean the same."""
        return self._values(content, content.context, self._everywhere)

    def _values(self, content: Content, context: Context, evaluator: Evaluator) -> dict[str, object]:
        found = {n: self._stable(v, context, evaluator) for n, v in content.values.items()}
        for name, mark in content.marks.items():
            found[name] = self._everywhere.marks.wrap(found[name], mark)
        return found

    def at(self, content: Content, near: tuple[Instance, ...], far: tuple[Instance, ...]) -> str:
        """The digest of what is carried out for one instance, or one pair: ``near`` and ``far`` are the instances that
        it is for, each with its hosts."""
        snapshot = Snapshot()
        snapshot.apply(Delta(instances=(*far, *near)))
        context = content.context
        if context.relationship is None:
            context = Context(node=context.node, instance=near[0].id)
        else:
            ends = {i.node: i.id for i in (*far[:1], *near[:1])}
            source, target = context.relationship.source, context.relationship.target
            context = Context(
                relationship=context.relationship, source=ends.get(source, ""), target=ends.get(target, "")
            )
        here = Evaluator(self._service, snapshot, self._inputs)
        return self._digest([content.files, self._values(content, context, here)])

    def _digest(self, data: object) -> str:
        """A digest of data. Sensitive values are represented by keyed digests, so that nobody can find them by
        trying."""
        return digest_of(data, self._hidden)

    def _hidden(self, value: object) -> object:
        if isinstance(value, Sensitive):
            return ["sensitive", value.digest(self._key())]
        raise NotImplementedError(f"objects of type {type(value).__name__} have no digest")

    def _stable(self, value: Value, context: Context, evaluator: Evaluator) -> object:
        """The value itself if it is static; else how it is written, with its static parts and artifacts evaluated."""
        if isinstance(value, str | int | float) or value is None:
            return value
        inner = list(calls(value))
        if all(c.function in STATIC for c in inner):
            return self._evaluated(value, context, evaluator)
        parts = [self._part(c, context, evaluator) for c in inner]
        return {"written": as_written(value), "parts": [p for p in parts if p is not None]}

    def _part(self, call: Call, context: Context, evaluator: Evaluator) -> object:
        if call.function == "get_artifact":
            return self._artifact(call, context)
        if call.function in {"get_input", "get_property"}:
            return self._evaluated(call, context, evaluator)
        return None

    def _artifact(self, call: Call, context: Context) -> str:
        name, artifact_name = str(call.arguments[0]), str(call.arguments[1])
        holder: NodeTemplate | Relationship | None = None
        nodes = self._service.nodes
        if name == "HOST":
            host = self._everywhere.entities.host(NodeEntity(nodes[context.node])) if context.node else None
            holder = host.template if host else None
        elif name in nodes:
            holder = nodes[name]
        elif context.relationship is not None:
            end = {"SOURCE": context.relationship.source, "TARGET": context.relationship.target}.get(name)
            holder = nodes[end] if end else context.relationship
        elif context.node:
            holder = nodes[context.node]
        artifact = holder.artifacts.get(artifact_name) if holder else None
        return self._digests.get(artifact.file, artifact.file) if artifact else ""

    def _evaluated(self, value: Value, context: Context, evaluator: Evaluator) -> object:
        try:
            found = evaluator.evaluate(value, context)
        except NeedsInstance:
            # Whatever it reads by a slot comes from the inputs.
            self._by_slot = True
            by_slot = evaluator is self._everywhere
            return [as_written(value)] if by_slot else [as_written(value), self._inputs]
        except EvaluationError as error:
            if str(error) not in self._reported:
                self._reported.add(str(error))
                self._diagnostics.error("bad-value", error.message, error.span, hint=error.hint)
            return None
        return ["nothing"] if isinstance(found, Nothing) else found


def _settings(implementation: Artifact) -> dict[str, Value]:
    """The properties of an implementation that decide what it does."""
    left_out = OPENS if ANSIBLE in implementation.kinds else frozenset[str]()
    return {f"{SETTING}{n}": value for n, value in implementation.properties.items() if n not in left_out}


def digest_of(data: object, hook: Callable[[object], object] | None = None) -> str:
    """A digest of data, equal for equal data; ``hook`` converts what is not plain data."""
    return hashlib.sha256(msgspec.json.encode(data, enc_hook=hook, order="deterministic")).hexdigest()[:DIGEST_LENGTH]


NO_OP_DIGEST = digest_of("nothing")
"""The digest of an operation without an implementation."""
