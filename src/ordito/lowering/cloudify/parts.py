"""The files of a blueprint: the main one, what it imports, and what that imports, each once."""

from __future__ import annotations

import posixpath
import re
from collections import deque

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.paths import beside, is_url, leaves_root
from ordito.lowering.cloudify.namespaces import SEPARATOR, Namespace
from ordito.lowering.making import text
from ordito.source.bundled import PROFILE_SCHEME
from ordito.source.loader import Document
from ordito.source.nodes import Mapping, Scalar, is_null
from ordito.source.package import Package
from ordito.syntax.cloudify.blueprint import Blueprint, Import
from ordito.syntax.cloudify.dialects import CLOUDIFY_1_5, PREFIX, VERSIONS, number
from ordito.syntax.grammar import Dialect, Reading, read_entity

VERSION = "tosca_definitions_version"
FOLDER = f"{PROFILE_SCHEME}cloudify_dsl/"
TYPES = f"{FOLDER}types.yaml"
RELEASES = frozenset(
    f"{major}.{minor}" for major, last in ((3, 4), (4, 6), (5, 2), (6, 4), (7, 0)) for minor in range(last + 1)
)
LATEST = "7.0"
"""The releases whose types are those that are bundled, without the number of the patch."""
TYPES_PATH = "cloudify/types/types.yaml"
TYPES_URL = re.compile(
    r"https?://(?:www\.)?(?:getcloudify\.org|cloudify\.co)/spec/cloudify/(?P<release>[^/]+)/types\.yaml"
)
PLUGIN_URL = re.compile(
    r"https?://(?:www\.)?(?:getcloudify\.org|cloudify\.co)/spec/(?P<name>[a-z0-9-]+)-plugin/[^/]+/(?:v2_)?plugin(?:_1_\d)?\.yaml"
)
PLUGIN = "plugin:"
BLUEPRINT = "blueprint:"
RESOURCE = "resource:"
OF_MANAGER = "/opt/manager/"


class Part(msgspec.Struct, frozen=True):
    """A file of the blueprint: where it is, and what it holds."""

    file: str
    """Its path from the root of the service, or ``profile:...`` for one that comes with the program."""
    content: Blueprint
    namespace: str = ""
    """What stands before the names that it defines, "" for nothing."""

    @property
    def is_bundled(self) -> bool:
        """Whether it comes with the program."""
        return self.file.startswith(PROFILE_SCHEME)


_bundled: dict[str, Blueprint] = {}
"""The files that come with the program and were read so far; they never change."""


def version_of(document: Document) -> Scalar | None:
    """The version that a document names, where that is one of Cloudify."""
    root = document.root
    written = root.values.get(VERSION) if isinstance(root, Mapping) else None
    return written if isinstance(written, Scalar) and written.text.startswith(PREFIX) else None


class Parts:
    """Reads the files of a blueprint, the main one first."""

    def __init__(self, package: Package, diagnostics: Diagnostics) -> None:
        self._package = package
        self._diagnostics = diagnostics
        self._seen: set[tuple[str, str]] = set()
        self._waiting: deque[Part] = deque()
        self.found: list[Part] = []
        self.dialect: Dialect = CLOUDIFY_1_5
        self.incomplete = False
        """Whether a file could not be read, so that names may be missing for that reason."""

    def gather(self, document: Document, file: str) -> None:
        """Read the main file and everything that it imports."""
        version = version_of(document)
        assert version is not None
        if version.text not in VERSIONS:
            self._unknown_version(version)
            return
        self.dialect = VERSIONS[version.text]
        self._read(document, file)
        while self._waiting:
            part = self._waiting.popleft()
            self._follow(part)

    def _follow(self, part: Part) -> None:
        for written in part.content.imports or ():
            split = self._split(written)
            if split is None:
                self.incomplete = True
                continue
            own, item = split
            namespace = SEPARATOR.join(filter(None, (part.namespace, own)))
            location = self._locate(part, item)
            if location is None:
                self.incomplete = True
                continue
            if location.startswith(PROFILE_SCHEME):
                if location == TYPES and own:
                    self._refuse_types(written.file)
                namespace = ""
            if (location, namespace) not in self._seen:
                self._load(location, item, namespace)

    def _split(self, item: Import) -> tuple[str, Import] | None:
        """The namespace of an import, and what it imports; None where it cannot be one, which is reported."""
        name, separator, rest = item.file.text.rpartition(SEPARATOR)
        if not separator:
            return "", item
        if SEPARATOR in name:
            self._diagnostics.error(
                "bad-value",
                f'the namespace "{name}" holds {SEPARATOR}, which ends a namespace',
                item.file.span,
                hint="give it a name without it",
            )
            return None
        if not name:
            self._diagnostics.warning(
                "empty-value", f"there is no namespace before {SEPARATOR}", item.file.span, hint=f"write {rest}"
            )
        return name, Import(text(rest, item.file, plain=item.file.plain), item.properties)

    def _refuse_types(self, written: Scalar) -> None:
        """Report a file of the product's types that is imported under a namespace."""
        self._diagnostics.error(
            "bad-value",
            "the types of Cloudify cannot be imported under a namespace",
            written.span,
            hint="import them without one",
        )

    def _load(self, location: str, item: Import, namespace: str) -> None:
        self._seen.add((location, namespace))
        if location.startswith(PROFILE_SCHEME):
            self.found.append(Part(location, bundled_file(location, self._package, self._diagnostics)))
            return
        before = self._diagnostics.errors
        document = self._package.load(location, self._diagnostics, item.file.span, last_wins=True)
        if document is None or not self._may_be_imported(document, item):
            assert self._diagnostics.errors > before
            self.incomplete = True
            return
        if namespace and _is_of_types(document):
            if not item.file.text.startswith(PROFILE_SCHEME) and namespace.count(SEPARATOR) == 0:
                self._refuse_types(item.file)
            namespace = ""
        self._read(document, location, namespace)

    def _read(self, document: Document, file: str, namespace: str = "") -> None:
        self._seen.add((file, namespace))
        root = document.root
        if namespace and isinstance(root, Mapping):
            root = Namespace(namespace, lambda path: self._script(file, path)).renamed(root)
        if not isinstance(root, Mapping):
            self._diagnostics.error("wrong-form", f"a blueprint is a map, not {root.kind}", root.span)
            self.incomplete = True
            return
        content = read_entity(Blueprint, root, Reading(self._diagnostics, self.dialect))
        if content is None:
            self.incomplete = True
            return
        part = Part(file, content, namespace)
        self.found.append(part)
        self._waiting.append(part)

    def _script(self, file: str, path: str) -> str:
        """The path of a script that a file names by its own place, from the folder of the main file; "" for none."""
        root = posixpath.dirname(self._package.main)
        place = beside(file, path)
        if "\n" in path or leaves_root(place) or not self._package.tree.is_file(place):
            return ""
        return posixpath.relpath(place, root) if root else place

    def _may_be_imported(self, document: Document, item: Import) -> bool:
        """Whether a file is one that a blueprint may import: of the same language, and of no later version."""
        root = document.root
        written = root.values.get(VERSION) if isinstance(root, Mapping) else None
        if written is None or is_null(written):
            return True
        if not isinstance(written, Scalar) or not written.text.startswith(PREFIX):
            self._diagnostics.error(
                "other-language",
                "a blueprint of Cloudify imports a file of another language",
                item.file.span,
                hint=f"import only files whose {VERSION} begins with {PREFIX}, or which have none",
                related=(Related("it says its language here", written.span),),
            )
            return False
        if written.text not in VERSIONS:
            self._unknown_version(written)
            return False
        if number(VERSIONS[written.text]) > number(self.dialect):
            self._diagnostics.error(
                "later-version",
                f"{item.file.text} is of {written.text}, and the blueprint of {self.dialect.name}",
                item.file.span,
                hint=f"raise {VERSION} of the blueprint to {written.text}",
                related=(Related("the imported file says its version here", written.span),),
            )
            return False
        return True

    def _unknown_version(self, version: Scalar) -> None:
        self._diagnostics.error(
            "unknown-version",
            f'"{version.text}" is not a version of Cloudify\'s language that can be read',
            version.span,
            hint=f"known here: {', '.join(VERSIONS)}",
        )

    # ------------------------------------------------------------------------------------------------- where files are

    def _locate(self, part: Part, item: Import) -> str | None:
        """The file that an import names; None where there is none, which is reported."""
        path = item.file.text
        types = self._types(item.file)
        if types:
            return types
        if path.startswith(PLUGIN) or PLUGIN_URL.fullmatch(path):
            return self._plugin(item.file)
        if path.startswith(BLUEPRINT):
            name = path.removeprefix(BLUEPRINT)
            self._diagnostics.error(
                "unknown-blueprint",
                f'no blueprint "{name}" is known here, and an imported one needs a namespace',
                item.file.span,
                hint="import its main file by its path",
            )
            return None
        if path.startswith(RESOURCE) or path.removeprefix("file://").startswith(OF_MANAGER):
            self._diagnostics.error(
                "import-not-found",
                f"{path} is on the disk of a manager, and there is none here",
                item.file.span,
                hint="put the file beside the blueprint, and import it by its path",
            )
            return None
        if is_url(path) and not path.startswith("file:"):
            return path
        return self._by_path(part, item.file)

    def _types(self, written: Scalar) -> str:
        """The bundled types, where an import means these; else ""."""
        path = written.text.removeprefix(RESOURCE)
        if path == TYPES_PATH or path.endswith(f"/{TYPES_PATH}"):
            return TYPES
        found = TYPES_URL.fullmatch(path)
        if found is None:
            return ""
        release = re.match(r"\d+\.\d+", found["release"])
        if release is None or release[0] not in RELEASES:
            self._diagnostics.note(
                "other-release",
                f"the types of release {found['release']} are not among those that come with this program",
                written.span,
                hint=f"those of release {LATEST} are taken",
            )
        return TYPES

    def _plugin(self, written: Scalar) -> str | None:
        """The bundled file of a plugin."""
        url = PLUGIN_URL.fullmatch(written.text)
        name = f"cloudify-{url['name']}-plugin" if url else written.text.removeprefix(PLUGIN).partition("?")[0]
        location = f"{FOLDER}plugins/{name}.yaml"
        if is_bundled_file(location, self._package):
            return location
        self._diagnostics.error(
            "unknown-plugin",
            f'the plugin "{name}" does not come with this program',
            written.span,
            hint="put its plugin.yaml beside the blueprint, and import that file by its path",
        )
        return None

    def _by_path(self, part: Part, written: Scalar) -> str | None:
        """A path from the importing file, or else from the folder of the blueprint."""
        path = written.text.removeprefix("file://").removeprefix("file:")
        root = posixpath.dirname(self._package.main)
        below = posixpath.normpath(path.lstrip("/"))
        near = below if path.startswith("/") else beside(part.file, path)
        for location in (near, posixpath.join(root, below)):
            if leaves_root(location) or (root and not location.startswith(f"{root}/")):
                continue
            if self._package.tree.is_file(location):
                return location
        if leaves_root(near):
            self._diagnostics.error(
                "outside-package",
                f"{written.text} leads out of the folder of the blueprint",
                written.span,
                hint="put the file beside the blueprint",
            )
            return None
        return near


def _is_of_types(document: Document) -> bool:
    """Whether a file holds the types of the product."""
    root = document.root
    if not isinstance(root, Mapping):
        return False
    metadata, types = root.values.get("metadata"), root.values.get("node_types")
    marked = isinstance(metadata, Mapping) and "cloudify_types" in metadata.values
    return marked or (isinstance(types, Mapping) and "cloudify.nodes.Root" in types.values)


def bundled_file(location: str, package: Package, diagnostics: Diagnostics) -> Blueprint:
    """A file that comes with the program, which is read once."""
    known = _bundled.get(location)
    if known is None:
        document = package.load(location, diagnostics)
        assert document is not None
        known = read_entity(Blueprint, document.root, Reading(diagnostics, CLOUDIFY_1_5))
        assert known is not None
        _bundled[location] = known
    return known


def is_bundled_file(location: str, package: Package) -> bool:
    """Whether a file comes with the program."""
    return location in _bundled or package.has_bundled(location)
