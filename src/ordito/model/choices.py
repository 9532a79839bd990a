"""What is chosen where a service leaves a choice: kept with a deployment, so that it is chosen again."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class SelectedNode(msgspec.Struct, frozen=True, omit_defaults=True):
    """An existing node that was selected from an inventory, with its values as plain data: its name there and its
    type, its properties and attributes, and those of its capabilities by the capability's name."""

    node: str
    type: str = ""
    properties: Mapping[str, object] = {}
    attributes: Mapping[str, object] = {}
    capabilities: Mapping[str, Mapping[str, object]] = {}
    capability_attributes: Mapping[str, Mapping[str, object]] = {}


class Choices(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was chosen where the service leaves a choice: by node template, the file of the topology that substitutes
    it, and the existing node that it is; and by ``node.requirement.number`` the existing node that fulfils it."""

    substitutes: Mapping[str, str] = {}
    selected: Mapping[str, SelectedNode] = {}
    requirements: Mapping[str, str] = {}
