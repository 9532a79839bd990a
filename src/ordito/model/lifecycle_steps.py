"""Lifecycle steps as a service declares them: by policies whose type is a block, or in a file of their own."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.span import Span
from ordito.model.schema import PropertyDefinition
from ordito.syntax.expressions import Value


class LifecycleStep(msgspec.Struct, frozen=True):
    """One lifecycle step, before anybody has looked for its block.

    ``id`` is unique in the service. ``fqn`` names the block, ``phase`` is as in ``install.before``, ``component`` a
    node template, "" for the module. ``condition`` and ``timeout`` are texts, "" for none. ``config`` may hold calls;
    ``definitions`` are those of the block's config by key, empty where they are not known. ``spans`` are the places of
    what was given, by the names of these fields, and of the keys of config as ``config.<key>``.
    """

    id: str
    fqn: str
    phase: str
    component: str = ""
    description: str = ""
    condition: str = ""
    timeout: str = ""
    on_failure: str = "abort"
    config: Mapping[str, Value] = {}
    definitions: Mapping[str, PropertyDefinition] = {}
    span: Span | None = None
    spans: Mapping[str, Span] = {}
