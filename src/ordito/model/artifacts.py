"""Artifacts: their types, and finding the type by the file's extension (§3.6.7, §3.7.4)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.paths import extension
from ordito.model.definitions import Definitions
from ordito.model.hierarchy import Hierarchy
from ordito.model.operation import Artifact
from ordito.model.schema import PropertyDefinition
from ordito.model.units import Unit, Units
from ordito.model.values import Values
from ordito.source.nodes import Scalar
from ordito.syntax import entities
from ordito.syntax.entries import Entries

FILE = "tosca.artifacts.File"
IMPLEMENTATION = "tosca.artifacts.Implementation"
CONTAINER_IMAGE = "tosca.artifacts.Deployment.Image.Container.Docker"
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
            extensions = tuple(e.text for e in written.file_ext or ())
            self.shapes[definition.name] = ArtifactShape(
                hierarchy.kinds[definition.name],
                written.mime_type.text if written.mime_type else parent.mime_type if parent else "",
                extensions or (parent.extensions if parent else ()),
                definitions.merge(parent.properties if parent else {}, written.properties, definition.unit),
            )
            for ending in extensions:
                self._by_extension.setdefault(ending.lower().lstrip("."), definition.name)

    @property
    def runnable(self) -> list[str]:
        """The extensions of files that implement operations."""
        return sorted(e for e, kind in self._by_extension.items() if IMPLEMENTATION in self.shapes[kind].kinds)

    def read_all(
        self, written: MappingType[str, entities.ArtifactDefinition] | None, unit: Unit
    ) -> dict[str, Artifact]:
        """The artifacts of a node type or template."""
        found = {name: self.read(item, unit) for name, item in (written or {}).items()}
        for name in written.lost if isinstance(written, Entries) else ():
            found[name] = Artifact(name, (), "")
        return found

    def read(self, written: entities.ArtifactDefinition, unit: Unit) -> Artifact:
        """The artifact of a definition; one without kinds where its type does not exist."""
        shape = self._shape(written, unit)
        if shape is None:
            return Artifact(written.name, (), written.file.text, span=written.file.span)
        if written.checksum is not None and written.checksum_algorithm is None:
            self._diagnostics.error(
                "missing-keyname",
                "a checksum needs its checksum_algorithm",
                written.checksum.span,
                hint=f"one of {', '.join(ALGORITHMS)}",
            )
        algorithm = written.checksum_algorithm
        if algorithm is not None and _plain(algorithm.text) not in {_plain(a) for a in ALGORITHMS}:
            self._diagnostics.unknown("bad-value", "checksum algorithm", algorithm.text, algorithm.span, ALGORITHMS)
        version = written.artifact_version or written.version
        properties = self._values.fields(
            written.properties, shape.properties, f'artifact "{written.name}"', "property", written
        )
        return Artifact(
            name=written.name,
            kinds=shape.kinds,
            file=self._located(written, shape, unit),
            repository=written.repository.text if written.repository else "",
            deploy_path=written.deploy_path.text if written.deploy_path else "",
            version=version.text if version else "",
            checksum=written.checksum.text if written.checksum else "",
            checksum_algorithm=algorithm.text if algorithm else "",
            properties=properties,
            mime_type=shape.mime_type,
            span=written.file.span,
        )

    def _located(self, written: entities.ArtifactDefinition, shape: ArtifactShape, unit: Unit) -> str:
        """Where the file of an artifact is. An image of a registry is no file: whoever runs it knows where it is."""
        if written.repository is not None and CONTAINER_IMAGE in shape.kinds:
            return written.file.text
        return self._units.locations.of_artifact(unit, written.file, written.repository) or written.file.text

    def file(self, written: Scalar, unit: Unit) -> Artifact:
        """The artifact that a bare file name stands for; its type follows from its extension."""
        known = self._files.get((unit.file, written.text))
        if known is None:
            shape = self.shapes[self._by_extension.get(extension(written.text), FILE)]
            file = self._units.locations.of_artifact(unit, written, None)
            known = self._files[unit.file, written.text] = file or written.text, shape
        file, shape = known
        return Artifact(written.text, shape.kinds, file, mime_type=shape.mime_type, span=written.span)

    def _shape(self, written: entities.ArtifactDefinition, unit: Unit) -> ArtifactShape | None:
        if written.type is None:
            return self.shapes[self._by_extension.get(extension(written.file.text), FILE)]
        found = self._units.require("artifact", written.type, unit)
        return self.shapes.get(found.name) if found is not None else None


def _plain(algorithm: str) -> str:
    return algorithm.replace("-", "").replace("_", "").upper()
