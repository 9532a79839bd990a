"""JSON Schemas of the other files that a user writes: `ensemble.yaml` and inventories."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.inputs.environments import LOCKS, SECTION
from ordito.app.inputs.inventory import DEFAULTS_KEY, PROVIDE
from ordito.app.inputs.merge import STRATEGIES, STRATEGY
from ordito.app.inputs.sources import LITERAL, SOURCES
from ordito.app.inputs.user_part import KNOWN
from ordito.authoring.schema_values import Json
from ordito.ensemble.manifest_rows import StatusRow
from ordito.providers.cloud.section import SECTION as CLOUD_SECTION
from ordito.providers.connection import DEFAULTS
from ordito.providers.containers.section import CONTAINERS as CONTAINERS_SECTION
from ordito.providers.pool.hosts import HOSTS as HOSTS_SECTION
from ordito.providers.registry import CLOUD, CONTAINERS, HOSTS, provider_names, section_names
from ordito.providers.shapes import ValueKind

DRAFT = "https://json-schema.org/draft/2020-12/schema"
TEXT: Json = {"type": ["string", "null"]}
NULL: Json = {"type": "null"}

SECTIONS: Mapping[str, ValueKind] = {
    DEFAULTS_KEY: DEFAULTS,
    HOSTS: HOSTS_SECTION,
    CONTAINERS: CONTAINERS_SECTION,
    CLOUD: CLOUD_SECTION,
}
"""The sections of inventories that the program itself reads."""


def hosts_schema() -> Json:
    """The schema of inventories. The sections of plug-ins may contain anything."""
    sections: Json = {name: kind.schema() for name, kind in SECTIONS.items()}
    sections |= {name: {} for name in section_names() if name not in sections}
    names: Json = {"enum": list(provider_names())}
    sections[PROVIDE] = {"type": ["object", "null"], "additionalProperties": names}
    return {
        "$schema": DRAFT,
        "title": "inventory of Ordito (hosts.yaml)",
        "type": ["object", "null"],
        "properties": sections,
        "additionalProperties": False,
        "$defs": {"elsewhere": _elsewhere()},
    }


def ensemble_schema() -> Json:
    """The schema of `ensemble.yaml`: the user's part, which may be merged from files, and the status below it, which
    the program writes."""
    (status,), components = msgspec.json.schema_components(
        (StatusRow,), ref_template="#/$defs/{name}", schema_hook=_any
    )
    return {
        "$schema": DRAFT,
        "title": "ensemble.yaml",
        **_map(
            {
                "spec": {"$ref": "#/$defs/spec"},
                "status": {**status, "readOnly": True, "description": "Written by ordito: do not change it."},
            }
        ),
        "$defs": {
            **components,
            "spec": _spec(),
            "environment": _map(_section()),
            "values": {"type": ["object", "null"], "additionalProperties": {}},
            "connection": _map({"type": TEXT, "properties": {"$ref": "#/$defs/values"}}),
        },
    }


def _any(_: type) -> Json:
    """The schema of a value of an unknown type: any data."""
    return {"title": "data"}


def _spec() -> Json:
    own: Json = {
        "service": {**TEXT, "description": "A definitions file, a folder that contains one, or an archive."},
        "environment": {**TEXT, "description": "The environment that is deployed first."},
        "environments": _named({"$ref": "#/$defs/environment"}),
    }
    sections = _section()
    return _map({name: own[name] if name in own else sections[name] for name in KNOWN})


def _section() -> Json:
    """The settings that may be written for all environments, and for one."""
    kinds: Json = {
        "inputs": {"$ref": "#/$defs/values"},
        "variables": {"$ref": "#/$defs/values"},
        "connections": _named({"$ref": "#/$defs/connection"}),
        "hosts": {"type": ["string", "object", "null"]},
        "lock": {"anyOf": [{"enum": list(LOCKS)}, NULL]},
    }
    return {name: kinds[name] for name in SECTION}


def _map(known: Json) -> Json:
    """A map with known keys, or keys for merging."""
    return {
        "type": ["object", "null"],
        "properties": known,
        "patternProperties": MERGING,
        "additionalProperties": False,
    }


def _named(content: Json) -> Json:
    """A map with any names."""
    return {"type": ["object", "null"], "patternProperties": MERGING, "additionalProperties": content}


MERGING: Json = {
    f"^[+]{STRATEGY[1:]}$": {"enum": list(STRATEGIES)},
    f"^[+][^{STRATEGY[1:]}]": NULL,
}
"""Keys that include parts from elsewhere, and the key that says how a map is merged."""


def _elsewhere() -> Json:
    """A value that refers to another place: one of the sources, or a template in a text."""
    kinds = [*SOURCES, LITERAL]
    source: Json = {
        "type": "object",
        "properties": {**{kind: {} for kind in kinds}, "format": {}, "default": {}},
        "additionalProperties": False,
        "anyOf": [{"required": [kind]} for kind in kinds],
    }
    return {
        "title": "a value that refers to another place",
        "anyOf": [source, {"type": "string", "pattern": "[{][{%]"}],
    }
