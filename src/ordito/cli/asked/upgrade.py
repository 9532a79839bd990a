"""What a command line may ask of an upgrade."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordito.cli.asked.to_a_description import describing

if TYPE_CHECKING:
    from ordito.app.proposals.to_a_description import ToDescriptionAsked

TAKES_INPUTS = True

ABOUT = "NEW is the service to upgrade to; without it, the files of the ensemble's service as they are now."


def _kind() -> type[ToDescriptionAsked]:
    from ordito.app.proposals.upgrade import UpgradeAsked

    return UpgradeAsked


asked = describing(_kind, metavar="[NEW]", prunes="default: last")
"""The arguments of the verb."""
