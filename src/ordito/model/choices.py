"""Choices where a service leaves several possibilities: kept with a deployment, so that later ones make the same."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class SelectedNode(msgspec.Struct, frozen=True, omit_defaults=True):
    """An existing node that was selected from an inventory, with its values as plain data."""

    node: str
    """Its name in the inventory."""
    type: str = ""
    properties: Mapping[str, object] = {}
    attributes: Mapping[str, object] = {}
    capabilities: Mapping[str, Mapping[str, object]] = {}
    """The properties of its capabilities, by the capability's name."""
    capability_attributes: Mapping[str, Mapping[str, object]] = {}
    """The attributes of its capabilities, by the capability's name."""


class Choices(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was chosen where the service leaves a choice."""

    substitutes: Mapping[str, str] = {}
    """By node template, the file of the topology that substitutes it."""
    selected: Mapping[str, SelectedNode] = {}
    """By node template, the existing node that was selected for it."""
    requirements: Mapping[str, str] = {}
    """By ``node.requirement.number``, the existing node that fulfils the requirement."""
