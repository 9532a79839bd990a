"""The versions of Cloudify's language that can be read, each a table of its differences from the next version."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.syntax.cloudify.blueprint import Blueprint, Imports
from ordito.syntax.cloudify.entities import (
    CloudifyNodeTemplate,
    CloudifyOperation,
    InputSchema,
    Plugin,
    PropertySchema,
    TypeOperation,
)
from ordito.syntax.cloudify.policies import CloudifyWorkflow
from ordito.syntax.grammar import Dialect, Key

PREFIX = "cloudify_dsl_"

Overrides = Mapping[type, Mapping[str, Key | None]]


def _without(more: Mapping[type, tuple[str, ...]], later: Overrides) -> Overrides:
    """What differs from the latest version: what the next one lacks, and these keynames."""
    lacking = {entity: dict.fromkeys(names) for entity, names in more.items()}
    return {entity: {**later.get(entity, {}), **lacking.get(entity, {})} for entity in [*later, *lacking]}


_BEFORE_1_5: Overrides = {
    **_without({Plugin: ("properties", "properties_description")}, {}),
    Blueprint: {"imports": Key(Imports(maps=False))},
}
_BEFORE_1_4 = _without({InputSchema: ("item_type",), CloudifyWorkflow: ("availability_rules",)}, _BEFORE_1_5)
_BEFORE_1_3 = _without(
    {
        Blueprint: ("policies", "resource_tags"),
        CloudifyNodeTemplate: ("capabilities",),
        InputSchema: ("display_label", "hidden"),
    },
    _BEFORE_1_4,
)
_BEFORE_1_2 = _without(
    {
        Blueprint: ("description", "dsl_definitions", "data_types"),
        PropertySchema: ("required",),
        Plugin: ("supported_platform", "distribution", "distribution_version", "distribution_release"),
    },
    _BEFORE_1_3,
)
_RETRIES = ("max_retries", "retry_interval")
_BEFORE_1_1 = _without(
    {CloudifyOperation: _RETRIES, TypeOperation: _RETRIES, Plugin: ("install_arguments",)}, _BEFORE_1_2
)

CLOUDIFY_1_5 = Dialect(name=f"{PREFIX}1_5", uri="")
CLOUDIFY_1_4 = Dialect(name=f"{PREFIX}1_4", uri="", overrides=_BEFORE_1_5, later=CLOUDIFY_1_5)
CLOUDIFY_1_3 = Dialect(name=f"{PREFIX}1_3", uri="", overrides=_BEFORE_1_4, later=CLOUDIFY_1_4)
CLOUDIFY_1_2 = Dialect(name=f"{PREFIX}1_2", uri="", overrides=_BEFORE_1_3, later=CLOUDIFY_1_3)
CLOUDIFY_1_1 = Dialect(name=f"{PREFIX}1_1", uri="", overrides=_BEFORE_1_2, later=CLOUDIFY_1_2)
CLOUDIFY_1_0 = Dialect(name=f"{PREFIX}1_0", uri="", overrides=_BEFORE_1_1, later=CLOUDIFY_1_1)

VERSIONS = {d.name: d for d in (CLOUDIFY_1_0, CLOUDIFY_1_1, CLOUDIFY_1_2, CLOUDIFY_1_3, CLOUDIFY_1_4, CLOUDIFY_1_5)}
"""The versions by their names, the oldest first."""


def number(dialect: Dialect) -> int:
    """How late a version is: the later, the larger."""
    return [*VERSIONS].index(dialect.name)
