"""Which kinds of scripts find programs beside them that read, and change, what is known of their instance."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.model.operation import Artifact
from ordito.work.invocation import Helpers

_CTX = Helpers("cloudify_dsl", "cloudify.for_scripts")

FABRIC = frozenset({"cloudify.artifacts.FabricScript", "cloudify.artifacts.FabricCommands"})
"""The types of what runs where an input says."""

STARTED_BY: Mapping[str, str] = {
    "cloudify.artifacts.InlineScript": "ctx-inline",
    "cloudify.artifacts.FabricCommands": "ctx-commands",
    "cloudify.artifacts.OwnFunction": "ctx-function",
    "cloudify.artifacts.Deployment": "ctx-deployment",
}
"""The helpers that start what is no file of the service."""

GIVEN: Mapping[str, Helpers] = dict.fromkeys(
    ("cloudify.artifacts.BashScript", "cloudify.artifacts.PythonScript", *sorted(FABRIC), *STARTED_BY), _CTX
)
"""The helpers of artifact types, which are not those of types derived from them."""


def given_to(implementation: Artifact | None) -> Helpers | None:
    """The helpers of an implementation, None for none."""
    return GIVEN.get(implementation.kinds[0]) if implementation is not None and implementation.kinds else None
