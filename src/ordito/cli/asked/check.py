"""What a command line may ask of `check`."""

from __future__ import annotations

from ordito.cli.asked.look import looking

TAKES_INPUTS = False

ABOUT = "Without NAME, every instance that has a check is looked at."

asked = looking("check")
