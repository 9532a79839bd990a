"""The versions of TOSCA that can be read, each a table of its differences from the next version (§3.1.2).

A version accepts what existed when it was published: a keyname that came later is an error, which names the version
that has it, and a form that was deprecated later is accepted without a warning.
"""

from __future__ import annotations

from collections.abc import Mapping

from ordito.syntax.entities import (
    ArtifactDefinition,
    AttributeDefinition,
    CapabilityAssignment,
    DataType,
    GroupType,
    Implementation,
    InterfaceDefinition,
    NodeTemplate,
    OperationDefinition,
    ParameterDefinition,
    PolicyType,
    PropertyDefinition,
    RequirementAssignment,
    SchemaDefinition,
)
from ordito.syntax.grammar import Dialect, Key
from ordito.syntax.mappings import SubstitutionMappings
from ordito.syntax.policies import Policy, Trigger
from ordito.syntax.service_template import ImportDefinition, ServiceFile
from ordito.syntax.shapes import Named, Text
from ordito.syntax.topology import Group, TopologyTemplate
from ordito.syntax.workflows import Workflow

Overrides = Mapping[type, Mapping[str, Key | None]]

TOSCA_NAMESPACE = "http://docs.oasis-open.org/tosca/ns/simple/yaml/1.3"

TOSCA_1_3 = Dialect(name="tosca_simple_yaml_1_3", uri=TOSCA_NAMESPACE)

LOWERED = Dialect(name="tosca_simple_yaml_1_3", uri=TOSCA_NAMESPACE, is_open=True, is_untyped=True)
"""What blueprints become. Nobody can name it."""

ARCHIVES = Dialect(
    name="tosca_simple_yaml_1_3", uri=TOSCA_NAMESPACE, is_open=True, is_free=True, is_lenient=True, climbs=True
)
"""What archives of Alien4Cloud become, which nobody can name either."""


PORTED_BLUEPRINTS = Dialect(
    name="tosca_simple_yaml_1_3", uri=TOSCA_NAMESPACE, is_open=True, is_untyped=True, is_free=True
)
"""What a blueprint is that was written as a service of TOSCA: each operation and property says all of itself."""

LANGUAGE = "ordito.language"
"""The metadata of a file that was written from one in another language, whose openness it keeps."""

PORTED: Mapping[str, tuple[Dialect, str]] = {
    "cloudify": (PORTED_BLUEPRINTS, ""),
    "alien4cloud": (ARCHIVES, "profile:tosca_of_alien4cloud/types.yaml"),
}
"""By the names of other languages: what their files are read as that were written as TOSCA, and the normative types."""


def _merged(base: Overrides, more: Overrides) -> dict[type, dict[str, Key | None]]:
    """What differs from the base grammar: all that a later version lacks, and some more."""
    return {entity: {**base.get(entity, {}), **more.get(entity, {})} for entity in [*base, *more]}


_NO_KEY_SCHEMA: Mapping[str, Key | None] = {"key_schema": None}
_STORAGE = {
    "tosca.nodes.BlockStorage": "tosca.nodes.Storage.BlockStorage",
    "tosca.nodes.ObjectStorage": "tosca.nodes.Storage.ObjectStorage",
}

_BEFORE_1_3: Overrides = {
    SchemaDefinition: _NO_KEY_SCHEMA,
    PropertyDefinition: {**_NO_KEY_SCHEMA, "value": None},
    ParameterDefinition: _NO_KEY_SCHEMA,
    AttributeDefinition: {**_NO_KEY_SCHEMA, "metadata": None},
    DataType: {**_NO_KEY_SCHEMA, "entry_schema": None},
    ArtifactDefinition: dict.fromkeys(
        ("artifact_version", "version", "checksum", "checksum_algorithm", "properties"), None
    ),
    OperationDefinition: {"outputs": None},
    InterfaceDefinition: {"operations": Key(Named(OperationDefinition, empty=True))},
    GroupType: {"interfaces": Key(Named(InterfaceDefinition))},
    Group: {"interfaces": Key(Named(InterfaceDefinition))},
    CapabilityAssignment: {"occurrences": None},
    RequirementAssignment: {"occurrences": None},
    NodeTemplate: {"occurrences": None, "instance_count": None},
    Workflow: {"implementation": None, "outputs": None},
    SubstitutionMappings: {"substitution_filter": None, "attributes": None},
    ImportDefinition: {"namespace_uri": Key(Text())},
}

TOSCA_1_2 = Dialect(
    name="tosca_simple_yaml_1_2",
    uri="http://docs.oasis-open.org/tosca/ns/simple/yaml/1.2",
    overrides=_BEFORE_1_3,
    later=TOSCA_1_3,
    bare=True,
    renamed={"node": _STORAGE},
)

_OF_PROPERTIES: Mapping[str, Key | None] = {"external-schema": None, "metadata": None}

TOSCA_1_1 = Dialect(
    name="tosca_simple_yaml_1_1",
    uri="http://docs.oasis-open.org/tosca/ns/simple/yaml/1.1",
    overrides=_merged(
        _BEFORE_1_3,
        {
            ServiceFile: {"namespace": None},
            PropertyDefinition: _OF_PROPERTIES,
            ParameterDefinition: _OF_PROPERTIES,
            Implementation: {"timeout": None, "operation_host": None},
            Trigger: {"event_type": Key(Text())},
            SubstitutionMappings: {"properties": None, "interfaces": None},
        },
    ),
    later=TOSCA_1_2,
    bare=True,
    # What a Compute offers to software was a Container then, with the properties that a Compute capability has now.
    renamed={"node": _STORAGE, "capability": {"tosca.capabilities.Container": "tosca.capabilities.Compute"}},
)

TOSCA_1_0 = Dialect(
    name="tosca_simple_yaml_1_0",
    uri="http://docs.oasis-open.org/tosca/ns/simple/yaml/1.0",
    overrides=_merged(
        TOSCA_1_1.overrides,
        {TopologyTemplate: {"workflows": None}, PolicyType: {"triggers": None}, Policy: {"triggers": None}},
    ),
    later=TOSCA_1_1,
    bare=True,
    renamed=TOSCA_1_1.renamed,
)

DIALECTS = {name: d for d in (TOSCA_1_0, TOSCA_1_1, TOSCA_1_2, TOSCA_1_3) for name in (d.name, d.uri)}
"""The versions by their names and by their URIs."""
