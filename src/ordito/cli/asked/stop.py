"""What a command line may ask of `stop`."""

from __future__ import annotations

from ordito.cli.moving import moving

TAKES_INPUTS = False

ABOUT = "What depends on what is named is stopped too, before it."

asked = moving("stop")
"""The arguments of the verb."""
