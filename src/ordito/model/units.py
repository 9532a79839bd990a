"""The files of a service and how they see each other: imports, namespaces, prefixes (§3.2, §3.6.8)."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import SourceText
from ordito.lowering.alien.archive import is_archive_file, read_archive, refuse_archive
from ordito.lowering.cloudify.blueprints import is_blueprint, read_blueprint, refuse_blueprint
from ordito.model.locations import NORMATIVE, Locations
from ordito.model.names import RESERVED_PREFIX, Names
from ordito.model.unit import KINDS, Definition, Unit
from ordito.source.bundled import PROFILE_SCHEME
from ordito.source.nodes import Mapping, Scalar
from ordito.source.package import Package
from ordito.syntax.service_file import read_service_file
from ordito.syntax.service_template import ImportDefinition, ServiceFile
from ordito.syntax.shapes import is_lost

NON_NORMATIVE = f"{PROFILE_SCHEME}tosca_non_normative_1_3/profile.yaml"

PREFIX = re.compile(r"\w[\w.-]*")

_bundled: dict[str, ServiceFile] = {}
"""The bundled files that were read so far; their content never changes."""


class Units:
    """All files of a service, the entry first."""

    def __init__(self, package: Package, diagnostics: Diagnostics) -> None:
        self._package = package
        self._diagnostics = diagnostics
        self._loaded: dict[str, Unit | None] = {}
        self._contents: dict[str, ServiceFile | None] = {}
        """What was read before anything follows from it."""
        self.locations = Locations(package, diagnostics)
        self._new: deque[Unit] = deque()
        self._by_source: dict[int, Unit] = {}
        self.names = Names(diagnostics)
        self.entry: Unit | None = None

    def gather(self) -> None:
        """Load the normative profile, the entry file, the archive's other definitions and everything that these import,
        each file once, and then the types of chapter 9 that were not defined otherwise."""
        self._follow(self._normative())
        self.names.add_normative(self._units_from(0))
        loaded = len(self._loaded)
        self.entry = self._follow(self._package.main)
        for other in self._package.others:
            self._follow(other)
        for unit in self._units_from(loaded):
            self.names.add(unit)
        non_normative = self._follow(NON_NORMATIVE)
        if non_normative is not None:
            self.names.add_non_normative(non_normative)
        self.names.close()
        self._warn_of_topologies()

    @property
    def definitions(self) -> dict[str, dict[str, Definition]]:
        """All type definitions of each kind, by full name."""
        return self.names.definitions

    @property
    def all(self) -> list[Unit]:
        """The user's files that could be read, the entry first."""
        return [u for u in self._loaded.values() if u is not None and not u.is_bundled]

    @property
    def files(self) -> tuple[str, ...]:
        """The user's files, relative to the service's root."""
        found: list[str] = []
        for unit in self.written:
            found += (unit.file, *(unit.content.lowered.files if unit.content.lowered is not None else ()))
        return tuple(dict.fromkeys(found))

    @property
    def written(self) -> list[Unit]:
        """The user's files."""
        return [unit for unit in self._loaded.values() if unit is not None and not unit.is_bundled]

    def require(self, kind: str, name: Scalar, unit: Unit, also: Iterable[str] = ()) -> Definition | None:
        """The type that a name means in a file; where there is none, report an error with suggestions, with ``also`` as
        further names that are allowed there."""
        return self.names.require(kind, name, unit, also)

    def of_source(self, source: SourceText) -> Unit | None:
        """The file whose text that is."""
        if not self._by_source:
            units = [u for u in self._loaded.values() if u is not None]
            self._by_source = {id(u.content.at.source): u for u in units}
            for unit in units:
                if unit.content.lowered is not None:
                    self._by_source.update((id(s), unit) for s in unit.content.lowered.sources)
        return self._by_source.get(id(source))

    def _units_from(self, number: int) -> list[Unit]:
        """The files that were read after so many others."""
        return [unit for unit in islice(self._loaded.values(), number, None) if unit is not None]

    def _follow(self, file: str) -> Unit | None:
        """Load a file and all that it imports."""
        entry = self._load(file)
        while self._new:
            unit = self._new.popleft()
            if is_lost(unit.content.imports, ""):
                self.names.mark_incomplete(unit)
            for item in unit.content.imports or ():
                self._import(unit, item)
        return entry

    def _normative(self) -> str:
        """The file with the normative types: those of TOSCA, unless the language of the main file has others."""
        main = self._package.main
        content = self._contents[main] = self._read(main, None)
        return (content.lowered.normative if content is not None and content.lowered else "") or NORMATIVE

    def _load(self, file: str, wanted: ImportDefinition | None = None) -> Unit | None:
        """The unit of a file; None where it cannot be read, which is reported once."""
        if file not in self._loaded:
            content = self._contents.pop(file) if file in self._contents else self._read(file, _place(wanted))
            unit = Unit(file, content) if content is not None else None
            self._loaded[file] = unit
            if unit is not None:
                self._new.append(unit)
        return self._loaded[file]

    def _read(self, file: str, wanted: Scalar | None) -> ServiceFile | None:
        """What is written in a file. The bundled ones never change, so a process reads each of them once."""
        if file in _bundled:
            return _bundled[file]
        found_before = len(self._diagnostics)
        document = self._package.load_definitions(file, self._diagnostics, wanted.span if wanted else None)
        content = None
        if document is not None and is_blueprint(document):
            if wanted is None:
                content = read_blueprint(document, file, self._package, self._diagnostics)
            else:
                refuse_blueprint(document, wanted.span, self._diagnostics)
        elif document is not None and is_archive_file(document):
            if wanted is None:
                content = read_archive(document, file, self._package, self._diagnostics)
            else:
                refuse_archive(document, wanted.span, self._diagnostics)
        elif document is not None:
            content = read_service_file(document, self._diagnostics)
        if content is not None and file.startswith(PROFILE_SCHEME) and len(self._diagnostics) == found_before:
            _bundled[file] = content
        return content

    def _import(self, unit: Unit, item: ImportDefinition) -> None:
        file = self.locations.of_import(unit, item)
        found = self._load(file, item) if file is not None else None
        if found is None:
            self.names.mark_incomplete(unit)
        else:
            self._check_namespace(found, item)
        if item.namespace_prefix is not None:
            self._prefix(unit, item.namespace_prefix, found)
        elif found is not None and found is not unit:
            unit.imports[found.file] = found

    def _prefix(self, unit: Unit, prefix: Scalar, target: Unit | None) -> None:
        """Give an imported file a prefix, which it may share only with files of its namespace."""
        if prefix.text == RESERVED_PREFIX:
            self._diagnostics.error(
                "reserved-prefix",
                f'the prefix "{RESERVED_PREFIX}" is reserved for the normative types',
                prefix.span,
                hint="choose another prefix",
            )
            return
        if not PREFIX.fullmatch(prefix.text):
            self._diagnostics.error(
                "bad-value",
                f'"{prefix.text}" cannot stand before the colon of a type\'s name',
                prefix.span,
                hint="a prefix is made of letters, digits, _, - and dots",
            )
        taken = prefix.text in unit.prefixes
        others = unit.prefixes.setdefault(prefix.text, [])
        if target is None or target in others:
            return
        if taken and not (others and target.namespace and others[0].namespace == target.namespace):
            self._diagnostics.error(
                "duplicate-name",
                f'the prefix "{prefix.text}" is given to two imports',
                prefix.span,
                hint="choose another prefix",
            )
            return
        others.append(target)

    def _check_namespace(self, unit: Unit, item: ImportDefinition) -> None:
        """A namespace that an import gives holds only where the file has none of its own (R-3.6.8-7)."""
        wanted = item.namespace_uri
        if wanted is None:
            return
        unit.namespace = unit.namespace or wanted.text
        if wanted.text != unit.namespace:
            self._diagnostics.warning(
                "other-namespace",
                f"{unit.file} has the namespace {unit.namespace}, which holds instead of this one",
                wanted.span,
                hint="remove namespace_uri",
            )

    def _warn_of_topologies(self) -> None:
        """Only the topology of the entry is deployed."""
        for unit in self._loaded.values():
            if unit is None or unit is self.entry or not isinstance(unit.content.at, Mapping):
                continue
            topology = unit.content.topology_template
            if topology is not None and topology.substitution_mappings is None:
                if unit.file in self._package.others:
                    self._diagnostics.note(
                        "ignored-topology",
                        "this topology cannot substitute anything, so it is ignored",
                        unit.content.at.key("topology_template").span,
                        hint="give it substitution_mappings, or leave the file out of Other-Definitions",
                    )
                    continue
                self._diagnostics.warning(
                    "ignored-topology",
                    "the topology of an imported file is not part of the service",
                    unit.content.at.key("topology_template").span,
                    hint="only its types are used; move the templates to the main file to deploy them",
                )


def _place(wanted: ImportDefinition | None) -> Scalar | None:
    return wanted.file if wanted is not None else None


def find_type(kind: str, name: Scalar | str, unit: Unit, units: Units) -> Definition | None:
    """The type that a name means in a file; None where there is none."""
    return units.names.find(kind, name if isinstance(name, str) else name.text, unit)


def visible_types(kind: str, unit: Unit, units: Units) -> Iterator[str]:
    """The names of all types of a kind that a file can use, for suggestions."""
    return units.names.visible(kind, unit)


__all__ = ["KINDS", "Definition", "Unit", "Units", "find_type", "visible_types"]
