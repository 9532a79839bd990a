"""A blueprint becomes one service file of TOSCA, each part of which stands where it was written: whoever reads the file
afterwards needs to know nothing of Cloudify, and findings show the author's own lines."""

from __future__ import annotations

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Span
from ordito.lowering.cloudify.ancestry import Ancestry
from ordito.lowering.cloudify.groups import GroupsOf
from ordito.lowering.cloudify.implementations import Implementations, check_plugins
from ordito.lowering.cloudify.merging import Merged, merge
from ordito.lowering.cloudify.operations import OperationsOf
from ordito.lowering.cloudify.parameters import ParametersOf
from ordito.lowering.cloudify.parts import FOLDER, Part, Parts, version_of
from ordito.lowering.cloudify.schemas import ANY, Schemas
from ordito.lowering.cloudify.settings import check_settings, tags_of
from ordito.lowering.cloudify.templates import TemplatesOf
from ordito.lowering.cloudify.types import TypesOf
from ordito.lowering.cloudify.values import PARENT, Values, is_call
from ordito.lowering.cloudify.words import in_words_of_blueprints
from ordito.lowering.cloudify.workflows import workflows_of
from ordito.lowering.making import sequence, text
from ordito.source.loader import Document
from ordito.source.nodes import Mapping, Node, Scalar
from ordito.source.package import Package
from ordito.source.scalars import core_value
from ordito.syntax.dialects import LOWERED
from ordito.syntax.service_template import ImportDefinition, Lowered, ServiceFile
from ordito.syntax.topology import TopologyTemplate

BASE = f"{FOLDER}base.yaml"
"""The types that all types of a blueprint derive from."""


def is_blueprint(document: Document) -> bool:
    """Whether a document says that it is a blueprint of Cloudify."""
    return version_of(document) is not None


def refuse_blueprint(document: Document, wanted_by: Span, diagnostics: Diagnostics) -> None:
    """Report a blueprint that a file of TOSCA imports."""
    version = version_of(document)
    diagnostics.error(
        "other-language",
        f"a file of TOSCA imports a blueprint of Cloudify ({version.text if version else ''})",
        wanted_by,
        hint="import files of TOSCA only; profile:cloudify has the types of Cloudify",
    )


def read_blueprint(document: Document, file: str, package: Package, diagnostics: Diagnostics) -> ServiceFile | None:
    """Read a blueprint and all that it imports; None, with the reason in ``diagnostics``, where it is none."""
    diagnostics.wording = in_words_of_blueprints
    parts = Parts(package, diagnostics)
    diagnostics.way = parts.way
    parts.gather(document, file)
    if not parts.found:
        return None
    merged = merge(parts.found, parts.dialect, diagnostics)
    merged["plugins"].update(parts.aliased())
    if parts.incomplete:
        for section in merged.sections.values():
            section.all_lost = True
    return _Lowering(merged, parts, package, diagnostics).file()


class _Lowering:
    """What is known of a blueprint while it is lowered."""

    def __init__(self, merged: Merged, parts: Parts, package: Package, diagnostics: Diagnostics) -> None:
        self._merged = merged
        self._parts: list[Part] = parts.found
        self._diagnostics = diagnostics
        version = parts.dialect.name
        self._version = version
        self._values = Values(version, diagnostics, {"get_label": self._label, "get_sys": self._fact})
        self._name = package.name
        self._schemas = Schemas(self._values, merged["data_types"], version, diagnostics)
        overrides = parts.catalogue.overrides()
        self._implementations = Implementations(merged["plugins"], package, diagnostics, parts.scripts, overrides)
        self._read = parts.catalogue.read
        self._operations = OperationsOf(self._implementations, self._schemas, self._values, diagnostics)
        self._nodes = Ancestry(merged["node_types"])
        self._values.parent = self._parent()
        self._values.components = self._components()
        self._relationships = Ancestry(merged["relationships"])

    def file(self) -> ServiceFile:
        """The service file."""
        merged = self._merged
        main = merged.main
        check_plugins(merged["plugins"], self._diagnostics)
        check_settings(merged.first["deployment_settings"], self._diagnostics)
        self._check_plugin_properties()
        self._check_labels()
        types = TypesOf(self._schemas, self._operations, self._diagnostics)
        further = [p for p in self._parts[1:] if not p.is_bundled]
        version = main.tosca_definitions_version
        assert version is not None
        base = ImportDefinition(at=main.at, file=text(BASE, version))
        return ServiceFile(
            at=main.at,
            tosca_definitions_version=version,
            description=self._description(),
            imports=[base],
            data_types=types.data(merged["data_types"]),
            node_types=types.nodes(self._nodes, merged["node_types"]),
            relationship_types=types.relationships(self._relationships, merged["relationships"]),
            topology_template=self._topology(),
            metadata=self._metadata(),
            lowered=Lowered(
                (*(p.file for p in further), *self._read),
                tuple(p.content.at.source for p in self._parts[1:]),
                LOWERED,
                language="cloudify",
            ),
        )

    def _topology(self) -> TopologyTemplate:
        merged = self._merged
        parameters = ParametersOf(self._schemas, self._values, self._version, self._diagnostics)
        own = {n for p in self._parts if not p.is_bundled for n in (p.content.workflows or {})}
        workflows = workflows_of(
            {n: w for n, w in merged["workflows"].items() if n in own},
            self._implementations,
            parameters,
            self._diagnostics,
        )
        templates = TemplatesOf(
            merged["node_templates"],
            self._nodes,
            self._relationships,
            self._operations,
            self._values,
            self._diagnostics,
        )
        groups = GroupsOf(merged, self._values, self._diagnostics)
        nodes = templates.lowered()
        outputs = parameters.outputs(merged["outputs"], merged["capabilities"])
        inputs = parameters.inputs(merged["inputs"])
        inputs.update(parameters.secrets(self._values.secrets))
        inputs.update(parameters.outputs_of_others(self._values.outputs, inputs))
        return TopologyTemplate(
            at=merged.main.at,
            inputs=inputs,
            node_templates=nodes,
            groups=groups.groups(),
            policies=groups.policies(),
            workflows=workflows or None,
            outputs=outputs,
        )

    def _description(self) -> Scalar | None:
        """What is said of the service: how it is shown, or its description."""
        settings = self._merged.first["deployment_settings"]
        shown = settings.display_name if settings is not None else None
        return shown if isinstance(shown, Scalar) else self._merged.first["description"]

    def _check_plugin_properties(self) -> None:
        """Report values that imports give to plugins which do not have them."""
        for part in self._parts:
            for key, node in part.properties.entries() if part.properties is not None else ():
                known = {n: s for p in (part.content.plugins or {}).values() for n, s in (p.properties or {}).items()}
                if key.text not in known:
                    self._diagnostics.unknown("unknown-property", "property of the plugin", key.text, key.span, known)
                elif not self._schemas.fits(known[key.text], node):
                    kind = known[key.text].type
                    self._diagnostics.error(
                        "bad-value", f'"{key.text}" is of type {kind.text if kind else ANY}', node.span
                    )
                else:
                    self._diagnostics.warning(
                        "not-applied", f'"{key.text}" has no effect: plugins are not run here', key.span
                    )

    def _parent(self) -> str:
        """The service that this one is part of, as its label says."""
        label = self._merged["labels"].get(PARENT)
        first = label.values[0] if label is not None and label.values else None
        return first.text if isinstance(first, Scalar) else ""

    def _components(self) -> dict[str, str]:
        """The node templates that stand for other services, by the names of these, or by their own."""
        found: dict[str, str] = {}
        for name, item in self._merged["node_templates"].items():
            if item.type is None or STANDING_FOR.isdisjoint(self._nodes.names(item.type.text)):
                continue
            config = _below(item.properties, "resource_config")
            identity = _below(_below(config, "deployment"), "id")
            found[identity.text if isinstance(identity, Scalar) and identity.text else f"{name}:"] = name
            client = _below(item.properties, "client")
            if isinstance(client, Mapping) and client.keys:
                self._diagnostics.error(
                    "not-supported-yet",
                    f'"{name}" stands for a service of another manager, and there is none here',
                    item.properties.key("client").span,
                    hint="remove client: the service is deployed below this one",
                )
        return found

    def _label(self, path: list[str]) -> Node | None:
        """The values of a label, or one of them."""
        label = self._merged["labels"].get(path[0])
        if label is None or len(path) > 2:
            return None
        if len(path) == 1:
            return sequence(label.values, label.at)
        at = int(path[1]) if path[1].isdecimal() else -1
        return label.values[at] if 0 <= at < len(label.values) else None

    def _fact(self, path: list[str]) -> str | None:
        """What is known of a deployment without a manager."""
        known = {("tenant", "name"): "default_tenant", ("deployment", "owner"): "admin"}
        known |= {("deployment", what): self._name for what in ("id", "name", "blueprint")}
        return known.get((path[0], path[-1])) if len(path) == 2 else None

    def _check_labels(self) -> None:
        """Report values of labels that are no texts; labels of the blueprint itself may not be functions either."""
        for section in ("labels", "blueprint_labels"):
            for label in self._merged[section].values():
                for node in label.values:
                    is_text = isinstance(node, Scalar) and isinstance(core_value(self._values.single(node)), str)
                    if not is_text and not (section == "labels" and is_call(node)):
                        what = "a text or a function" if section == "labels" else "a text"
                        self._diagnostics.error(
                            "bad-value", f"the value of a label is {what}", node.span, hint="write it in quotes"
                        )

    def _metadata(self) -> dict[str, Scalar] | None:
        """The single values among the metadata; and labels, each with its values."""
        found: dict[str, Scalar] = {}
        written = self._merged.first["metadata"]
        for key, node in written.entries() if written is not None else ():
            if isinstance(node, Scalar) and key.text != OF_TYPES and not key.text.startswith("ordito."):
                found[key.text] = node
        found.update(tags_of(self._merged.first["resource_tags"], self._diagnostics))
        for section in ("labels", "blueprint_labels"):
            for name, label in self._merged[section].items():
                values = [n.text for n in label.values if isinstance(n, Scalar)]
                found[f"{section}.{name}"] = text(", ".join(values), label.at, plain=False)
        return found or None


OF_TYPES = "cloudify_types"
"""The metadata by which files of the product's types are known."""

STANDING_FOR = frozenset({"cloudify.nodes.Component", "cloudify.nodes.SharedResource"})
"""The types of nodes that stand for other services."""


def _below(node: Node | None, name: str) -> Node | None:
    return node.values.get(name) if isinstance(node, Mapping) else None
