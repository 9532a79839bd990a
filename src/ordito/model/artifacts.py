"""Artifacts: their types, and finding the type by the file's extension (§3.6.7, §3.7.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.paths import extensions
from ordito.model.definitions import Definitions
from ordito.model.hierarchy import Hierarchy
from ordito.model.locations import Registry
from ordito.model.operation import Artifact
from ordito.model.schema import PropertyDefinition, Schema
from ordito.model.units import Unit, Units
from ordito.model.values import Values
from ordito.source.nodes import Scalar
from ordito.syntax import entities
from ordito.syntax.shapes import Entries

ROOT = "tosca.artifacts.Root"
FILE = "tosca.artifacts.File"
IMPLEMENTATION = "tosca.artifacts.Implementation"
ANSIBLE = "ordito.artifacts.Implementation.Ansible"
PLAYBOOKS = ("yaml", "yml")
_TEXT, _TEXTS = Schema("string"), Schema("list", Schema("string"))
PLAYBOOK_PROPERTIES = {
    "become": PropertyDefinition("become", Schema("boolean"), required=False),
    "become_user": PropertyDefinition("become_user", _TEXT, required=False),
    "tags": PropertyDefinition("tags", _TEXTS, required=False),
    "skip_tags": PropertyDefinition("skip_tags", _TEXTS, required=False),
    "vault_password": PropertyDefinition("vault_password", _TEXT, required=False, metadata={"sensitive": "true"}),
}
"""The properties of playbooks where the profile that declares the same ones is not imported."""
CONTAINER_IMAGE = "tosca.artifacts.Deployment.Image.Container.Docker"
IN_REGISTRY = re.compile(r"(localhost|[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*:\d+|[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+)/(.+)")
"""An image of a registry that is not a repository of the service: the registry's host, and the image's name there.
(The path of a file is written with ``./`` before a folder that has a dot in its name.)"""
MIME_TYPE = re.compile(r"[^\s/;]+/[^\s/;]+(\s*;.*)?")
ALGORITHMS = ("MD5", "SHA-1", "SHA-224", "SHA-256", "SHA-384", "SHA-512")


class ArtifactShape(msgspec.Struct, frozen=True):
    """An artifact type, flattened."""

    kinds: tuple[str, ...]
    mime_type: str
    extensions: tuple[str, ...]
    properties: MappingType[str, PropertyDefinition]


class Artifacts:
    """All artifact types, and the artifacts that definitions name."""

    def __init__(self, units: Units, values: Values, diagnostics: Diagnostics) -> None:
        self._units = units
        self._values = values
        self._diagnostics = diagnostics
        self.shapes: dict[str, ArtifactShape] = {}
        self._by_extension: dict[str, str] = {}
        self._files: dict[tuple[str, str], tuple[str, ArtifactShape]] = {}

    def add_types(self, hierarchy: Hierarchy, definitions: Definitions) -> None:
        """Flatten all artifact types."""
        for definition in hierarchy.order:
            written = definition.content
            assert isinstance(written, entities.ArtifactType)
            parent = self.shapes.get(hierarchy.parent(definition) or "")
            if written.mime_type is not None and not MIME_TYPE.fullmatch(written.mime_type.text):
                self._diagnostics.warning(
                    "odd-mime-type",
                    f'"{written.mime_type.text}" is not a media type',
                    written.mime_type.span,
                    hint="write type/subtype, for example application/zip",
                )
            extensions = tuple(e.text for e in written.file_ext or ())
            self.shapes[definition.name] = ArtifactShape(
                hierarchy.kinds[definition.name],
                written.mime_type.text if written.mime_type else parent.mime_type if parent else "",
                extensions or (parent.extensions if parent else ()),
                definitions.merge(parent.properties if parent else {}, written.properties, definition.unit),
            )
            for ending in extensions:
                self._by_extension.setdefault(ending.lower().lstrip("."), definition.name)
        # Playbooks are known without importing the profile that declares their type.
        kinds = (ANSIBLE, IMPLEMENTATION, ROOT)
        self.shapes.setdefault(ANSIBLE, ArtifactShape(kinds, "application/x-yaml", PLAYBOOKS, PLAYBOOK_PROPERTIES))
        for ending in PLAYBOOKS:
            self._by_extension.setdefault(ending, ANSIBLE)

    @property
    def runnable(self) -> list[str]:
        """The extensions of files that implement operations."""
        return sorted(e for e, kind in self._by_extension.items() if IMPLEMENTATION in self.shapes[kind].kinds)

    def read_all(
        self,
        written: MappingType[str, entities.ArtifactDefinition] | None,
        unit: Unit,
        inherited: MappingType[str, Artifact] | None = None,
    ) -> dict[str, Artifact]:
        """The artifacts of a node type or template; one that replaces an ``inherited`` artifact has its type where it
        names none."""
        above = inherited or {}
        found = {name: self.read(item, unit, above.get(name)) for name, item in (written or {}).items()}
        for name in written.lost if isinstance(written, Entries) else ():
            found[name] = Artifact(name, (), "")
        return found

    def read(self, written: entities.ArtifactDefinition, unit: Unit, inherited: Artifact | None = None) -> Artifact:
        """The artifact of a definition; one without kinds where its type does not exist."""
        shape = self._shape(written, unit, inherited)
        if shape is None:
            return Artifact(written.name, (), written.file.text, span=written.file.span)
        algorithm = self._algorithm(written)
        version = self._version(written)
        properties = self._values.fields(
            written.properties, shape.properties, f'artifact "{written.name}"', "property", written
        )
        registry, image = self._registry(written, shape, unit)
        return Artifact(
            name=written.name,
            kinds=shape.kinds,
            file=image or self._located(written, unit),
            repository=written.repository.text if written.repository else "",
            deploy_path=written.deploy_path.text if written.deploy_path else "",
            version=version,
            checksum=written.checksum.text if written.checksum else "",
            checksum_algorithm=algorithm,
            properties=properties,
            mime_type=shape.mime_type,
            span=written.file.span,
            address=registry.url if registry is not None else "",
            account=registry.account if registry is not None else None,
        )

    def _registry(
        self, written: entities.ArtifactDefinition, shape: ArtifactShape, unit: Unit
    ) -> tuple[Registry | None, str]:
        """The registry that has an image, and what it calls it; None and "" for what is a file."""
        if CONTAINER_IMAGE not in shape.kinds:
            return None, ""
        if written.repository is not None:
            return self._units.locations.registry(unit, written.repository), written.file.text
        in_registry = IN_REGISTRY.fullmatch(written.file.text)
        return (Registry(in_registry[1]), in_registry[2]) if in_registry else (None, "")

    def _algorithm(self, written: entities.ArtifactDefinition) -> str:
        """The algorithm of the checksum, as it is called here; "" where there is none."""
        if written.checksum is not None and written.checksum_algorithm is None:
            self._diagnostics.error(
                "missing-keyname",
                "a checksum needs its checksum_algorithm",
                written.checksum.span,
                hint=f"one of {', '.join(ALGORITHMS)}",
            )
        if written.checksum is not None and not written.checksum.text.strip():
            hint = "write the checksum, or leave the keyname out"
            self._diagnostics.error("bad-value", "the checksum is empty", written.checksum.span, hint=hint)
        algorithm = written.checksum_algorithm
        if algorithm is None:
            return ""
        found = next((a for a in ALGORITHMS if _plain(a) == _plain(algorithm.text)), "")
        if not found:
            self._diagnostics.unknown("bad-value", "checksum algorithm", algorithm.text, algorithm.span, ALGORITHMS)
        return found

    def _version(self, written: entities.ArtifactDefinition) -> str:
        version, other = written.artifact_version, written.version
        if version is not None and other is not None and version.text != other.text:
            self._diagnostics.error(
                "bad-value",
                f'version is another name of artifact_version, which is "{version.text}"',
                other.span,
                hint="remove version",
            )
        given = version or other
        return given.text if given else ""

    def _located(self, written: entities.ArtifactDefinition, unit: Unit) -> str:
        """Where the file of an artifact is."""
        return self._units.locations.of_artifact(unit, written.file, written.repository) or written.file.text

    def file(self, written: Scalar, unit: Unit) -> Artifact:
        """The artifact for a file name alone; its type follows from its extension."""
        known = self._files.get((unit.file, written.text))
        if known is None:
            shape = self.shapes[self._type_of(written.text) or FILE]
            file = self._units.locations.of_artifact(unit, written, None)
            known = self._files[unit.file, written.text] = file or written.text, shape
        file, shape = known
        return Artifact(written.text, shape.kinds, file, mime_type=shape.mime_type, span=written.span)

    def _type_of(self, file: str) -> str:
        """The type that follows from the extension of a file's name, the longest one that is known; "" where none
        does."""
        return next((self._by_extension[e] for e in extensions(file) if e in self._by_extension), "")

    def _shape(
        self, written: entities.ArtifactDefinition, unit: Unit, inherited: Artifact | None
    ) -> ArtifactShape | None:
        """The type of an artifact; None where it does not exist."""
        if written.type is None:
            if inherited is not None:
                return self.shapes.get(inherited.kinds[0]) if inherited.kinds else None
            return self._inferred(written)
        if written.type.text == ANSIBLE:
            return self.shapes[ANSIBLE]
        found = self._units.require("artifact", written.type, unit)
        return self.shapes.get(found.name) if found is not None else None

    def _inferred(self, written: entities.ArtifactDefinition) -> ArtifactShape | None:
        """The type of an artifact that names none."""
        name, file = self._type_of(written.file.text), written.file
        if isinstance(written.at, Scalar):
            if not name:
                self._diagnostics.warning(
                    "unknown-extension",
                    f'no type follows from the name "{file.text}": it is treated as a plain file',
                    file.span,
                    hint=f"write {{ file: {file.text}, type: {FILE} }} if it is one",
                )
            return self.shapes[name or FILE]
        if not name:
            self._diagnostics.error(
                "missing-keyname",
                f'{_called(written)} lacks "type", and none follows from the name of its file',
                written.span,
                hint=f"add type, for example {FILE}",
            )
            return None
        self._diagnostics.warning(
            "inferred-type",
            f"{_called(written)} should name its type; {name} follows from the name of its file",
            written.span,
            hint=f"add type: {name}",
        )
        return self.shapes[name]


def _called(written: entities.ArtifactDefinition) -> str:
    return f'artifact "{written.name}"' if written.name else "an artifact definition"


def _plain(algorithm: str) -> str:
    return algorithm.replace("-", "").replace("_", "").upper()
