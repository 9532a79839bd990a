"""How operation sequences are made from the lifecycle table and a node template, once per template for all its
instances.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import dropwhile, takewhile

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.instances.context import Context, EvaluationError
from ordito.instances.evaluate import Evaluator
from ordito.instances.lifecycle import (
    CREATES,
    DELEGATE,
    INSTALL,
    INSTALL_REACHED_BY_LINK,
    LIFECYCLE_TYPES,
    MAKE_STAGE,
    PREPARES_LINK,
    PROVIDE,
    REMOVE_STAGE,
    REMOVES,
    START_STAGE,
    STARTS,
    STOP_STAGE,
    UNINSTALL,
    UNPROVIDE,
    LifecycleRow,
    Per,
    PlacedRow,
    Side,
    Stage,
)
from ordito.instances.states import CONFIGURING, DELETED, STARTED, STARTING, STOPPING
from ordito.model.deploying import MACHINE_IMAGE, images_of, is_image
from ordito.model.hosting import makes_itself
from ordito.model.operation import Artifact, Operation
from ordito.model.service import (
    ARTIFACT,
    LIFECYCLE,
    STANDARD,
    NodeTemplate,
    Relationship,
    Service,
)
from ordito.model.settings import PREFIX
from ordito.planning.calls import Calls
from ordito.planning.implemented import NONE, Implementations, is_own, of_row, where_run
from ordito.planning.operation_sequence import Making, PairEntry, Pairs, RemovalSequence, SequencedOperation, Where
from ordito.planning.options import PlanOptions
from ordito.syntax.expressions import Value
from ordito.syntax.expressions import calls as calls_in
from ordito.work.agents import is_agent_host, is_here
from ordito.work.targets import ENDPOINT, SSH

NODE, SOURCE, TARGET = Side.NODE, Side.SOURCE, Side.TARGET
NEAR, PAIR = Per.NEAR, Per.PAIR
OWN, HOST, FAR, ORCHESTRATOR = Where.OWN, Where.HOST, Where.FAR, Where.ORCHESTRATOR

APPLICATION = "tosca.nodes.Container.Application"
NO_IMAGE = (
    "give it an artifact of type tosca.artifacts.Deployment.Image.Container.Docker: an image of a repository, the file"
    " of an archive, or a folder with a Containerfile"
)

VIRTUAL_IP = "cloudify.nodes.VirtualIP"
"""A host that requires a node of this type gets its address from the link with it."""


class Laid(msgspec.Struct, frozen=True):
    """The table for one node: its entries, and the places among them of the operations of pairs, by the state that the
    chain has reached there."""

    entries: tuple[SequencedOperation, ...]
    places: dict[str, int]


class OperationSequences:
    """The sequences of a service's templates, each made when it is first asked for."""

    def __init__(
        self,
        service: Service,
        calls: Calls,
        options: PlanOptions,
        static: Evaluator,
        diagnostics: Diagnostics,
        lost: frozenset[str] = frozenset(),
    ) -> None:
        """``lost`` are nodes that are removed, so that nothing is created with them any more."""
        self._lost = lost
        self._service = service
        self._calls = calls
        self._options = options
        self._static = static
        self._diagnostics = diagnostics
        self._making: dict[str, Making] = {}
        self._removing: dict[str, RemovalSequence] = {}
        self._implemented = Implementations()
        self._pairs = PairSequences(service, calls, self._implemented, self.is_delegated, diagnostics)
        self._protocols: dict[str, str] = {}

    def making(self, node: NodeTemplate) -> Making:
        """How instances of a node template are created."""
        sequence = self._making.get(node.name)
        if sequence is None:
            reached_by = self._reached_by(node)
            table = INSTALL_REACHED_BY_LINK if reached_by else INSTALL
            delegated = MAKE_STAGE if self.is_delegated(node) else None
            laid = self._lay(node, table, delegated)
            link = self._pairs.of_node(node, table, None, laid.places)
            if delegated is not None:
                self._pairs.check_moments(node, link)
                self._check_image(node)
            start, configure = self._start(node, laid.entries), self._configure(node, laid.entries)
            sequence = Making(laid.entries, link, start, configure, reached_by)
            self._making[node.name] = sequence
        return sequence

    def removing(self, node: NodeTemplate) -> RemovalSequence:
        """How instances of a node template are removed."""
        sequence = self._removing.get(node.name)
        if sequence is None:
            delegated = REMOVE_STAGE if self.is_delegated(node) else None
            laid = self._lay(node, UNINSTALL, delegated)
            sequence = self._removing[node.name] = RemovalSequence(
                unlink=in_reverse(self._pairs.of_node(node, UNINSTALL, delegated, laid.places)),
                uninstall=laid.entries,
                drop=self._calls.nothing(node, self._implemented.standard(node), "delete"),
                stop=self._stop(node, laid.entries),
            )
        return sequence

    def is_delegated(self, node: NodeTemplate) -> bool:
        """Whether a provider creates the node: it does not exist yet, a provider can create it, and the template
        implements none of the operations that would, or has an image that the provider takes instead of a ``create``.
        """
        if node.existing or self._is_agent_host(node) or not self._options.abilities.provides(node.name, node.kinds):
            return False
        if is_here(node, self._evaluated(node)) and self._options.abilities.maker(node.name, node.kinds).protocol:
            return False  # It is not to take a host of the inventory.
        every = self._implemented.of(node.interfaces)
        if not any(kind in LIFECYCLE_TYPES for kind, _ in every):
            return True
        images = (o.implementation for _, o in every.get((STANDARD, "create"), NONE) if is_image(o))
        takes = self._options.abilities.takes
        return any(image is not None and takes(node.name, node.kinds, image.kinds) for image in images)

    def _check_image(self, node: NodeTemplate) -> None:
        """Refuse an application in a container whose image is not known."""
        images = images_of(node) if APPLICATION in node.kinds else ()
        if APPLICATION in node.kinds and len(images) != 1:
            names = ", ".join(f'"{image.name}"' for image in images)
            self._diagnostics.error(
                "unclear-image",
                f'node "{node.name}" has several images: {names}' if images else f'node "{node.name}" has no image',
                node.span,
                hint="name one of them as the implementation of create" if images else NO_IMAGE,
            )

    def _reached_by(self, node: NodeTemplate) -> str:
        """The node whose link gives a host its address, "" for none."""
        targets = (r.target for r in node.requirements if node.is_compute)
        return next((t for t in targets if VIRTUAL_IP in self._service.nodes[t].kinds), "")

    # ------------------------------------------------------------------------------------------------- instances

    def _beside(self, node: NodeTemplate, lost: frozenset[str]) -> dict[Side, list[Relationship]]:
        """The relationships of a node that have operations, by the node's side of them, except those with removed
        nodes."""
        every = {SOURCE: node.requirements, TARGET: self._service.incoming.get(node.name, ())}
        return {
            side: [r for r in those if self._implemented.of(r.interfaces) and lost.isdisjoint((r.source, r.target))]
            for side, those in every.items()
        }

    def _lay(self, node: NodeTemplate, table: tuple[PlacedRow, ...], delegated: Stage | None) -> Laid:
        """The table for a node. What a provider does is at the beginning, or at the end if it removes: operations of
        pairs come before that."""
        found: list[SequencedOperation] = []
        places: dict[str, int] = {}
        every = self._implemented.of(node.interfaces)
        near = self._beside(node, frozenset() if table is UNINSTALL else self._lost)
        if delegated is MAKE_STAGE:
            found.append(self._of_provider(node, PROVIDE, delegated))
        for placed in table:
            row = placed.row
            if row.per is PAIR:
                places.setdefault(placed.reached, len(found))
            elif row.per is NEAR:
                found.extend(self._pairs.near(node, placed, near[row.side], delegated=delegated is not None))
            elif row.interface == DELEGATE:
                found.extend(self._of_reaching(node))
            elif not row.always and (row.interface, row.operation) not in every:
                pass  # Most rows are not about a node, which has to be seen quickly.
            elif (delegated is None or is_own(row, every)) and (node.is_compute or not row.of_hosts):
                found.extend(self._of_node(node, placed, delegated if placed.stage is not None else None))
        if delegated is REMOVE_STAGE:
            found.append(self._of_provider(node, UNPROVIDE, delegated))
        return Laid(tuple(found), places)

    def _of_provider(self, node: NodeTemplate, name: str, stage: Stage) -> SequencedOperation:
        call = self._calls.of_provider(node, name)
        key = self._calls.all[call].key
        return SequencedOperation(call, key, key, stage, ORCHESTRATOR, delegated=True)

    def _of_reaching(self, node: NodeTemplate) -> tuple[SequencedOperation, ...]:
        """The step that waits for a host that is not this machine."""
        if not node.is_compute or not self.protocol(node):
            return ()
        call = self._calls.of_reaching(node)
        key = self._calls.all[call].key
        return (SequencedOperation(call, key, key, None, ORCHESTRATOR, delegated=True),)

    def protocol(self, node: NodeTemplate) -> str:
        """The protocol by which the instances of a Compute will be reached, "" if they are this machine."""
        known = self._protocols.get(node.name)
        if known is None:
            known = self._protocols[node.name] = self._protocol(node)
        return known

    def _protocol(self, node: NodeTemplate) -> str:
        if self.is_delegated(node):
            return self._options.abilities.maker(node.name, node.kinds).protocol
        if node.existing and any(name.startswith(PREFIX) for name in node.attributes):
            return SSH  # A host of the inventory that was selected.
        if self._is_agent_host(node):
            return SSH
        endpoint = node.capabilities.get(ENDPOINT) if makes_itself(node) else None
        if endpoint is None:
            return ""
        try:
            said = self._static.evaluate(endpoint.properties.get("protocol"), Context(node=node.name))
        except EvaluationError:
            return ""
        return SSH if said == SSH else ""

    def _is_agent_host(self, node: NodeTemplate) -> bool:
        return is_agent_host(node, self._evaluated(node))

    def _evaluated(self, node: NodeTemplate) -> Callable[[Value], object]:
        """Gives the values of a node as far as they are known, None for others."""

        def evaluate(value: Value) -> object:
            try:
                return self._static.evaluate(value, Context(node=node.name))
            except EvaluationError:
                return None

        return evaluate

    def _start(self, node: NodeTemplate, install: tuple[SequencedOperation, ...]) -> tuple[SequencedOperation, ...]:
        """The part of an installation that starts. A provider starts again what it has created, if it can; otherwise
        only the state changes."""
        if install and install[0].delegated and install[0].stage is not None:
            starts = (msgspec.structs.replace(e, stage=START_STAGE) for e in install[1:] if self._is_called(e, STARTS))
            return (self._move(node, "start", START_STAGE), *starts, *(e for e in install if e.stage is None))
        return tuple(dropwhile(lambda e: e.stage is None or e.stage.enter != STARTING, install))

    def _configure(self, node: NodeTemplate, install: tuple[SequencedOperation, ...]) -> tuple[SequencedOperation, ...]:
        """The part of an installation that configures and starts. What a provider has created is configured once it
        runs again."""
        if install and install[0].delegated and install[0].stage is not None:
            again = (e for e in install[1:] if e.stage is not None and not self._is_called(e, CREATES))
            own = (msgspec.structs.replace(e, stage=START_STAGE) for e in again)
            return (self._move(node, "start", START_STAGE), *own, *(e for e in install if e.stage is None))
        return tuple(dropwhile(lambda e: e.stage is None or e.stage.enter not in (CONFIGURING, STARTING), install))

    def _stop(self, node: NodeTemplate, uninstall: tuple[SequencedOperation, ...]) -> tuple[SequencedOperation, ...]:
        """The part of a removal that stops; as for ``_start``."""
        if uninstall and uninstall[-1].delegated:
            before = (e for e in uninstall[:-1] if not self._is_called(e, REMOVES))
            return (
                *(msgspec.structs.replace(e, stage=STOP_STAGE) for e in before),
                self._move(node, "stop", STOP_STAGE),
            )
        return tuple(takewhile(lambda e: e.stage is None or e.stage.leave != DELETED, uninstall))

    def _is_called(self, entry: SequencedOperation, operations: frozenset[str]) -> bool:
        return entry.stage is not None and self._calls.all[entry.call].operation in operations

    def _move(self, node: NodeTemplate, operation: str, stage: Stage) -> SequencedOperation:
        """What starts or stops an instance that a provider has made."""
        if self._options.abilities.maker(node.name, node.kinds).starts:
            call = self._calls.of_moving(node, operation)
            key = self._calls.all[call].key
            return SequencedOperation(call, key, key, stage, ORCHESTRATOR, delegated=True)
        return self._entry(self._calls.nothing(node, self._implemented.standard(node), operation), stage, ORCHESTRATOR)

    def _of_node(self, node: NodeTemplate, placed: PlacedRow, stage: Stage | None) -> list[SequencedOperation]:
        row = placed.row
        found: list[SequencedOperation] = []
        for interface, operation in self._implemented.operations(node, row.interface, row.operation):
            if row.interface == ARTIFACT and not self._is_deployed(node, operation):
                continue
            if stage is not None and is_image(operation):
                continue  # Nothing runs it: the provider makes the node from it.
            wanted = None if self._is_of_host(node, operation) else operation
            call = self._calls.of_node(node, interface, row.operation, wanted)
            where = where_run(operation, node, NODE, lifecycle=row.is_delegated)
            entry = self._entry(call, stage or placed.stage, where)
            if row.if_begun:
                entry = msgspec.structs.replace(entry, evidence=self._begun_by(node, row, interface))
            found.append(entry)
        if (
            not found
            and row.always
            and stage is None
            and not self._implemented.operations(node, LIFECYCLE, row.operation)
        ):
            # It stands for the state that is passed through, which Cloudify's operation at this place does otherwise.
            name = self._implemented.standard(node)
            declared = node.interfaces[name].operations.get(row.operation) if name in node.interfaces else None
            call = self._calls.of_node(node, name, row.operation, declared)
            found.append(self._entry(call, placed.stage, ORCHESTRATOR))
        return found

    def _is_of_host(self, node: NodeTemplate, operation: Operation) -> bool:
        """Whether an operation of a component is the image of a machine from which its host is created (§11.1.3)."""
        host = self._service.nodes.get(node.host.target) if node.host is not None and is_image(operation) else None
        kinds = operation.implementation.kinds if operation.implementation is not None else ()
        if host is None or not host.is_compute or MACHINE_IMAGE not in kinds or not self.is_delegated(host):
            return False
        return self._options.abilities.takes(host.name, host.kinds, kinds)

    def _is_deployed(self, node: NodeTemplate, operation: Operation) -> bool:
        """Whether an artifact of a node is deployed by an operation of its own."""
        kinds = operation.implementation.kinds if operation.implementation is not None else ()
        taken = self.is_delegated(node) and self._options.abilities.takes(node.name, node.kinds, kinds)
        return is_deployed(node, operation, self._calls, self._diagnostics, taken=taken)

    def _begun_by(self, node: NodeTemplate, row: LifecycleRow, interface: str) -> tuple[str, ...]:
        """The keys of the operations that a row undoes, if they are implemented: that of the same interface, else
        all."""
        (operation,) = row.undoes
        if operation in node.interfaces[interface].operations:
            return (f"{interface}.{operation}",)
        return tuple(f"{name}.{operation}" for name, _ in self._implemented.operations(node, row.interface, operation))

    def _entry(self, call: int, stage: Stage | None, where: Where) -> SequencedOperation:
        key = self._calls.all[call].key
        return SequencedOperation(call, key, key, stage, where)


# Which artifacts of a node are deployed by operations of their own (§5.4), and that nobody passes one over.


def is_deployed(
    node: NodeTemplate, operation: Operation, calls: Calls, diagnostics: Diagnostics, *, taken: bool
) -> bool:
    """Whether an artifact of a node is deployed by an operation of its own. It is not if the provider of the node has
    ``taken`` it, nor if no processor takes it and an operation of the template does; if nothing does, that is an error.
    """
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
    """Whether an operation of a node uses an artifact of it: ``create``, which is meant to, or one that names it."""
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


# What the lifecycle table means for the pairs of a node template: the operations of its relationships, each where the
# table has it.


SOURCE = Side.SOURCE
NEAR, PAIR = Per.NEAR, Per.PAIR

LINKING = frozenset({STARTED, STOPPING})
"""The states in which pairs of what is up are linked, and unlinked."""


class PairSequences:
    """The operation sequences of pairs. ``is_delegated`` says whether a provider creates a node."""

    def __init__(
        self,
        service: Service,
        calls: Calls,
        implemented: Implementations,
        is_delegated: Callable[[NodeTemplate], bool],
        diagnostics: Diagnostics,
    ) -> None:
        self._service = service
        self._calls = calls
        self._implemented = implemented
        self._is_delegated = is_delegated
        self._diagnostics = diagnostics

    def near(
        self, node: NodeTemplate, placed: PlacedRow, relationships: list[Relationship], *, delegated: bool
    ) -> list[SequencedOperation]:
        row = placed.row
        found: list[SequencedOperation] = []
        for relationship in relationships:
            operation = self._implemented.operation(relationship, row)
            if operation is None:
                continue
            if delegated:
                self._refuse(node, relationship, operation)
                continue
            call = self._calls.of_relationship(relationship, row.side, operation)
            name = f"{relationship.key}.{self._calls.all[call].name}"
            where = where_run(operation, node, row.side, lifecycle=True)
            key = self._calls.all[call].key
            found.append(
                SequencedOperation(call, key, name, placed.stage, where, relationship=relationship, side=row.side)
            )
        return found

    def check_moments(self, node: NodeTemplate, link: tuple[Pairs, ...]) -> None:
        """Refuse operations of pairs that would have to run while a provider creates their source."""
        for pairs in link:
            for entry in pairs.entries if not pairs.is_link else ():
                call = self._calls.all[entry.call]
                operation = pairs.relationship.interfaces[call.interface].operations[call.operation]
                self._refuse(node, pairs.relationship, operation)

    def _refuse(self, node: NodeTemplate, relationship: Relationship, operation: Operation) -> None:
        self._diagnostics.error(
            "delegated-node-operation",
            f'relationship "{relationship.key}" implements {operation.name}, but a provider makes node "{node.name}" in'
            " one go, so that there is no moment for it",
            operation.span or relationship.span,
            hint="use add_target or add_source (establish in Cloudify's terms), or implement the operations that make"
            " the node",
        )

    def of_node(
        self, node: NodeTemplate, table: tuple[PlacedRow, ...], stage: Stage | None, places: dict[str, int]
    ) -> tuple[Pairs, ...]:
        """The operations of the pairs of each relationship, at each place that has any."""
        found: list[Pairs] = []
        for relationship in node.requirements:
            every = self._implemented.of(relationship.interfaces)
            entries: dict[str, list[PairEntry]] = {}
            for placed in table if every else ():
                operation = of_row(every, placed.row) if placed.row.per is PAIR else None
                if operation is not None:
                    entry = self._of_pair(relationship, placed, operation, stage)
                    entries.setdefault(placed.reached, []).append(entry)
            if entries:
                evidence, begin_each = self._evidence(node, relationship), self._begin_each(relationship)
                found += (
                    Pairs(relationship, tuple(own), places[reached], reached in LINKING, evidence, begin_each)
                    for reached, own in entries.items()
                )
        return tuple(found)

    def _of_pair(
        self, relationship: Relationship, placed: PlacedRow, operation: Operation, stage: Stage | None
    ) -> PairEntry:
        row = placed.row
        near = relationship.source if row.side is SOURCE else relationship.target
        makes = row.operation in PREPARES_LINK
        where = where_run(operation, self._service.nodes[near], row.side, lifecycle=makes)
        call = self._calls.of_relationship(relationship, row.side, operation)
        return PairEntry(call, self._calls.all[call].name, stage or placed.stage, where, row.side)

    def _begin_each(self, relationship: Relationship) -> bool:
        """Whether there are operations that begin pairs one by one."""
        rows = (p.row for p in INSTALL if p.row.begins and p.row.per is Per.PAIR)
        return any(self._implemented.operation(relationship, row) is not None for row in rows)

    def _evidence(self, node: NodeTemplate, relationship: Relationship) -> tuple[str, ...]:
        """Keys in the source's record that show that pairs were begun: those of near operations that begin them or, if
        no operation begins them, of the start of the source."""
        rows = [p.row for p in INSTALL if p.row.begins]
        begun = [r for r in rows if self._implemented.operation(relationship, r) is not None]
        if begun:
            near = [r for r in begun if r.per is NEAR and r.side is SOURCE]
            found = [self._implemented.operation(relationship, r) for r in near]
            return tuple(f"{relationship.key}/{o.interface}.{o.name}" for o in found if o is not None)
        if self._is_delegated(node):
            return (f"{DELEGATE}.{PROVIDE}",)
        starts = self._implemented.operations(node, STANDARD, "start") or self._implemented.operations(
            node, LIFECYCLE, "start"
        )
        return (f"{starts[0][0] if starts else self._implemented.standard(node)}.start",)


def in_reverse(pairs: tuple[Pairs, ...]) -> tuple[Pairs, ...]:
    """The pairs of a node with its relationships in reverse order; the operations of each keep their order."""
    by_relationship: dict[str, list[Pairs]] = {}
    for one in pairs:
        by_relationship.setdefault(one.relationship.key, []).append(one)
    return tuple(p for own in reversed(by_relationship.values()) for p in own)
