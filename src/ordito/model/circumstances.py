"""What a service is resolved with besides its own files, and what was chosen by it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.model.service import Service


class SelectedNode(msgspec.Struct, frozen=True, omit_defaults=True):
    """An existing node that was selected from an inventory, with its values as plain data: its name there, its
    properties and attributes, and those of its capabilities by the capability's name."""

    node: str
    properties: Mapping[str, object] = {}
    attributes: Mapping[str, object] = {}
    capabilities: Mapping[str, Mapping[str, object]] = {}
    capability_attributes: Mapping[str, Mapping[str, object]] = {}


class Choices(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was chosen where the service leaves a choice: by node template, the file of the topology that substitutes
    it, and the existing node that it is."""

    substitutes: Mapping[str, str] = {}
    selected: Mapping[str, SelectedNode] = {}


class Circumstances(msgspec.Struct, frozen=True):
    """What a service is resolved with.

    ``inputs`` are values of its inputs as they are given (see ``bind_inputs``); ``inventory`` is a service whose nodes
    exist already. ``choices`` are what the user chose, or what was chosen for an earlier deployment. Where ``final``,
    everything has to be chosen now: what cannot be is an error.
    """

    inputs: Mapping[str, object] = {}
    inventory: Service | None = None
    choices: Choices = Choices()
    final: bool = False
