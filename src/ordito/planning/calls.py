"""The calls of a plan: each operation once, with what runs it, which outputs it must return, and the digest that tells
whether it is unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Span
from ordito.instances.context import Context
from ordito.instances.lifecycle import DELEGATE
from ordito.instances.records import Instance
from ordito.model.artifacts import ANSIBLE
from ordito.model.deploying import IMAGE, PLACING, TEMPLATE
from ordito.model.imperative import Activity
from ordito.model.operation import Artifact, Operation
from ordito.model.service import NodeTemplate, Relationship, Service
from ordito.model.settings import ASSUME_ENDED, FAIL, NO_SETTINGS, Settings
from ordito.planning.digests import NO_OP_DIGEST, Content, Digests
from ordito.planning.options import PlanOptions
from ordito.planning.referenced_outputs import referenced_outputs
from ordito.work.activities import Written
from ordito.work.given_helpers import given_to
from ordito.work.needs import JINJA
from ordito.work.plan import ARTIFACTS, SCRIPTS, OperationCall, Scope

SETTLE = OperationCall("", "", "ordito", "settle")
"""The operation that stands for the end of a chain whose operations were all carried out already."""

Key = tuple[object, ...]


NO_EXECUTOR = (
    "use an implementation that ends in .sh, .bash or .py, or give the artifact a type derived from"
    " tosca.artifacts.Implementation.Bash or .Python, or install a processor for its type (docs/plugins.md)"
)
NO_IMAGE = (
    "an image is what a provider makes a node from: a container one of nodes derived from"
    " tosca.nodes.Container.Application. For other nodes name a provider that does, or implement create otherwise"
)
NO_ANSIBLE = (
    "it is an Ansible playbook, and ansible-playbook is not installed: pip install 'ordito[ansible]', or name it by the"
    " variable ORDITO_ANSIBLE_PLAYBOOK"
)


class Calls:
    """The calls that one form of the service declares, in the order in which they are first asked for. ``scopes`` are
    those of the plan, ``asking`` the places of files that ask for a version of their interpreter, ``form`` is the mark
    of these calls. ``every`` are the calls of the plan so far: those of all forms are numbered in one list."""

    def __init__(
        self,
        service: Service,
        digests: Digests,
        options: PlanOptions,
        diagnostics: Diagnostics,
        scopes: Sequence[Scope] = (),
        *,
        form: str = "",
        every: list[OperationCall] | None = None,
    ) -> None:
        self._service = service
        self._form = form
        self.scopes = scopes
        self._digests = digests
        self._options = options
        self._diagnostics = diagnostics
        self._outputs = referenced_outputs(service)
        self._known: dict[Key, int] = {}
        self._places: dict[int, tuple[str, Span]] = {}
        self._contents: dict[int, Content] = {}
        self._by_slot: dict[int, Content] = {}
        self._at_slots: dict[tuple[int, tuple[str, ...]], int] = {}
        # Templates of one type share its operations, which live as long as the service.
        self._implemented: dict[int, OperationCall] = {}
        self._refused: set[str] = set()
        self.asking: dict[tuple[str, str], Span | None] = {}
        self.all: list[OperationCall] = [] if every is None else every

    def of_node(
        self,
        node: NodeTemplate,
        interface: str,
        name: str,
        operation: Operation | None,
        *,
        wanted: Iterable[str] = (),
    ) -> int:
        """The number of the call of a node's operation; one without an implementation does nothing. ``wanted`` are
        variables to return in addition to those that are referred to."""
        return self._of(node.name, "", interface, name, operation, Context(node=node.name), wanted)

    def of_relationship(self, relationship: Relationship, side: str, operation: Operation) -> int:
        """The number of the call of a relationship's operation at one side of it."""
        context = Context(relationship=relationship)
        return self._of(relationship.key, side, operation.interface, operation.name, operation, context)

    def that_tells(self, relationship: Relationship, side: str, operation: Operation) -> int:
        """The number of the call of an operation that notifies one side of a relationship of changes at the other. The
        record keeps what was told, not that it was called."""
        number = self.of_relationship(relationship, side, operation)
        self._by_slot.pop(number, None)
        self.all[number] = msgspec.structs.replace(self.all[number], digest="")
        return number

    def of_provider(self, node: NodeTemplate, name: str) -> int:
        """The number of the call by which a provider is asked to create or to remove an instance."""
        key = (node.name, "", DELEGATE, name)
        if key not in self._known:
            declared = str(node.span) if node.span else ""
            call = OperationCall(node.name, "", DELEGATE, name, declared=declared)
            self._add(key, _with_settings(call, node.settings), self._digests.provided(node))
        return self._known[key]

    def of_reaching(self, node: NodeTemplate) -> int:
        """The number of the call by which a host is waited for."""
        return self._asked(node, "reach")

    def of_moving(self, node: NodeTemplate, name: str) -> int:
        """The number of the call by which a provider is asked to stop or to start what it has created; the record does
        not keep that it did."""
        number = self._asked(node, name)
        self.all[number] = msgspec.structs.replace(self.all[number], digest="")
        return number

    def of_looking(self, node: NodeTemplate) -> int:
        """The number of the call that finds out how an instance is for which no operation does so."""
        return self._asked(node, "look")

    def _asked(self, node: NodeTemplate, name: str) -> int:
        """The number of the call of something that is done for an instance although its template declares nothing of
        it."""
        key = (node.name, "", DELEGATE, name)
        if key not in self._known:
            timeout = node.settings.reach if name == "reach" else None
            declared = str(node.span) if node.span else ""
            call = OperationCall(node.name, "", DELEGATE, name, timeout=timeout, digest=NO_OP_DIGEST, declared=declared)
            self._add(key, _with_settings(call, node.settings))
        return self._known[key]

    def nothing(self, node: NodeTemplate, interface: str, name: str) -> int:
        """The number of a call that does nothing and that no record keeps."""
        key = (node.name, "nothing", interface, name)
        if key not in self._known:
            declared = str(node.span) if node.span else ""
            self._add(key, OperationCall(node.name, "", interface, name, declared=declared))
        return self._known[key]

    def of_activity(
        self,
        owner: NodeTemplate | Relationship,
        side: str,
        operation: Operation,
        activity: Activity,
        written: Written,
        scope: int,
        wanted: tuple[str, ...] = (),
    ) -> int:
        """The number of the call of an operation by an activity; ``written`` is the activity's place in the service. It
        is the template's own call if neither the activity nor its scope has inputs and the workflow has no outputs
        (``wanted``)."""
        scoped = scope >= 0 and bool(self.scopes[scope].inputs or self.scopes[scope].activity)
        if not activity.inputs and not scoped and not wanted:
            if isinstance(owner, Relationship):
                return self.of_relationship(owner, side, operation)
            return self.of_node(owner, operation.interface, operation.name, operation)
        name = owner.key if isinstance(owner, Relationship) else owner.name
        place = written if activity.inputs else ()
        key = (name, side, operation.interface, operation.name, place, scope, wanted)
        if key not in self._known:
            context = Context(relationship=owner) if isinstance(owner, Relationship) else Context(node=owner.name)
            call = self._call(name, side, operation.interface, operation.name, operation, context, wanted)
            with_own = {n: i.value for n, i in operation.inputs.items() if i.has_value} | dict(activity.inputs)
            scopes = [*self._scopes_of(scope)]
            digest = self._digests.of_written(operation, with_own, scopes) if operation.implementation else NO_OP_DIGEST
            self._add(key, msgspec.structs.replace(call, activity=place, scope=scope, digest=digest))
        return self._known[key]

    def _scopes_of(self, scope: int) -> Iterator[object]:
        while scope >= 0:
            yield self.scopes[scope].inputs
            yield list(self.scopes[scope].activity)
            scope = self.scopes[scope].outer

    def put(self, call: OperationCall) -> int:
        """The number of a call that is shared with nothing else."""
        self.all.append(self._marked(call))
        return len(self.all) - 1

    def put_once(self, key: Key, call: OperationCall) -> int:
        """The number of a call that is found by a key of its own."""
        if key not in self._known:
            self._known[key] = self.put(call)
        return self._known[key]

    def bare(self, owner: NodeTemplate | Relationship, side: str, interface: str, name: str) -> int:
        """The number of a call for something that the job does itself and that no record keeps."""
        named = owner.key if isinstance(owner, Relationship) else owner.name
        key = (named, side, "", interface, name)
        if key not in self._known:
            declared = self._place(owner.span)
            self._add(key, OperationCall(named, side, interface, name, declared=declared))
        return self._known[key]

    def _of(
        self,
        owner: str,
        side: str,
        interface: str,
        name: str,
        operation: Operation | None,
        context: Context,
        more: Iterable[str] = (),
    ) -> int:
        key = (owner, side, interface, name)
        known = self._known.get(key)
        if known is not None:
            return known
        call = self._call(owner, side, interface, name, operation, context, more)
        if operation is None or operation.implementation is None:
            return self._add(key, msgspec.structs.replace(call, digest=NO_OP_DIGEST))
        return self._add(key, call, self._digests.content(operation, context))

    def _call(
        self,
        owner: str,
        side: str,
        interface: str,
        name: str,
        operation: Operation | None,
        context: Context,
        more: Iterable[str],
    ) -> OperationCall:
        """The call of an operation, without a digest."""
        if operation is None or operation.implementation is None:
            return OperationCall(
                owner, side, interface, name, declared=self._place(operation.span) if operation else ""
            )
        shared = self._implemented.get(id(operation))
        if shared is None:
            shared = self._implemented[id(operation)] = self._shared(operation, operation.implementation)
        referred = self._outputs.get((owner, interface, name), ())
        outputs = tuple(dict.fromkeys((*shared.outputs, *referred, *more))) if referred or more else shared.outputs
        call = OperationCall(
            owner,
            side,
            interface,
            name,
            shared.artifact,
            shared.processor,
            shared.dependencies,
            outputs,
            shared.timeout,
            declared=shared.declared,
            version=shared.version,
            holds_far=shared.holds_far and bool(side),
        )
        return _with_settings(call, self._settings(context, side, name))

    def _shared(self, operation: Operation, implementation: Artifact) -> OperationCall:
        """The call of an operation, the same for everything that calls it."""
        for dependency in operation.dependencies:
            self._check_template(dependency)
        processor = self._processor(implementation)
        self._note_version(implementation, processor)
        return OperationCall(
            owner="",
            side="",
            interface=operation.interface,
            operation=operation.name,
            artifact=implementation.file,
            processor=processor,
            dependencies=tuple(d.file for d in operation.dependencies),
            outputs=tuple(operation.outputs),
            timeout=operation.timeout,
            declared=self._place(operation.span),
            version=implementation.version if PLACING not in implementation.kinds else "",
            holds_far=given_to(implementation) is not None,
        )

    def _settings(self, context: Context, side: str, operation: str) -> Settings:
        """The settings of the node in whose chain an operation runs."""
        relationship = context.relationship
        if relationship is None:
            return self._service.nodes[context.node].settings
        # The operations of pairs belong to the chain of the source, as do those on its own side.
        of_target = side == "target" and operation.startswith(("pre_", "post_"))
        return self._service.nodes[relationship.target if of_target else relationship.source].settings

    def _place(self, span: Span | None) -> str:
        """A place as text; operations that a type declares are those of all its templates."""
        if span is None:
            return ""
        known = self._places.get(id(span))
        if known is None:
            # The span is kept with it, so that its identity stays its own.
            known = self._places[id(span)] = (str(span), span)
        return known[0]

    def content(self, number: int) -> Content | None:
        """What a call carries out, None for nothing; for a call that differs by instance, what it is without the
        instance."""
        return self._contents.get(number)

    @property
    def differ_by_slot(self) -> bool:
        """Whether what any call carries out differs from slot to slot."""
        return bool(self._by_slot)

    def is_by_slot(self, number: int) -> bool:
        """Whether what a call carries out differs from slot to slot."""
        return number in self._by_slot

    def for_instance(self, number: int, near: tuple[Instance, ...], far: tuple[Instance, ...] = ()) -> int:
        """The number of a call as it is for one instance, or one pair: the same for all of them unless the call differs
        by slot. ``near`` and ``far`` are the instances, each with its hosts."""
        content = self._by_slot.get(number)
        if content is None:
            return number
        key = (number, tuple(i.id for i in (*near, *far)))
        known = self._at_slots.get(key)
        if known is None:
            self.all.append(msgspec.structs.replace(self.all[number], digest=self._digests.at(content, near, far)))
            known = self._at_slots[key] = len(self.all) - 1
        return known

    def _add(self, key: Key, call: OperationCall, content: Content | None = None) -> int:
        number = self._known[key] = len(self.all)
        if content is not None:
            self._contents[number] = content
            digest, by_slot = self._digests.of(content)
            call = msgspec.structs.replace(call, digest=digest)
            if by_slot:
                self._by_slot[number] = content
        self.all.append(self._marked(call))
        return number

    def _marked(self, call: OperationCall) -> OperationCall:
        if not self._form or call.form:
            return call
        return msgspec.structs.replace(call, form=self._form)

    def _note_version(self, artifact: Artifact, processor: str) -> None:
        """Note which version of its interpreter an artifact asks for; warn where nothing selects an interpreter by
        version."""
        if not artifact.version or PLACING in artifact.kinds:
            return
        known = (artifact.file, artifact.version)
        if processor and processor not in SCRIPTS and not processor.startswith(ARTIFACTS) and known not in self.asking:
            self._diagnostics.warning(
                "not-enforced",
                f'artifact_version {artifact.version} of "{artifact.file}" is not heeded: what processes artifacts of '
                f"type {processor} has one version only",
                artifact.span,
                hint="remove artifact_version, or see to it by other means that the right version is installed",
            )
        self.asking[known] = artifact.span

    def _check_template(self, artifact: Artifact) -> None:
        """Refuse a template in a language that nothing here renders."""
        if is_unfilled(artifact) and artifact.file not in self._refused:
            self._refused.add(artifact.file)
            self._diagnostics.error(
                "no-processor",
                f'there is no processor for the template "{artifact.file}" (artifact type {artifact.kinds[0]})',
                artifact.span,
                hint=f"write it as a {JINJA}, or fill it in the script",
            )

    def deploying(self, artifact: Artifact) -> str:
        """What deploys an artifact of a node: a processor for its nearest type, else what copies it to its place; ""
        for none."""
        if is_unfilled(artifact):
            return ""
        accepts = self._options.abilities.accepts
        named = (f"{ARTIFACTS}{kind}@{artifact.version}" for kind in artifact.kinds if kind != PLACING)
        placing = (PLACING,) if artifact.deploy_path else ()
        return next((kind for kind in (*named, *placing) if accepts((kind,))), "")

    def _refuse_function(self, artifact: Artifact) -> None:
        """Report a function of a plugin that the plan would call."""
        function = str(artifact.properties.get("function", ""))
        self._diagnostics.error(
            "unsupported-plugin-operation",
            f"the plan would call {function}, which is not run here",
            artifact.span,
            hint="name a script beside the blueprint as the implementation, a playbook, or none (implementation: '')",
        )

    def _processor(self, artifact: Artifact) -> str:
        """The nearest type of an implementation that an executor processes."""
        if artifact.kinds[:1] == (NOT_RUN,):
            self._refuse_function(artifact)
            return ""
        if artifact.kinds[:1] == (PLACING,):
            return self.deploying(artifact)
        accepts = self._options.abilities.accepts
        # Who looks for processors reads what is installed, which plans of nothing but scripts do without.
        asked = (
            of
            for kind in artifact.kinds
            for of in ((kind,) if kind in SCRIPTS else (f"{ARTIFACTS}{kind}@{artifact.version}", kind))
        )
        found = next((kind for kind in asked if accepts((kind,))), "")
        if not found and artifact.file not in self._refused:
            self._refused.add(artifact.file)
            kind = artifact.kinds[0] if artifact.kinds else "unknown"
            if artifact.version:
                kind += f", version {artifact.version}"
            self._diagnostics.error(
                "no-executor",
                f'no executor processes "{artifact.file}" (artifact type {kind})',
                artifact.span,
                hint=NO_IMAGE if IMAGE in artifact.kinds else NO_ANSIBLE if ANSIBLE in artifact.kinds else NO_EXECUTOR,
            )
        return found


NOT_RUN = "cloudify.artifacts.PluginFunction"
"""The kind of what is known to be run by nothing here."""


def is_unfilled(artifact: Artifact) -> bool:
    """Whether an artifact is a template in a language that nothing here knows."""
    return TEMPLATE in artifact.kinds and JINJA not in artifact.kinds


def _with_settings(call: OperationCall, settings: Settings) -> OperationCall:
    """A call with the settings in its node's metadata."""
    if settings is NO_SETTINGS:
        return call
    own = settings.of(call.name)
    if own.attempts is None and own.interval is None and own.timeouts is None and own.in_doubt is None:
        return call
    return msgspec.structs.replace(
        call,
        attempts=own.attempts or 0,
        interval=own.interval,
        ends_by_timeout=own.timeouts == FAIL,
        in_doubt=own.in_doubt if own.in_doubt == ASSUME_ENDED else "",
    )
