"""What a command line may ask of a deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordito.cli.asked.to_a_description import describing

if TYPE_CHECKING:
    from ordito.app.proposals.to_a_description import ToDescriptionAsked

TAKES_INPUTS = True

ABOUT = "SERVICE is needed where there is no ensemble yet. A saved plan in its place is shown."


def _kind() -> type[ToDescriptionAsked]:
    from ordito.app.proposals.deploy import DeployAsked

    return DeployAsked


asked = describing(_kind, metavar="[SERVICE]", prunes="without it, it is kept", reads_plans=True)
"""The arguments of the verb."""
