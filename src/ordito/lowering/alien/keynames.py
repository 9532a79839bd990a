"""The versions of Alien4Cloud's language, and the keynames of its entities. What an entity does not have is no error in
this language: it is said, and skipped."""

from __future__ import annotations

from ordito.base.diagnostics import Diagnostics
from ordito.lowering.making import mapping
from ordito.source.nodes import Mapping, Scalar
from ordito.syntax.dialects import DIALECTS

PREFIX = "alien_dsl_"
VERSIONS = {
    "alien_dsl_1_1_0": 12,
    "alien_dsl_1_2_0": 12,
    "alien_dsl_1_3_0": 13,
    "alien_dsl_1_4_0": 14,
    "alien_dsl_2_0_0": 20,
    "alien_dsl_3_0_0": 30,
}
"""The versions and their numbers; the files of TOSCA that archives import are read as those of the latest one."""
LATEST = 30

_TYPE = ("derived_from", "description", "version", "metadata", "tags", "abstract")
_DEFINITION = (
    *("type", "required", "default", "description", "constraints", "entry_schema", "key_schema", "password"),
    *("suggestion", "metadata", "status", "external-schema", "external_schema"),
)

KEYNAMES: dict[str, tuple[str, ...]] = {
    "archive": (
        *("tosca_definitions_version", "tosca_default_namespace", "namespace", "metadata", "description"),
        *("template_name", "template_version", "template_author", "dsl_definitions", "repositories", "imports"),
        *("artifact_types", "data_types", "capability_types", "relationship_types", "node_types", "policy_types"),
        *("interface_types", "group_types", "topology_template"),
    ),
    "node type": (
        *_TYPE,
        *("portability", "properties", "attributes", "requirements", "capabilities", "interfaces", "artifacts"),
    ),
    "relationship type": (
        *_TYPE,
        *("properties", "attributes", "interfaces", "artifacts"),
        *("valid_source_types", "valid_target_types", "valid_sources", "valid_targets"),
    ),
    "capability type": (*_TYPE, "properties", "attributes", "valid_source_types"),
    "data type": (*_TYPE, "properties", "constraints"),
    "artifact type": (*_TYPE, "mime_type", "file_ext", "properties"),
    "policy type": (*_TYPE, "properties", "targets", "triggers"),
    "property definition": _DEFINITION,
    "attribute definition": ("type", "description", "default", "entry_schema", "key_schema", "metadata", "status"),
    "capability definition": (
        *("type", "description", "occurrences", "valid_source_types", "properties", "attributes"),
        *("upper_bound", "lower_bound"),
    ),
    "requirement definition": (
        *("capability", "node", "relationship", "relationship_type", "type", "capability_name", "occurrences"),
        *("node_filter", "description", "upper_bound", "lower_bound"),
    ),
    "artifact": (
        *("type", "file", "repository", "deploy_path", "description", "properties"),
        *("archive_name", "archive_version", "archive_file", "artifact_repository"),
    ),
    "operation": ("implementation", "inputs", "input", "outputs", "description", "dependencies"),
    "topology template": (
        *("description", "tags", "metadata", "inputs", "input_artifacts", "node_templates", "outputs", "groups"),
        *("policies", "substitution_mappings", "workflows"),
    ),
    "node template": (
        *("type", "properties", "attributes", "requirements", "capabilities", "interfaces", "artifacts", "metadata"),
        *("description", "tags", "portability", "node_filter", "directives"),
    ),
    "requirement": (
        *("node", "capability", "relationship", "type_requirement", "properties", "interfaces", "credential"),
        "node_filter",
    ),
    "group": ("members", "policies", "description", "metadata"),
    "policy": ("type", "targets", "properties", "triggers", "metadata", "description"),
    "workflow": ("description", "metadata", "inputs", "steps"),
    "workflow step": (
        *("node", "activity", "on-success", "target", "target_relationship", "operation_host", "activities"),
        *("on_success", "on_failure", "relationship"),
    ),
    "output": ("description", "value", "type"),
}

SINCE: dict[str, dict[str, int]] = {
    "archive": {"policy_types": 20},
    "topology template": {"policies": 20, "tags": 20},
    "requirement": {"type_requirement": 20},
    "workflow": {"inputs": 30},
}
"""The keynames that not every version has, with the number of the first one that does."""


class Keynames:
    """Keeps what entities have, in one version of the language."""

    def __init__(self, version: int, diagnostics: Diagnostics) -> None:
        self._version = version
        self._diagnostics = diagnostics

    def kept(self, node: Mapping, entity: str) -> Mapping:
        """A map without the keynames that its entity does not have, each of which is said."""
        known = KEYNAMES[entity]
        since = SINCE.get(entity, {})
        entries = []
        for key, value in node.entries():
            if key.text not in known:
                hint = self._diagnostics.suggestion(key.text, known)
                self._skip(key, f'{entity} has no keyname "{key.text}"', hint)
            elif since.get(key.text, 0) > self._version:
                first = next(name for name, number in VERSIONS.items() if number == since[key.text])
                hint = f"it has one since {first}: raise tosca_definitions_version"
                self._skip(key, f'{entity} has no keyname "{key.text}" in this version', hint)
            else:
                entries.append((key, value))
        return node if len(entries) == len(node.keys) else mapping(entries, node)

    def _skip(self, key: Scalar, message: str, hint: str) -> None:
        self._diagnostics.warning(
            "unknown-keyname", f"{message}, so what is written below it is skipped", key.span, hint=hint
        )


def number_of(version: str) -> int:
    """The number of a version of the language, or of the version of TOSCA that an archive may be in; 0 for others."""
    return VERSIONS.get(version, LATEST if version in DIALECTS else 0)
