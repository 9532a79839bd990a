"""The service template, as it is written: one file, with its imports and repositories (§3.6.6, §3.6.8, §3.10)."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from ordito.base.span import SourceText
from ordito.base.suggest import nearest
from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.syntax.entities import (
    ArtifactType,
    CapabilityType,
    DataType,
    GroupType,
    InterfaceType,
    NodeType,
    PolicyType,
    RelationshipType,
)
from ordito.syntax.grammar import Dialect, Entity, Key, Reading
from ordito.syntax.shapes import Many, Metadata, Named, NamedOrListed, One, Raw, Text, Texts
from ordito.syntax.topology import TopologyTemplate


class ImportDefinition(Entity, frozen=True, eq=False, kw_only=True):
    """Import definition (§3.6.8)."""

    SHORT: ClassVar[str] = "file"
    WHAT: ClassVar[str] = "import"

    file: Annotated[Scalar, Key(Text(), required=True)]
    repository: Annotated[Scalar | None, Key(Text())] = None
    namespace_prefix: Annotated[Scalar | None, Key(Text())] = None
    namespace_uri: Annotated[Scalar | None, Key(Text(), instead="namespace in the imported file")] = None


IMPORT_KEYNAMES = ("file", "repository", "namespace_prefix", "namespace_uri")


class Imports(msgspec.Struct, frozen=True):
    """The imports of a file. Each may have a name before it, which is a form of older versions."""

    def read(self, node: Node, what: str, reading: Reading) -> list[ImportDefinition] | None:
        """The imports that can be read, in their order."""
        if isinstance(node, Sequence):
            items: list[Node] = [self._without_name(item, reading) for item in node.items]
            node = Sequence(node.source, node.line, node.column, node.end_line, node.end_column, items)
        return Many(One(ImportDefinition)).read(node, what, reading)

    def _without_name(self, item: Node, reading: Reading) -> Node:
        if not isinstance(item, Mapping) or len(item.keys) != 1 or isinstance(item.values[item.keys[0].text], Sequence):
            return item
        (name,) = item.keys
        if nearest(name.text, IMPORT_KEYNAMES):
            return item
        if reading.dialect.later is None:
            reading.diagnostics.warning(
                "deprecated", "imports have no names", name.span, hint="write the file alone, or file: and its path"
            )
        return item.values[name.text]


class RepositoryDefinition(Entity, frozen=True, eq=False, kw_only=True):
    """Repository definition (§3.6.6)."""

    SHORT: ClassVar[str] = "url"
    WHAT: ClassVar[str] = "repository"

    description: Annotated[Scalar | None, Key(Text())] = None
    url: Annotated[Scalar, Key(Text(), required=True)]
    credential: Annotated[Node | None, Key(Raw())] = None


class Lowered(msgspec.Struct, frozen=True):
    """What a file of another language was read from that became one of TOSCA's."""

    files: tuple[str, ...]
    """The user's further files that are part of it, relative to the root of the service."""
    sources: tuple[SourceText, ...]
    """The texts of these files."""
    dialect: Dialect
    """The dialect in which it is read from here on."""
    normative: str = ""
    """The bundled file with the normative types that the language has, "" for those of TOSCA 1.3."""
    language: str = ""
    """The name of the language, as ``PORTED`` has it."""
    is_shaped: bool = False
    """Whether what the file was read from has the form of TOSCA already."""


class ServiceFile(Entity, frozen=True, eq=False, kw_only=True):
    """Service template (§3.10): one file."""

    WHAT: ClassVar[str] = "service template"
    SECTIONS: ClassVar[bool] = True

    tosca_definitions_version: Annotated[Scalar, Key(Text(), required=True)]
    namespace: Annotated[Scalar | None, Key(Text())] = None
    metadata: Annotated[Metadata | None, Key(Texts())] = None
    template_name: Annotated[Scalar | None, Key(Text(), instead='it below "metadata:"')] = None
    template_author: Annotated[Scalar | None, Key(Text(), instead='it below "metadata:"')] = None
    template_version: Annotated[Scalar | None, Key(Text(), instead='it below "metadata:"')] = None
    description: Annotated[Scalar | None, Key(Text())] = None
    dsl_definitions: Annotated[Node | None, Key(Raw())] = None
    repositories: Annotated[dict[str, RepositoryDefinition] | None, Key(Named(RepositoryDefinition))] = None
    imports: Annotated[list[ImportDefinition] | None, Key(Imports())] = None
    artifact_types: Annotated[dict[str, ArtifactType] | None, Key(Named(ArtifactType))] = None
    data_types: Annotated[dict[str, DataType] | None, Key(Named(DataType))] = None
    capability_types: Annotated[dict[str, CapabilityType] | None, Key(Named(CapabilityType))] = None
    interface_types: Annotated[dict[str, InterfaceType] | None, Key(Named(InterfaceType))] = None
    relationship_types: Annotated[dict[str, RelationshipType] | None, Key(Named(RelationshipType))] = None
    node_types: Annotated[dict[str, NodeType] | None, Key(Named(NodeType))] = None
    group_types: Annotated[dict[str, GroupType] | None, Key(Named(GroupType))] = None
    policy_types: Annotated[dict[str, PolicyType] | None, Key(NamedOrListed(PolicyType))] = None
    topology_template: Annotated[TopologyTemplate | None, Key(One(TopologyTemplate))] = None
    lowered: Lowered | None = None
    """Where it was written in another language: what it was read from."""

    @property
    def facts(self) -> dict[str, str]:
        """The metadata of the file, with the name, author and version that older documents write as keynames."""
        beside = {"template_name": self.template_name, "template_author": self.template_author}
        beside["template_version"] = self.template_version
        found = {name: text.text for name, text in beside.items() if text is not None}
        return {**found, **{name: text.text for name, text in (self.metadata or {}).items()}}
