"""The relationships of a topology, found from their other ends."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.model.service import NodeTemplate, Relationship


def by_target(nodes: Mapping[str, NodeTemplate]) -> dict[str, tuple[Relationship, ...]]:
    """The relationships that lead to each node."""
    found: dict[str, list[Relationship]] = {}
    for node in nodes.values():
        for relationship in node.requirements:
            found.setdefault(relationship.target, []).append(relationship)
    return {name: tuple(relationships) for name, relationships in found.items()}


def by_template(nodes: Mapping[str, NodeTemplate]) -> dict[str, tuple[Relationship, ...]]:
    """The relationships that each relationship template gave rise to."""
    found: dict[str, list[Relationship]] = {}
    for node in nodes.values():
        for relationship in node.requirements:
            if relationship.template:
                found.setdefault(relationship.template, []).append(relationship)
    return {name: tuple(relationships) for name, relationships in found.items()}
