"""The files of a blueprint: the main one, what it imports, and what that imports, each once."""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Iterator

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.paths import beside, is_url, leaves_root
from ordito.base.span import Span
from ordito.lowering.cloudify.catalogue import BlueprintCatalogue, newest
from ordito.lowering.cloudify.namespaces import SEPARATOR, Namespace
from ordito.lowering.making import text
from ordito.source.bundled import PROFILE_SCHEME
from ordito.source.loader import Document
from ordito.source.nodes import Mapping, Scalar, is_null
from ordito.source.package import Package
from ordito.syntax.cloudify.blueprint import Blueprint, Import
from ordito.syntax.cloudify.dialects import CLOUDIFY_1_5, PREFIX, VERSIONS, number
from ordito.syntax.cloudify.entities import Plugin
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
PLUGIN_FILES = frozenset({"plugin.yaml", "plugin_1_4.yaml", "plugin_1_5.yaml", "v2_plugin.yaml"})


class Part(msgspec.Struct, frozen=True):
    """A file of the blueprint: where it is, and what it holds."""

    file: str
    """Its path from the root of the service, or ``profile:...`` for one that comes with the program."""
    content: Blueprint
    namespace: str = ""
    """What stands before the names that it defines, "" for nothing."""
    by: Part | None = None
    """The file that imports it, None for the main one."""
    written: Scalar | None = None
    """Where that one names it."""
    home: str = ""
    """The folder that its imports may not leave, "" for that of the main file."""
    blueprint: str = ""
    """The name of the blueprint of the catalogue that it is the main file of."""
    properties: Mapping | None = None
    """What the import gives to the plugin that it defines."""

    @property
    def is_bundled(self) -> bool:
        """Whether it comes with the program."""
        return self.file.startswith(PROFILE_SCHEME)

    @property
    def importers(self) -> Iterator[Part]:
        """The file itself, the one that imports it, and so on up to the main one."""
        part: Part | None = self
        while part is not None:
            yield part
            part = part.by


class _Located(msgspec.Struct, frozen=True):
    """Where the file of an import is, and what it is besides a file of the blueprint."""

    file: str
    home: str = ""
    blueprint: str = ""
    is_plugin: bool = False


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
        self.catalogue = BlueprintCatalogue(package, diagnostics)
        self._namespaces: dict[str, tuple[str, Scalar]] = {}
        """The namespace of each imported blueprint, and where it is imported."""
        self.aliases: list[tuple[str, str]] = []
        """The namespaces under which files of plugins are imported, which are read once without any."""
        self.scripts: set[str] = set()
        """Scripts of imported blueprints of the catalogue, from the folder of the main file."""
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
        root = document.root
        self._read(document, Part(file, Blueprint(at=root)))
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
            located = self._locate(part, item, own)
            if located is None:
                self.incomplete = True
                continue
            location = located.file
            if location == TYPES:
                if own:
                    self._refuse_types(written.file)
                namespace = ""
            if namespace and located.is_plugin:
                self.aliases.append((namespace, location))
            if located.is_plugin:
                namespace = ""
            if located.blueprint and not self._has_namespace(part, located.blueprint, namespace, written.file):
                self.incomplete = True
                continue
            if (location, namespace) not in self._seen:
                self._load(located, part, item, namespace)

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

    def _has_namespace(self, part: Part, name: str, namespace: str, written: Scalar) -> bool:
        """Whether a blueprint may be imported: under one namespace, and by none that it imports itself."""
        if not namespace:
            self._diagnostics.error(
                "bad-value",
                f'the blueprint "{name}" is imported without a namespace',
                written.span,
                hint=f"write {name}{SEPARATOR}{BLUEPRINT}{name}, where the first word is a namespace of your choice",
            )
            return False
        if any(p.blueprint == name for p in part.importers):
            way = [p.blueprint or "this blueprint" for p in part.importers][::-1]
            self._diagnostics.error(
                "import-cycle",
                f"blueprints import each other: {' -> '.join([*way, name])}",
                written.span,
                hint="remove one of the imports",
            )
            return False
        known = self._namespaces.setdefault(name, (namespace, written))
        if known[0] != namespace:
            self._diagnostics.error(
                "duplicate-name",
                f'the blueprint "{name}" is imported under two namespaces, {known[0]} and {namespace}',
                written.span,
                hint="keep one of them",
                related=(Related("the other import", known[1].span),),
            )
        return known[0] == namespace

    def _load(self, located: _Located, by: Part, item: Import, namespace: str) -> None:
        location = located.file
        self._seen.add((location, namespace))
        if location.startswith(PROFILE_SCHEME):
            content = bundled_file(location, self._package, self._diagnostics)
            self.found.append(Part(location, content, by=by, written=item.file, properties=item.properties))
            return
        before = self._diagnostics.errors
        document = self._package.load(location, self._diagnostics, item.file.span, last_wins=True)
        if document is not None and located.is_plugin:
            self._read_plugin(document, located, by, item)
            return
        if document is None or not self._may_be_imported(document, item):
            assert self._diagnostics.errors > before
            self.incomplete = True
            return
        if namespace and _is_of_types(document):
            if not item.file.text.startswith(PROFILE_SCHEME) and namespace.count(SEPARATOR) == 0:
                self._refuse_types(item.file)
            namespace = ""
        home = located.home or by.home
        self._read(document, Part(location, by.content, namespace, by, item.file, home, located.blueprint))

    def _read_plugin(self, document: Document, located: _Located, by: Part, item: Import) -> None:
        """Read the file of a plugin, which is another's: in the latest version, and past keynames that are unknown."""
        root, found = document.root, Diagnostics()
        content = read_entity(Blueprint, root, Reading(found, CLOUDIFY_1_5)) if isinstance(root, Mapping) else None
        self._diagnostics.extend(d for d in found if d.code != "unknown-keyname")
        if content is None:
            self.incomplete = True
            return
        home = located.home or by.home
        part = Part(located.file, content, "", by, item.file, home, properties=item.properties)
        self.found.append(part)
        self._waiting.append(part)

    def aliased(self) -> dict[str, Plugin]:
        """The plugins whose files are imported under a namespace, by the names that they have there."""
        files = {part.file: part.content.plugins or {} for part in self.found}
        return {
            f"{namespace}{SEPARATOR}{name}": plugin
            for namespace, file in self.aliases
            for name, plugin in files.get(file, {}).items()
        }

    def way(self, place: Span) -> tuple[Related, ...]:
        """The imports by which the file of a place is part of the blueprint, the nearest first."""
        part = next((p for p in self.found if p.content.at.source is place.source and p.by is not None), None)
        if part is None or part.is_bundled:
            return ()
        return tuple(Related("imported here", p.written.span) for p in part.importers if p.written is not None)

    def _read(self, document: Document, read: Part) -> None:
        file, namespace = read.file, read.namespace
        self._seen.add((file, namespace))
        root = document.root
        if namespace and isinstance(root, Mapping):
            root = Namespace(namespace, lambda path: self._script(read, path)).renamed(root)
        if not isinstance(root, Mapping):
            self._diagnostics.error("wrong-form", f"a blueprint is a map, not {root.kind}", root.span)
            self.incomplete = True
            return
        content = read_entity(Blueprint, root, Reading(self._diagnostics, self.dialect))
        if content is None:
            self.incomplete = True
            return
        part = msgspec.structs.replace(read, content=content)
        self.found.append(part)
        self._waiting.append(part)

    def _script(self, part: Part, path: str) -> str:
        """The path of a script that a file names by its own place, from the folder of the main file; "" for none."""
        root = posixpath.dirname(self._package.main)
        place = beside(part.file, path)
        inside = place.startswith(f"{part.home}/") if part.home else not leaves_root(place)
        if "\n" in path or not inside or not self._package.tree.is_file(place):
            return ""
        found = posixpath.relpath(place, root) if root else place
        if part.home:
            self.scripts.add(found)
        return found

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

    def _locate(self, part: Part, item: Import, namespace: str) -> _Located | None:
        """The file that an import names; None where there is none, which is reported."""
        path = item.file.text
        types = self._types(item.file)
        if types:
            return _Located(types)
        if path.startswith(PLUGIN) or PLUGIN_URL.fullmatch(path):
            return self._plugin(item.file)
        if path.startswith(BLUEPRINT):
            return self._blueprint(item.file)
        if path.startswith(RESOURCE) or path.removeprefix("file://").startswith(OF_MANAGER):
            self._diagnostics.error(
                "import-not-found",
                f"{path} is on the disk of a manager, and there is none here",
                item.file.span,
                hint="put the file beside the blueprint, and import it by its path",
            )
            return None
        if is_url(path) and not path.startswith("file:"):
            instead = self.catalogue.replaced(path)
            if instead and not is_url(instead):
                return _Located(
                    instead, posixpath.dirname(instead), is_plugin=posixpath.basename(instead) in PLUGIN_FILES
                )
            return _Located(instead or path)
        location = self._by_path(part, item.file)
        return _Located(location) if location is not None else None

    def _blueprint(self, written: Scalar) -> _Located | None:
        """The main file of a blueprint of the catalogue."""
        name = written.text.removeprefix(BLUEPRINT)
        found = self.catalogue.blueprint(name)
        if found:
            return _Located(found, posixpath.dirname(found), name)
        packed = self.catalogue.packed("blueprints", name)
        place = f"put its folder into {self.catalogue.places}/blueprints, or name another catalogue with --catalog"
        self._diagnostics.error(
            "unknown-blueprint",
            f'there is no blueprint "{name}" in the catalogue',
            written.span,
            hint=f"unpack {packed} there"
            if packed
            else self._diagnostics.suggestion(name, self.catalogue.blueprints(), note=place),
        )
        return None

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

    def _plugin(self, written: Scalar) -> _Located | None:
        """The file of a plugin: that of the catalogue, else that which comes with the program."""
        url = PLUGIN_URL.fullmatch(written.text)
        name, _, query = written.text.removeprefix(PLUGIN).partition("?")
        if url is not None:
            instead = self.catalogue.replaced(written.text)
            if instead:
                return _Located(instead, posixpath.dirname(instead), is_plugin=True)
            name, query = f"cloudify-{url['name']}-plugin", ""
        clauses = next((c.removeprefix("version=") for c in query.split("&") if c.startswith("version=")), "")
        known = self.catalogue.plugins(name)
        found = newest(known, clauses)
        if found is not None:
            file = found.variant(self.dialect.name)
            return _Located(file, posixpath.dirname(file), is_plugin=True)
        location = f"{FOLDER}plugins/{name}.yaml"
        if is_bundled_file(location, self._package):
            return _Located(location, is_plugin=True)
        if known:
            versions = ", ".join(sorted(p.version or "none" for p in known))
            self._diagnostics.error(
                "unknown-plugin",
                f'no version of the plugin "{name}" in the catalogue fits {clauses}',
                written.span,
                hint=f"there are versions: {versions}",
            )
            return None
        packed = self.catalogue.packed("plugins", name)
        folder = f"{self.catalogue.places}/plugins/{name}/"
        self._diagnostics.error(
            "unknown-plugin",
            f'the plugin "{name}" does not come with this program',
            written.span,
            hint=f"unpack {packed} into {folder}" if packed else f"put its plugin.yaml into {folder}",
        )
        return None

    def _by_path(self, part: Part, written: Scalar) -> str | None:
        """A path from the importing file, or else from the folder of the blueprint."""
        path = written.text.removeprefix("file://").removeprefix("file:")
        root = part.home or posixpath.dirname(self._package.main)
        below = posixpath.normpath(path.lstrip("/"))
        near = posixpath.join(root, below) if path.startswith("/") else beside(part.file, path)
        for location in (near, posixpath.normpath(posixpath.join(root, below))):
            if (
                leaves_root(below)
                or (root and not location.startswith(f"{root}/"))
                or leaves_root(location) > bool(part.home)
            ):
                continue
            if self._package.tree.is_file(location):
                return location
        if leaves_root(near) > bool(part.home) or (part.home and not near.startswith(f"{root}/")):
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
