"""One file of a service, and one type that it defines."""

from __future__ import annotations

from functools import cached_property

from ordito.base.paths import beside, is_url
from ordito.source.bundled import PROFILE_SCHEME
from ordito.syntax.entities import DefinedType
from ordito.syntax.grammar import Dialect
from ordito.syntax.service_file import dialect_of
from ordito.syntax.service_template import ServiceFile

NORMATIVE = f"{PROFILE_SCHEME}tosca_"
"""How the files begin that hold types of the specification."""

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


class Unit:
    """One file. ``file`` is its path relative to the service's root, or ``profile:...`` for a bundled one.

    ``imports`` are the files that it imports without a prefix, by their names; ``prefixes`` are the files behind each
    prefix: several where they share a namespace, none where the file could not be read. ``types`` are the types that it
    defines, by kind and name as written.
    """

    def __init__(self, file: str, content: ServiceFile) -> None:
        self.file = file
        self.content = content
        self.number = 0
        self.namespace = content.namespace.text if content.namespace else ""
        self.imports: dict[str, Unit] = {}
        self.prefixes: dict[str, list[Unit]] = {}
        self.types: dict[tuple[str, str], Definition] = {}
        self.found: dict[tuple[str, str], Definition | None] = {}
        """What the names that were looked up in the file mean."""

    @cached_property
    def dialect(self) -> Dialect:
        """The version of the language that the file is written in."""
        return dialect_of(self.content)

    @property
    def is_bundled(self) -> bool:
        """Whether the file comes with the program and is not the user's."""
        return self.file.startswith(PROFILE_SCHEME)

    @property
    def is_normative(self) -> bool:
        """Whether the file holds types of the specification."""
        return self.file.startswith(NORMATIVE)

    def resolve(self, path: str) -> str:
        """A path written in this file, relative to the service's root; URLs and absolute paths stay as they are. In a
        file that is known by its URL, all paths are URLs."""
        if is_url(path) or (path.startswith("/") and not is_url(self.file)):
            return path
        return beside(self.file, path)


class Definition:
    """A type definition with its file. ``name`` is its full name."""

    __slots__ = ("content", "kind", "name", "unit")

    def __init__(self, kind: str, name: str, content: DefinedType, unit: Unit) -> None:
        self.kind = kind
        self.name = name
        self.content = content
        self.unit = unit
