"""What a command line may ask of `restart`."""

from __future__ import annotations

from ordito.cli.moving import moving

TAKES_INPUTS = False

ABOUT = "What depends on what is named is restarted too."

asked = moving("restart")
"""The arguments of the verb."""
