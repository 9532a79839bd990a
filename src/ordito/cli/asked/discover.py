"""What a command line may ask of `discover`."""

from __future__ import annotations

from ordito.cli.asked.look import looking

TAKES_INPUTS = False

ABOUT = "Without NAME, every instance that has a discover is looked at."

asked = looking("discover")
