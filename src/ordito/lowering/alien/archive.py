"""An archive becomes one service file of TOSCA, with the types of all archives that it imports, each part of which
stands where it was written: whoever reads the file afterwards needs to know nothing of Alien4Cloud."""

from __future__ import annotations

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Span
from ordito.lowering.alien.archives import NORMATIVE, VERSION, ArchiveFile, ArchiveImports, fact, moved, version_of
from ordito.lowering.alien.definitions import DefinitionsOf
from ordito.lowering.alien.functions import SECRET, FunctionsOf
from ordito.lowering.alien.interfaces import InterfacesOf
from ordito.lowering.alien.keynames import Keynames
from ordito.lowering.alien.shapes import ArchiveShapes
from ordito.lowering.alien.shelf import is_version
from ordito.lowering.alien.topology import TopologyOf
from ordito.lowering.alien.types import SECTIONS, ArchiveTypes
from ordito.lowering.alien.variables import VariablesOf
from ordito.lowering.making import mapping, text
from ordito.source.bundled import PROFILE_SCHEME
from ordito.source.loader import Document
from ordito.source.nodes import Mapping, Node, Scalar, is_null, same_data
from ordito.source.package import Package
from ordito.syntax.dialects import ARCHIVES
from ordito.syntax.grammar import Reading, read_entity
from ordito.syntax.service_template import Lowered, ServiceFile
from ordito.syntax.shapes import Entries

TYPES = f"{PROFILE_SCHEME}tosca_of_alien4cloud/types.yaml"
"""The normative types as the product has them."""
AS_WRITTEN = ("interface_types", "group_types")
"""The sections that only files of TOSCA have, which need no lowering."""
FACTS = ("template_name", "template_version", "template_author")
LINKS_HAVE_NAMES = 20
USUAL = frozenset({"inherited-attribute"})
"""What TOSCA warns of and this language is made for: an attribute that is that of a host."""


def is_archive_file(document: Document) -> bool:
    """Whether a document says that it is in Alien4Cloud's language."""
    return version_of(document) is not None


def refuse_archive(document: Document, wanted_by: Span, diagnostics: Diagnostics) -> None:
    """Report an archive of Alien4Cloud that a file of TOSCA imports."""
    version = version_of(document)
    diagnostics.error(
        "other-language",
        f"a file of TOSCA imports an archive of Alien4Cloud ({version.text if version else ''}), whose normative types "
        "are other ones",
        wanted_by,
        hint="import files of TOSCA only, or begin the main file with that version",
    )


def read_archive(document: Document, file: str, package: Package, diagnostics: Diagnostics) -> ServiceFile | None:
    """Read an archive and all that it imports; None, with the reason in ``diagnostics``, where it is none."""
    diagnostics.unsaid = USUAL
    imports = ArchiveImports(package, diagnostics)
    main = imports.gather(document, file)
    return _ArchiveLowering(imports, main, package, diagnostics).file() if main is not None else None


class _ArchiveLowering:
    """What is known of an archive and of those that it imports while they are lowered."""

    def __init__(self, imports: ArchiveImports, main: ArchiveFile, package: Package, diagnostics: Diagnostics) -> None:
        self._files = imports.in_order
        self._incomplete = imports.incomplete
        self._has_normative = imports.has_normative
        self._main = main
        self._package = package
        self._diagnostics = diagnostics
        self._node_types = self._names("node_types")
        written = (f.root.values.get("node_types") for f in self._files)
        types = {n: t for node in written if isinstance(node, Mapping) for n, t in node.values.items()}
        self._variables = VariablesOf(package, {n: t for n, t in types.items() if isinstance(t, Mapping)})
        self._secrets: dict[str, Scalar] = {}
        self._capability_types = self._names("capability_types")

    def file(self) -> ServiceFile | None:
        """The service file."""
        root = self._main.root
        if not self._has_normative:
            self._warn_of_normative()
        entries: list[tuple[Scalar, Node]] = [(root.key(VERSION), root.values[VERSION])]
        entries += self._types()
        entries += self._united("repositories")
        topology = self._topology()
        if topology is not None:
            entries.append((root.key("topology_template"), topology))
        description = root.values.get("description")
        if isinstance(description, Scalar) and not is_null(description):
            entries.append((root.key("description"), description))
        metadata = self._metadata()
        if metadata is not None:
            entries.append((text("metadata", metadata), metadata))
        content = read_entity(ServiceFile, mapping(entries, root), Reading(self._diagnostics, ARCHIVES))
        if content is None:
            return None
        others = [f for f in self._files if f is not self._main]
        lowered = Lowered(
            tuple(f.file for f in others),
            tuple(f.root.source for f in others),
            ARCHIVES,
            TYPES,
            "alien4cloud",
            is_shaped=True,
        )
        return _with(content, lowered, self._incomplete)

    def _names(self, section: str) -> frozenset[str]:
        found = (f.root.values.get(section) for f in self._files)
        return frozenset(name for node in found if isinstance(node, Mapping) for name in node.values)

    def _shapes(self, file: ArchiveFile) -> ArchiveShapes:
        keynames = Keynames(file.number, self._diagnostics)
        return ArchiveShapes(keynames, lambda path: moved(path, file, self._main, self._package), self._diagnostics)

    # Types.

    def _types(self) -> list[tuple[Scalar, Node]]:
        """The types of all files. Of one name, that of the main file counts, or else the one that was imported last."""
        found: dict[str, dict[str, tuple[Scalar, Node]]] = {}
        places: dict[str, Scalar] = {}
        functions = FunctionsOf((), self._diagnostics)
        functions.secrets = self._secrets
        for file in self._files:
            shapes = self._shapes(file)
            interfaces = InterfacesOf(shapes, functions, self._variables)
            definitions = DefinitionsOf(shapes, functions, self._node_types, self._capability_types)
            types = ArchiveTypes(shapes, definitions, interfaces, self._node_types)
            for section in (*SECTIONS, *AS_WRITTEN):
                node = file.root.values.get(section)
                if node is None:
                    continue
                places.setdefault(section, file.root.key(section))
                table = types.section(node, section) if section in SECTIONS else node
                for key, value in table.entries() if isinstance(table, Mapping) else ():
                    self._enter(key, value, found.setdefault(section, {}))
        return [(places[section], mapping(types.values(), places[section])) for section, types in found.items()]

    def _enter(self, key: Scalar, value: Node, section: dict[str, tuple[Scalar, Node]]) -> None:
        earlier = section.get(key.text)
        if earlier is not None and not same_data(earlier[1], value):
            self._diagnostics.warning(
                "shadowed-type",
                f'"{key.text}" is defined in an archive that is imported, too; this definition is taken',
                key.span,
                hint="rename one of them, or import only one of the archives",
                related=(Related("the other one", earlier[0].span),),
            )
        section[key.text] = key, value

    def _warn_of_normative(self) -> None:
        """Warn of a file that uses the normative types without importing them, once."""
        for file in self._files:
            place = _normative_in(file.root)
            if place is not None:
                self._diagnostics.warning(
                    "missing-import",
                    f"{place.text} is a normative type, and nothing imports {NORMATIVE}; those that come with the "
                    "program are taken",
                    place.span,
                    hint=f"add {NORMATIVE}:1.0.0-ALIEN20 to the imports",
                )
                return

    def _united(self, section: str) -> list[tuple[Scalar, Node]]:
        found: dict[str, tuple[Scalar, Node]] = {}
        place: Scalar | None = None
        for file in self._files:
            node = self._shapes(file).table(file.root.values.get(section), f'"{section}"')
            for key, value in node.entries() if node is not None else ():
                place = place or file.root.key(section)
                found[key.text] = key, _repository(value)
        return [(place, mapping(found.values(), place))] if place is not None else []

    # Topology.

    def _topology(self) -> Node | None:
        shapes = self._shapes(self._main)
        written = self._main.root.values.get("topology_template")
        templates = written.values.get("node_templates") if isinstance(written, Mapping) else None
        names = templates.values if isinstance(templates, Mapping) else {}
        functions = FunctionsOf(names, self._diagnostics)
        functions.secrets = self._secrets
        interfaces = InterfacesOf(shapes, functions, self._variables)
        definitions = DefinitionsOf(shapes, functions, self._node_types, self._capability_types)
        later = self._main.number >= LINKS_HAVE_NAMES
        return self._with_secrets(TopologyOf(shapes, definitions, interfaces, functions, later).lowered(written))

    def _with_secrets(self, topology: Mapping | None) -> Mapping | None:
        """The topology with the inputs that stand for secrets."""
        if topology is None or not self._secrets:
            return topology
        made: list[tuple[Scalar, Node]] = []
        for name, at in self._secrets.items():
            facts = [("ordito.secret", text(name, at, plain=False)), ("sensitive", text("true", at, plain=False))]
            metadata = mapping([(text(n, at), v) for n, v in facts], at)
            parts: list[tuple[str, Node]] = [
                ("type", text("any", at)),
                ("required", text("false", at)),
                ("metadata", metadata),
            ]
            made.append((text(f"{SECRET}{name}", at, plain=False), mapping([(text(n, at), v) for n, v in parts], at)))
        known = topology.values.get("inputs")
        inputs = mapping([*(known.entries() if isinstance(known, Mapping) else ()), *made], topology)
        others = [(k, v) for k, v in topology.entries() if k.text != "inputs"]
        return mapping([(text("inputs", topology), inputs), *others], topology)

    def _metadata(self) -> Mapping | None:
        """Name, version and author, wherever they are written; and other texts of the metadata."""
        root = self._main.root
        more: list[tuple[Scalar, Node]] = []
        for name in FACTS:
            found = fact(root, name)
            if found is not None:
                more.append((text(name, found), found))
                if name == "template_version" and not is_version(found.text):
                    self._diagnostics.error(
                        "bad-value",
                        f'"{found.text}" is not a version of an archive',
                        found.span,
                        hint="write numbers with dots, and a qualifier where it has one, as in 1.0.0-SNAPSHOT",
                    )
        return self._shapes(self._main).texts(root.values.get("metadata"), more)


def _with(content: ServiceFile, lowered: Lowered, incomplete: bool) -> ServiceFile:
    """The file with what it was read from; where a file of it could not be read, any type may be missing for that."""
    fields = {name: getattr(content, name) for name in content.__struct_fields__}
    if incomplete:
        for section in SECTIONS:
            found = fields[section]
            if not isinstance(found, Entries):
                found = fields[section] = Entries(found or {})
            found.all_lost = True
    return ServiceFile(**{**fields, "lowered": lowered})


def _repository(node: Node) -> Node:
    """A repository, with what TOSCA has of one."""
    if not isinstance(node, Mapping):
        return node
    return mapping([(k, v) for k, v in node.entries() if k.text in ("url", "description", "credential")], node)


def _normative_in(root: Mapping) -> Scalar | None:
    """The first name of a normative type in a file."""
    waiting: list[Node] = [root]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, Scalar):
            if node.text.startswith(("tosca.nodes.", "tosca.capabilities.", "tosca.relationships.")):
                return node
        else:
            waiting += node.values.values() if isinstance(node, Mapping) else node.items
    return None
