"""Operations of types and templates: what runs, where, with which inputs, how often (sections 6.4 and 8)."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Span
from ordito.lowering.cloudify.ancestry import Operations
from ordito.lowering.cloudify.implementations import (
    CENTRAL,
    DEPLOYMENT,
    EXECUTORS,
    FABRIC_COMMANDS,
    FABRIC_SCRIPT,
    FUNCTION,
    INLINE,
    NO_OP,
    NOTHING,
    OWN_FUNCTION,
    PLAYBOOK,
    SCRIPT_PATH,
    SCRIPT_SOURCE,
    Found,
    Implementations,
    Runs,
    kind_of,
)
from ordito.lowering.cloudify.overrides import Override
from ordito.lowering.cloudify.plugin_options import Playbooks, defaults, warn_of_fabric
from ordito.lowering.cloudify.schemas import ANY, Schemas
from ordito.lowering.cloudify.values import Values
from ordito.lowering.making import mapping, text
from ordito.source.nodes import Node, Scalar, is_null
from ordito.syntax import entities
from ordito.syntax.cloudify.entities import CloudifyOperation, PropertySchema, TypeOperation
from ordito.syntax.cloudify.shapes import Table
from ordito.syntax.shapes import Entries

LIFECYCLE = "cloudify.interfaces.relationship_lifecycle"
ORCHESTRATOR = "ORCHESTRATOR"
MOST_ATTEMPTS = 1000
"""The attempts of an operation that is retried without end."""


class Settings(msgspec.Struct):
    """How often the operations of a template are tried, as entries of its metadata."""

    entries: dict[str, Scalar]

    def add(
        self, interface: str, operation: str, written: CloudifyOperation, inherited: TypeOperation | None = None
    ) -> None:
        """Add what an operation says; where it replaces an ``inherited`` one, what that says does not hold for it."""
        at = written.key or written.at
        if inherited is not None:
            if written.max_retries is None and inherited.max_retries is not None:
                self.entries[f"ordito.{interface}.{operation}.attempts"] = text("1", at)
            if not written.timeout and inherited.timeout:
                self.entries[f"ordito.{interface}.{operation}.timeouts"] = text("again", at)
        if written.timeout:
            kept = "again" if written.timeout_recoverable else "fail"
            self.entries[f"ordito.{interface}.{operation}.timeouts"] = text(kept, at)
        if written.max_retries is not None:
            attempts = MOST_ATTEMPTS if written.max_retries < 0 else min(int(written.max_retries) + 1, MOST_ATTEMPTS)
            self.entries[f"ordito.{interface}.{operation}.attempts"] = text(str(attempts), at)
        if written.retry_interval is not None:
            interval = f"{written.retry_interval:g}"
            self.entries[f"ordito.{interface}.{operation}.interval"] = text(interval, at)


class OperationsOf:
    """Lowers operations."""

    def __init__(
        self, implementations: Implementations, schemas: Schemas, values: Values, diagnostics: Diagnostics
    ) -> None:
        self._implementations = implementations
        self._schemas = schemas
        self._values = values
        self._diagnostics = diagnostics
        self._playbooks = Playbooks(values, diagnostics)
        self._given: Mapping[str, Node] = {}
        """The properties of the node template whose operations are lowered."""

    # ---------------------------------------------------------------------------------------------------- types

    def of_type(
        self, written: Mapping[str, Table] | None, side: str = ""
    ) -> dict[str, entities.InterfaceDefinition] | None:
        """The interfaces of a type, or those of one side of a relationship type."""
        if written is None:
            return None
        return {
            name: made
            for table in written.values()
            for name, made in [self._interface(table.key, self._typed(table), side)]
        }

    def of_operations(
        self, found: Operations, side: str = "", at: Node | None = None
    ) -> dict[str, entities.InterfaceDefinition]:
        """The interfaces of a type with all that it inherits."""
        made: dict[str, entities.InterfaceDefinition] = {}
        for interface, operations in found.items():
            first = next((o.key for o in operations.values() if o.key is not None), None)
            place = first if first is not None else at
            if place is None:
                continue
            lowered = {name: self._of_type(operation) for name, operation in operations.items()}
            name, item = self._interface(text(interface, place), lowered, side)
            made[name] = item
        return made

    def _typed(self, table: Table) -> dict[str, entities.OperationDefinition]:
        found = Entries()
        found.lose(table.operations.lost)
        found.update((name, self._of_type(operation)) for name, operation in table.operations.items())
        return found

    def _interface(
        self, key: Scalar, operations: dict[str, entities.OperationDefinition], side: str
    ) -> tuple[str, entities.InterfaceDefinition]:
        name = interface_name(key.text, side)
        head = key if name == key.text else text(name, key)
        return name, entities.InterfaceDefinition(at=key, key=head, type=key, operations=operations)

    def _of_type(self, written: TypeOperation) -> entities.OperationDefinition:
        self.check_executor(written)
        found = self._implementations.of(written.implementation)
        inputs = written.inputs or {}
        self._refuse_given_script(found, inputs, {n: i.at for n, i in inputs.items()})
        path: Scalar | None = written.implementation
        if found.by_path:
            default = inputs[SCRIPT_PATH].default if SCRIPT_PATH in inputs else None
            path = default if isinstance(default, Scalar) else None
        if found.kind == PLAYBOOK:
            path = self._playbooks.path({n: i.default for n, i in inputs.items() if i.default is not None}, {})
        declared = [(i.key, self._declared(i)) for n, i in inputs.items() if i.key is not None and n not in HIDDEN]
        return entities.OperationDefinition(
            at=written.at,
            key=written.key,
            implementation=self._implementation(written, found, path, of_type=True),
            inputs=mapping(declared, written.at) if declared else None,
            replaces=True,
        )

    def _declared(self, written: PropertySchema) -> Node:
        """The definition of an input, as it would be written."""
        at = written.at
        made: list[tuple[Scalar, Node]] = [(text("type", at), text(ANY, at))]
        if written.type is not None:
            self._schemas.known(written.type)
        if written.required is False:
            made.append((text("required", at), text("false", at)))
        if written.default is not None and not is_null(written.default):
            made.append((text("default", at), self._values.lowered(written.default)))
        return mapping(made, at)

    # ------------------------------------------------------------------------------------------------ templates

    def of_template(
        self,
        written: Mapping[str, Table] | None,
        inherited: Operations,
        settings: Settings,
        owner: str,
        side: str = "",
        node: str = "",
        properties: Mapping[str, Node] | None = None,
    ) -> dict[str, entities.InterfaceDefinition] | None:
        """The interfaces that a template, or a relationship of one, writes; ``node`` is the name of the former, and
        ``properties`` its values, which say which playbooks are run."""
        self._given = properties or {}
        instead = self._implementations.of_node(node)
        if properties is not None:
            written = self._with_playbooks(written, inherited)
        if written is None and not instead:
            return None
        found: dict[str, entities.InterfaceDefinition] = {}
        for table in _with(written or {}, instead):
            of_type = inherited.get(table.key.text, {})
            made = Entries()
            made.lose(table.operations.lost)
            for name, item in table.operations.items():
                before = of_type.get(name)
                if (table.key.text, name) in instead:
                    made[name] = self._replaced(item, instead[table.key.text, name])
                    continue
                made[name] = self._of_template(item, before, owner)
                merges = before is not None and merges_with(item, before)
                settled = _settled(item, before) if merges and before is not None else item
                settings.add(interface_name(table.key.text, side), name, settled, None if merges else before)
            name, interface = self._interface(table.key, made, side)
            found[name] = interface
        return found

    def keep_settings(
        self, inherited: Operations, written: Mapping[str, Table] | None, settings: Settings, side: str
    ) -> None:
        """Take over how often operations are tried that a relationship takes from its type as they are."""
        for interface, operations in inherited.items():
            table = (written or {}).get(interface)
            for name, operation in operations.items():
                if operation.implementation is not None and (table is None or name not in table.operations):
                    settings.add(interface_name(interface, side), name, operation)

    def _of_template(
        self, written: CloudifyOperation, inherited: TypeOperation | None, owner: str
    ) -> entities.OperationDefinition:
        self.check_executor(written)
        own = written.implementation.text if written.implementation is not None else ""
        before = inherited.implementation if inherited is not None else None
        merges = inherited is not None and merges_with(written, inherited)
        source = before if merges and not own else written.implementation
        found = self._implementations.of(source) if own or merges else NOTHING
        given = written.inputs.values if written.inputs is not None else {}
        self._refuse_given_script(found, given, given)
        path: Scalar | None = source
        if found.by_path:
            path = self._path_of(given, inherited if merges else None)
        elif found.kind == PLAYBOOK:
            given = {**defaults(inherited if merges else None), **given}
            path = self._playbooks.path(given, self._given)
        if found.kind in (FABRIC_SCRIPT, FABRIC_COMMANDS):
            warn_of_fabric(given, self._diagnostics)
        if merges and inherited is not None:
            self._check_given(inherited, given, written, owner)
        entries = [] if written.inputs is None else [*written.inputs.entries()]
        inputs = [(key, self._values.lowered(node)) for key, node in entries if key.text not in HIDDEN]
        if found.kind == PLAYBOOK:
            inputs = self._playbooks.variables(given, self._given)
            self._playbooks.warn_of_options(given, self._given)
        settled = _settled(written, inherited) if merges and inherited is not None else written
        return entities.OperationDefinition(
            at=written.at,
            key=written.key,
            implementation=self._implementation(settled, found, path, given=given),
            inputs=mapping(inputs, written.at) if inputs else None,
            replaces=not merges or found.kind == PLAYBOOK,
        )

    def _with_playbooks(self, written: Mapping[str, Table] | None, inherited: Operations) -> Mapping[str, Table] | None:
        """The interfaces of a template, and those operations of its type whose playbooks its properties name."""
        tables: dict[str, Table] = {}
        for interface, operations in inherited.items():
            for name, item in operations.items():
                known = (written or {}).get(interface)
                is_written = known is not None and name in known.operations
                if is_written or self._implementations.of(item.implementation).kind != PLAYBOOK:
                    continue
                at = item.key or item.at
                table = tables.setdefault(interface, Table(text(interface, at), at))
                table.operations[name] = CloudifyOperation(at=at, key=item.key, implementation=item.implementation)
        for interface, known in (written or {}).items():
            if interface in tables:
                tables[interface].operations.update(known.operations)
                tables[interface].operations.lose(known.operations.lost)
            else:
                tables[interface] = known
        return tables or written

    def _replaced(self, written: CloudifyOperation, instead: Override) -> entities.OperationDefinition:
        """An operation in whose place something else is carried out."""
        entries = [] if written.inputs is None else [*written.inputs.entries()]
        inputs = [(key, self._values.lowered(node)) for key, node in entries if key.text not in HIDDEN]
        artifact = _instead(instead) if instead.path else None
        return entities.OperationDefinition(
            at=written.at,
            key=written.key,
            implementation=entities.Implementation(at=written.at, primary=artifact) if artifact is not None else None,
            inputs=mapping(inputs, written.at) if inputs else None,
            replaces=True,
        )

    def _path_of(self, given: Mapping[str, Node], inherited: TypeOperation | None) -> Scalar | None:
        node = given.get(SCRIPT_PATH)
        if node is None and inherited is not None and SCRIPT_PATH in (inherited.inputs or {}):
            assert inherited.inputs is not None
            node = inherited.inputs[SCRIPT_PATH].default
        return node if isinstance(node, Scalar) else None

    def _check_given(
        self, inherited: TypeOperation, given: Mapping[str, Node], written: CloudifyOperation, owner: str
    ) -> None:
        """Report inputs that the type asks for and that have no value."""
        for name, item in (inherited.inputs or {}).items():
            if item.required is not False and item.default is None and name not in given:
                self.report_missing(item, written.name, owner, written.key or written.at)

    def report_missing(self, item: PropertySchema, operation: str, owner: str, at: Node) -> None:
        """Report an input of an operation without a value."""
        self._diagnostics.error(
            "missing-value",
            f'operation "{operation}" of {owner} lacks the required input "{item.name}"',
            at.span,
            hint='give it a value below "inputs:" of the operation',
            related=(Related("declared here", item.span),),
        )

    # ------------------------------------------------------------------------------------------------- what runs

    def check_executor(self, written: CloudifyOperation) -> None:
        """Report an executor that there is not."""
        if written.executor is not None and written.executor.text not in EXECUTORS:
            self._diagnostics.unknown("bad-value", "executor", written.executor.text, written.executor.span, EXECUTORS)

    def _implementation(
        self,
        written: CloudifyOperation,
        found: Found,
        path: Scalar | None,
        *,
        of_type: bool = False,
        given: Mapping[str, Node] | None = None,
    ) -> entities.Implementation | None:
        at = written.implementation or written.key or written.at
        if is_unsupported(found) and not of_type:
            self.report_unsupported(written.name, found, at.span)
        if found.runs in (Runs.NOTHING, Runs.UNKNOWN) or found.kind == NO_OP:
            return None
        artifact = self._artifact(found, path, at)
        if artifact is not None and found.kind == PLAYBOOK and given:
            artifact = msgspec.structs.replace(
                artifact, properties=self._playbooks.options(given, self._given, artifact.at)
            )
        if artifact is None:
            return None
        path = artifact.file
        own = written.executor.text if written.executor is not None else ""
        central = (own or self._implementations.executor(found.plugin)) == CENTRAL
        # These are for the host, and only begin beside the manager.
        central = (central and found.kind not in (FABRIC_SCRIPT, FABRIC_COMMANDS, PLAYBOOK)) or found.kind == DEPLOYMENT
        host = text(ORCHESTRATOR, written.executor or path) if central else None
        timeout = max(1, ceil(written.timeout)) if written.timeout else None
        return entities.Implementation(at=written.at, primary=artifact, operation_host=host, timeout=timeout)

    def _artifact(self, found: Found, path: Scalar | None, at: Node) -> entities.ArtifactDefinition | None:
        """What is carried out; None for what was reported, or is not known before a template says it."""
        main = text(self._implementations.main, at)
        if found.replaced is not None:
            return _instead(found.replaced)
        if found.runs is Runs.SCRIPT or found.by_path:
            if path is None or (found.by_path and not self._check_path(path)):
                return None
            kind = kind_of(path.text) if found.kind != FABRIC_SCRIPT else FABRIC_SCRIPT
            return entities.ArtifactDefinition(at=path, type=text(kind, path), file=path)
        if found.runs is Runs.INLINE:
            assert isinstance(at, Scalar)
            written = mapping([(text("text", at), text(at.text, at, plain=False))], at)
            return entities.ArtifactDefinition(at=at, type=text(INLINE, at), file=main, properties=written)
        if found.kind == PLAYBOOK:
            if path is None or not self._check_path(path):
                return None
            return entities.ArtifactDefinition(at=path, type=text(PLAYBOOK, path), file=path)
        if found.kind == FABRIC_COMMANDS:
            return entities.ArtifactDefinition(at=at, type=text(FABRIC_COMMANDS, at), file=main)
        if found.kind in (OWN_FUNCTION, DEPLOYMENT):
            key, what = "text", f"{found.folder}:{found.function}" if found.folder else found.function
        else:
            key, what = "function", f"{found.plugin}.{found.function}"
        written = mapping([(text(key, at), text(what, at, plain=False))], at)
        return entities.ArtifactDefinition(at=at, type=text(found.kind, at), file=main, properties=written)

    def _check_path(self, path: Scalar) -> bool:
        """Report a script that is not there."""
        if "://" in path.text or self._implementations.has_file(path.text):
            return True
        self._diagnostics.error(
            "missing-artifact",
            f"there is no file {path.text} beside the blueprint",
            path.span,
            hint="paths of scripts begin in the folder of the main file",
        )
        return False

    def unsupported(self, written: CloudifyOperation) -> Found | None:
        """What an operation is that nothing here can run; None for any other."""
        found = self._implementations.of(written.implementation)
        return found if is_unsupported(found) else None

    def report_unsupported(self, operation: str, found: Found, at: Span) -> None:
        """Warn of an operation that nothing here can run."""
        what = f"{found.function} of {found.plugin}"
        self._diagnostics.warning(
            "unsupported-plugin-operation",
            f'operation "{operation}" is {what}, which is not run here: no plan can call it',
            at,
            hint="write a script beside the blueprint, and name it as the implementation",
        )

    def _refuse_given_script(self, found: Found, given: Mapping[str, object], at: Mapping[str, Node]) -> None:
        """A script that is named as the implementation is not named again as an input."""
        if found.runs is not Runs.SCRIPT:
            return
        for name in HIDDEN:
            if name in given:
                self._diagnostics.error(
                    "reserved-name",
                    f'"{name}" cannot be given to an operation that is a script already',
                    at[name].span,
                    hint="remove it, or rename the input",
                )


def _with(written: Mapping[str, Table], instead: Mapping[tuple[str, str], Override]) -> list[Table]:
    """The interfaces of a template, and those with operations in whose place something else is carried out."""
    tables = dict(written)
    for (interface, operation), override in instead.items():
        known = tables.get(interface)
        if known is not None and operation in known.operations:
            continue
        table = Table(text(interface, override.written), override.written)
        table.operations.update(known.operations if known is not None else {})
        key = text(operation, override.written)
        table.operations[operation] = CloudifyOperation(at=override.written, key=key)
        tables[interface] = table
    return [*tables.values()]


def _instead(replaced: Override) -> entities.ArtifactDefinition:
    """What is carried out by the choice of whoever deploys the blueprint."""
    file = text(replaced.path, replaced.written)
    kind = PLAYBOOK if replaced.is_playbook else kind_of(file.text)
    return entities.ArtifactDefinition(at=file, type=text(kind, file), file=file)


HIDDEN = frozenset({SCRIPT_PATH, SCRIPT_SOURCE})


def is_unsupported(found: Found) -> bool:
    """Whether an implementation is something that nothing here can run."""
    is_known = found.by_path or found.kind != FUNCTION
    return found.runs is Runs.FUNCTION and not is_known


def merges_with(written: CloudifyOperation, inherited: TypeOperation) -> bool:
    """Whether an operation of a template adds to that of its type, which it otherwise replaces."""
    before = inherited.implementation
    own = written.implementation.text if written.implementation is not None else ""
    gives = written.inputs is not None or any(getattr(written, name) is not None for name in SETTINGS)
    return before is not None and (own == before.text or (not own and gives))


SETTINGS = ("executor", "max_retries", "retry_interval", "timeout", "timeout_recoverable")


def interface_name(name: str, side: str) -> str:
    """What an interface of one side of a relationship is called in the model, where the interface of the lifecycle has
    the name of the side."""
    if not side:
        return name
    return side if name == LIFECYCLE else f"{name}@{side}"


def _settled(written: CloudifyOperation, inherited: TypeOperation) -> CloudifyOperation:
    """What an operation says, with what its type says of where and how often it runs."""
    fields = {
        name: getattr(inherited, name) if getattr(written, name) is None else getattr(written, name)
        for name in SETTINGS
    }
    return CloudifyOperation(
        at=written.at, key=written.key, implementation=written.implementation or inherited.implementation, **fields
    )
