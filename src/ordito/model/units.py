"""The files of a service and how they see each other: imports, namespaces, prefixes (§3.2, §3.6.8)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from ordito.base.diagnostics import Diagnostics, Related, suggestion
from ordito.base.paths import beside
from ordito.base.versions import Version
from ordito.source.nodes import Scalar, texts
from ordito.source.package import PROFILE_SCHEME, Package, has_profile, profile_names
from ordito.syntax.dialects import DIALECTS, TOSCA_1_3, TOSCA_NAMESPACE
from ordito.syntax.entities import DefinedType
from ordito.syntax.entries import Entries, is_lost
from ordito.syntax.service_file import read_service_file
from ordito.syntax.service_template import ImportDefinition, ServiceFile

KINDS = {
    "artifact": "artifact_types",
    "data": "data_types",
    "capability": "capability_types",
    "interface": "interface_types",
    "relationship": "relationship_types",
    "node": "node_types",
    "group": "group_types",
    "policy": "policy_types",
}
"""The kinds of types and the sections that define them."""

RESERVED_PREFIX = "tosca"
NORMATIVE = f"{PROFILE_SCHEME}{TOSCA_1_3.name}/profile.yaml"
NON_NORMATIVE = f"{PROFILE_SCHEME}tosca_non_normative_1_3/profile.yaml"
TOSCA_DOMAIN = "http://docs.oasis-open.org/tosca"

_bundled: dict[str, ServiceFile] = {}
"""The bundled files that were read so far. What is in them is frozen."""


class Unit:
    """One file. ``file`` is relative to the service's root, or ``profile:...`` for bundled ones."""

    def __init__(self, file: str, content: ServiceFile, scope: Scope) -> None:
        self.file = file
        self.content = content
        self.scope = scope
        self.prefixes: dict[str, Scope] = {}
        self.namespace = content.namespace.text if content.namespace else ""

    @property
    def is_bundled(self) -> bool:
        """Whether the file comes with the program and is not the user's."""
        return self.file.startswith(PROFILE_SCHEME)

    def resolve(self, path: str) -> str:
        """A path written in this file, relative to the service's root; URLs and absolute paths stay as they are."""
        if "://" in path or path.startswith("/"):
            return path
        return beside(self.file, path)


class Definition:
    """A type definition with the file that it stands in. ``name`` is its full name."""

    __slots__ = ("content", "kind", "name", "unit")

    def __init__(self, kind: str, name: str, content: DefinedType, unit: Unit) -> None:
        self.kind = kind
        self.name = name
        self.content = content
        self.unit = unit


class Scope:
    """The type names that files see without a prefix: those of all files joined by imports without prefix.

    ``lost`` are the names of types that are written but could not be read; of ``incomplete`` kinds, a whole file or
    section of types could not. Nobody needs to report that such a type does not exist.
    """

    def __init__(self) -> None:
        self.types: dict[str, dict[str, Definition]] = {kind: {} for kind in KINDS}
        self.lost: dict[str, set[str]] = {kind: set() for kind in KINDS}
        self.incomplete: set[str] = set()


class Units:
    """All files of a service, the entry first."""

    def __init__(self, package: Package, diagnostics: Diagnostics) -> None:
        self._package = package
        self._diagnostics = diagnostics
        self._loaded: dict[tuple[str, int], Unit] = {}
        self._contents: dict[str, ServiceFile | None] = {}
        self._prefixed: dict[str, Scope] = {}
        self.normative = Scope()
        self.normative_names: dict[str, dict[str, Definition]] = {kind: {} for kind in KINDS}
        self.non_normative = Scope()
        """The types of chapter 9, where nothing else is called so."""
        self.non_normative_names: dict[str, dict[str, Definition]] = {kind: {} for kind in KINDS}
        self.definitions: dict[str, dict[str, Definition]] = {kind: {} for kind in KINDS}
        """All type definitions of each kind, by full name."""
        self.entry: Unit | None = None

    def gather(self) -> None:
        """Load the normative profile, the entry file and everything it imports, each file once, and then the types of
        chapter 9 that were not defined otherwise."""
        self._gather(NORMATIVE, self.normative, None)
        _name_shortly(self.normative, self.normative_names)
        self.entry = self._gather(self._package.main, Scope(), None)
        self._gather(NON_NORMATIVE, self.non_normative, None)
        _name_shortly(self.non_normative, self.non_normative_names)

    @property
    def files(self) -> tuple[str, ...]:
        """The user's files, relative to the service's root."""
        return tuple(dict.fromkeys(u.file for u in self._loaded.values() if not u.is_bundled))

    def _gather(self, file: str, scope: Scope, wanted: Scalar | None) -> Unit | None:
        entry = self._unit(file, scope, wanted)
        todo = deque([entry] if entry else [])
        while todo:
            unit = todo.popleft()
            if is_lost(unit.content.imports, ""):
                unit.scope.incomplete.update(KINDS)
            for item in unit.content.imports or ():
                found = self._import(unit, item)
                if found is not None:
                    todo.append(found)
        return entry

    def _unit(self, file: str, scope: Scope, wanted: Scalar | None) -> Unit | None:
        """The unit of a file in a scope; None where it is known already or cannot be read."""
        if (file, id(scope)) in self._loaded:
            return None
        if file not in self._contents:
            self._contents[file] = self._read(file, wanted)
        content = self._contents[file]
        if content is None:
            scope.incomplete.update(KINDS)
            return None
        unit = Unit(file, content, scope)
        self._loaded[file, id(scope)] = unit
        self._register(unit)
        return unit

    def _read(self, file: str, wanted: Scalar | None) -> ServiceFile | None:
        """What is written in a file. The bundled ones never change, so a process reads each of them once."""
        if file in _bundled:
            return _bundled[file]
        found_before = len(self._diagnostics)
        document = self._package.load(file, self._diagnostics, wanted.span if wanted else None)
        content = read_service_file(document, self._diagnostics) if document else None
        if content is not None and file.startswith(PROFILE_SCHEME) and len(self._diagnostics) == found_before:
            _bundled[file] = content
        return content

    def _import(self, unit: Unit, item: ImportDefinition) -> Unit | None:
        file = self._locate(unit, item)
        scope: Scope | None = unit.scope
        if item.namespace_prefix is not None:
            scope = self._prefixed_scope(unit, file, item.namespace_prefix)
        if scope is None or file == NORMATIVE:
            return None
        if file is None:
            scope.incomplete.update(KINDS)
            return None
        return self._unit(file, scope, item.file)

    def _prefixed_scope(self, unit: Unit, file: str | None, prefix: Scalar) -> Scope | None:
        """The scope that a prefix stands for in a file, which all files share that import the same file so."""
        if prefix.text == RESERVED_PREFIX:
            self._diagnostics.error(
                "reserved-prefix",
                f'the prefix "{RESERVED_PREFIX}" is reserved for the normative types',
                prefix.span,
                hint="choose another prefix",
            )
            return None
        scope = self.normative if file == NORMATIVE else self._prefixed.setdefault(file or "", Scope())
        if unit.prefixes.setdefault(prefix.text, scope) is not scope:
            self._diagnostics.error(
                "duplicate-name",
                f'the prefix "{prefix.text}" is given to two imports',
                prefix.span,
                hint="choose another prefix",
            )
            return None
        return scope

    def _locate(self, unit: Unit, item: ImportDefinition) -> str | None:
        """The file that an import names, relative to the service's root; None where there is none, with a reason."""
        path = item.file.text
        if item.repository is not None:
            self._diagnostics.error(
                "not-supported-yet",
                "imports from a repository are not fetched in this version",
                item.repository.span,
                hint="copy the file beside the service template and import it by its path",
            )
            return None
        if path in DIALECTS:
            return NORMATIVE
        if path.startswith(PROFILE_SCHEME):
            name = path.removeprefix(PROFILE_SCHEME)
            if not has_profile(name):
                self._diagnostics.error(
                    "unknown-profile",
                    f'no bundled profile is called "{name}"',
                    item.file.span,
                    hint=suggestion(name, profile_names()),
                )
                return None
            return f"{PROFILE_SCHEME}{name}/profile.yaml"
        if "://" in path:
            self._diagnostics.error(
                "not-supported-yet",
                f"{path} is not fetched: imports over the network are not supported in this version",
                item.file.span,
                hint="download the file beside the service template and import it by its path",
            )
            return None
        if path.startswith("/"):
            self._diagnostics.error(
                "absolute-import",
                "an import by an absolute path works on one machine only",
                item.file.span,
                hint="write the path relative to this file",
            )
            return None
        if unit.is_bundled:
            return PROFILE_SCHEME + beside(unit.file.removeprefix(PROFILE_SCHEME), path)
        return unit.resolve(path)

    def _register(self, unit: Unit) -> None:
        """Make the types that a file defines known in its scope."""
        namespace = unit.namespace
        if namespace.startswith(TOSCA_DOMAIN) and not unit.is_bundled:
            assert unit.content.namespace is not None
            self._diagnostics.error(
                "reserved-namespace",
                f"namespaces below {TOSCA_DOMAIN} are reserved for TOSCA itself",
                unit.content.namespace.span,
                hint="choose a namespace of your own",
            )
        replaced = self._replaced(unit) if unit.scope is self.non_normative else frozenset()
        for kind, section in KINDS.items():
            entries = getattr(unit.content, section)
            if isinstance(entries, Entries):
                unit.scope.lost[kind] |= entries.lost
                if entries.all_lost:
                    unit.scope.incomplete.add(kind)
            for name, content in (entries or {}).items():
                if name not in replaced:
                    self._define(kind, name, content, unit)

    def _replaced(self, unit: Unit) -> set[str]:
        """The types of a file that give way to types of the same name, and those that refer to such: they would not
        fit what has taken its place."""
        written = [(k, n, c) for k, section in KINDS.items() for n, c in (getattr(unit.content, section) or {}).items()]
        replaced = {n for k, n, c in written if n in self.definitions[k] and self.definitions[k][n].content is not c}
        before = -1
        while before < len(replaced):
            before = len(replaced)
            replaced.update(n for _, n, c in written if not replaced.isdisjoint(texts(c.at)))
        return replaced

    def _define(self, kind: str, name: str, content: DefinedType, unit: Unit) -> None:
        """Make a type known, unless its name is taken by another one."""
        full = f"{unit.namespace}:{name}" if unit.namespace and not unit.is_bundled else name
        earlier = unit.scope.types[kind].get(name) or self.definitions[kind].get(full)
        if earlier is not None:
            unit.scope.types[kind].setdefault(name, earlier)
            if earlier.content is not content:
                self._diagnostics.error(
                    "duplicate-name",
                    f'the {kind} type "{name}" is defined twice',
                    content.span,
                    hint="rename one of them, or give their files namespaces and import one with a namespace_prefix",
                    related=(Related("first defined here", earlier.content.span),),
                )
            return
        if not unit.is_bundled:
            self._check_definition(kind, name, content)
        definition = Definition(kind, full, content, unit)
        unit.scope.types[kind][name] = definition
        self.definitions[kind][full] = definition

    def _check_definition(self, kind: str, name: str, content: DefinedType) -> None:
        shadowed = self.normative_names[kind].get(name) or self.normative.types[kind].get(name)
        if shadowed is not None:
            self._diagnostics.warning(
                "shadowed-type",
                f'"{name}" without a prefix means the normative {shadowed.name}, not this {kind} type',
                content.span,
                hint="choose another name",
            )
        if content.version is not None:
            try:
                Version.parse(content.version.text)
            except ValueError as error:
                self._diagnostics.error("bad-value", str(error), content.version.span, hint="for example 1.0.0")

    def require(self, kind: str, name: Scalar, unit: Unit, also: Iterable[str] = ()) -> Definition | None:
        """The type that a name means in a file; where there is none, an error with suggestions, to which belong
        ``also`` other names that may stand there."""
        found = find_type(kind, name, unit, self)
        if found is None and not self._is_lost(kind, name.text, unit):
            others = [k for k in KINDS if k != kind and find_type(k, name, unit, self) is not None]
            known = [*also, *visible_types(kind, unit, self)]
            note = f"it is a {others[0]} type" if others else ""
            self._diagnostics.unknown("unknown-type", f"{kind} type", name.text, name.span, known, note=note)
        return found

    def _is_lost(self, kind: str, text: str, unit: Unit) -> bool:
        """Whether a type that is not found may be written in what could not be read."""
        prefix, _, local = text.partition(":")
        scope = unit.prefixes.get(prefix)
        if scope is None:
            scope, local = unit.scope, text
        if text.startswith((f"{RESERVED_PREFIX}.", f"{RESERVED_PREFIX}:")):
            return False
        return kind in scope.incomplete or local in scope.lost[kind]


def _name_shortly(scope: Scope, names: dict[str, dict[str, Definition]]) -> None:
    for kind, known in scope.types.items():
        for name, definition in known.items():
            for short in _shorthands(name, definition):
                names[kind].setdefault(short, definition)


def _shorthands(name: str, definition: Definition) -> list[str]:
    """The short names of a normative type: those its metadata lists, and its name without ``tosca.<kind>s.``."""
    listed = (definition.content.metadata or {}).get("tosca.shorthand")
    found = [s.strip() for s in listed.text.split(",")] if listed else []
    parts = name.split(".", 2)
    return [*found, parts[-1]] if len(parts) > 2 else found


def find_type(kind: str, name: Scalar | str, unit: Unit, units: Units) -> Definition | None:
    """The type that a name means in a file (§3.2): the normative types first, then the file's own scope, then
    prefixes and URIs, and at last the non-normative types of chapter 9."""
    text = name if isinstance(name, str) else name.text
    found = _normative(kind, text, units) or unit.scope.types[kind].get(text)
    if found is not None:
        return found
    return _qualified(kind, text, unit, units) or _non_normative(kind, text, units)


def _qualified(kind: str, text: str, unit: Unit, units: Units) -> Definition | None:
    """The type that a name with a prefix or a namespace means in a file."""
    prefix, colon, local = text.partition(":")
    if colon and prefix == RESERVED_PREFIX:
        return _normative(kind, local, units)
    scope = unit.prefixes.get(prefix) if colon else None
    if scope is not None:
        return _normative(kind, local, units) if scope is units.normative else scope.types[kind].get(local)
    namespace, slash, local = text.rpartition("/")
    if slash and namespace == TOSCA_NAMESPACE:
        return _normative(kind, local, units)
    return units.definitions[kind].get(f"{namespace}:{local}") if slash else None


def _normative(kind: str, name: str, units: Units) -> Definition | None:
    return units.normative.types[kind].get(name) or units.normative_names[kind].get(name)


def _non_normative(kind: str, text: str, units: Units) -> Definition | None:
    """A type of chapter 9, found by its full name, its shorthand or ``tosca:`` with that."""
    local = text.removeprefix(f"{RESERVED_PREFIX}:")
    return units.non_normative.types[kind].get(local) or units.non_normative_names[kind].get(local)


def visible_types(kind: str, unit: Unit, units: Units) -> list[str]:
    """The names of all types of a kind that a file can use, for suggestions."""
    prefixed = [f"{p}:{n}" for p, s in unit.prefixes.items() for n in s.types[kind]]
    return [*unit.scope.types[kind], *prefixed, *units.normative.types[kind], *units.non_normative.types[kind]]
