"""What a command line may ask of `start`."""

from __future__ import annotations

from ordito.cli.moving import moving

TAKES_INPUTS = False

ABOUT = "What is named is started, once what it requires is up."

asked = moving("start")
"""The arguments of the verb."""
