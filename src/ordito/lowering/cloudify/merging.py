"""The files of a blueprint as one: which sections are united, and what becomes of a name that two of them have."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from typing import Any

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.lowering.cloudify.parts import Part
from ordito.lowering.making import mapping
from ordito.source.nodes import Mapping, Scalar, same_data
from ordito.syntax.cloudify.blueprint import Blueprint
from ordito.syntax.cloudify.dialects import CLOUDIFY_1_3, number
from ordito.syntax.cloudify.entities import CloudifyNodeTemplate
from ordito.syntax.grammar import Dialect, Entity
from ordito.syntax.shapes import Entries, has_lost

ALWAYS = (
    "node_types",
    "relationships",
    "data_types",
    "plugins",
    "workflows",
    "policy_types",
    "policy_triggers",
    "groups",
)
"""The sections that are united in every version."""
SINCE_1_3 = ("inputs", "outputs", "node_templates", "capabilities", "labels", "blueprint_labels")
NEARER = frozenset({"labels", "blueprint_labels"})
"""The sections of which the entry of the importing file is taken."""
ALONE = ("policies",)
"""Those that one file may have."""
FIRST = ("deployment_settings", "description", "metadata", "resource_tags")
RELATIONSHIPS = frozenset({"relationships"})


class Merged:
    """What the files of a blueprint say together. Each section is a map of names."""

    def __init__(self, main: Blueprint) -> None:
        self.main = main
        self.sections: dict[str, Entries] = {name: Entries() for name in (*ALWAYS, *SINCE_1_3, *ALONE)}
        self.first: dict[str, Any] = dict.fromkeys(FIRST)
        self.relationships: dict[str, list[Any]] = {}
        """What files add to the relationships of node templates of files that they import."""

    def __getitem__(self, section: str) -> Entries:
        return self.sections[section]


def merge(parts: list[Part], dialect: Dialect, diagnostics: Diagnostics) -> Merged:
    """Merge the files of a blueprint, the main one first."""
    merged = Merged(parts[0].content)
    owners: dict[str, Part] = {}
    for part in parts:
        for section in (*ALWAYS, *SINCE_1_3, *ALONE):
            written = getattr(part.content, section)
            if written is None:
                continue
            root = part.content.at
            is_written = isinstance(root, Mapping) and section in root.values
            owner = owners.setdefault(section, part) if is_written else part
            if owner is not part and not _may_be_united(section, dialect):
                _refuse(section, part, owner, dialect, diagnostics)
                merged[section].all_lost = True
                continue
            _unite(merged, section, written, part, diagnostics)
        for name in FIRST:
            written = getattr(part.content, name)
            if merged.first[name] is None:
                merged.first[name] = written
            elif name == "resource_tags" and written is not None:
                known = merged.first[name]
                more = [(k, v) for k, v in written.entries() if k.text not in known.values]
                merged.first[name] = mapping([*known.entries(), *more], known)
    _extend(merged)
    return merged


def _may_be_united(section: str, dialect: Dialect) -> bool:
    return section in ALWAYS or (section in SINCE_1_3 and number(dialect) >= number(CLOUDIFY_1_3))


def _refuse(section: str, part: Part, owner: Part, dialect: Dialect, diagnostics: Diagnostics) -> None:
    """Report a section that a second file has."""
    later = section in SINCE_1_3
    hint = f"raise tosca_definitions_version to {CLOUDIFY_1_3.name}, or put them" if later else "put them"
    diagnostics.error(
        "second-section",
        f'only one file may have "{section}"' + (f" in {dialect.name}" if later else ""),
        _key(part, section).span,
        hint=f"{hint} into one file",
        related=(Related("the other one is here", _key(owner, section).span),),
    )


def _key(part: Part, section: str) -> Scalar:
    root = part.content.at
    assert isinstance(root, Mapping)
    return root.key(section)


def _unite(
    merged: Merged, section: str, written: MappingType[str, Entity], part: Part, diagnostics: Diagnostics
) -> None:
    found = merged[section]
    if isinstance(written, Entries) and has_lost(written):
        found.lose(written.lost)
        found.all_lost = found.all_lost or written.all_lost
    for name, item in written.items():
        known = found.get(name)
        if known is None:
            found[name] = item
        elif known is item or section in NEARER or _is_same(name, known, item, part):
            continue
        elif section == "node_templates" and (more := _addition(known, item)) is not None:
            found[name] = more[0]
            merged.relationships.setdefault(name, []).append(more[1])
        else:
            diagnostics.error(
                "duplicate-name",
                f'"{name}" is defined in two files below "{section}"',
                known.span,
                hint="rename one of them, or keep one",
                related=(Related("the other one", item.span),),
            )
            if section == "node_templates" and known.type is None:
                found[name] = item


def _is_same(name: str, known: Entity, item: Entity, part: Part) -> bool:
    """Whether a name of the bundled types or of a plugin is met again with the same content."""
    is_of_product = name.startswith("cloudify.") or part.is_bundled
    return is_of_product and same_data(known.at, item.at)


def _addition(known: Entity, item: Entity) -> tuple[CloudifyNodeTemplate, CloudifyNodeTemplate] | None:
    """The template itself, and what the importing file adds to its relationships, where that is all that one says."""
    assert isinstance(known, CloudifyNodeTemplate)
    assert isinstance(item, CloudifyNodeTemplate)
    for adding, whole in ((known, item), (item, known)):
        if isinstance(adding.at, Mapping) and adding.at.values.keys() == RELATIONSHIPS and whole.type is not None:
            return whole, adding
    return None


def _extend(merged: Merged) -> None:
    templates = merged["node_templates"]
    for name, added in merged.relationships.items():
        more = [entry for item in added for entry in item.relationships or ()]
        known = templates[name]
        templates[name] = msgspec.structs.replace(known, relationships=[*(known.relationships or ()), *more])
