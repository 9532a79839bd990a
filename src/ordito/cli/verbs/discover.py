"""`ordito discover`."""

from __future__ import annotations

from ordito.cli.asked.discover import asked
from ordito.cli.look import look_verb

HELP = """Run the discover operation of every instance that has one, and show what is other than was recorded.

It finds out what exists: its exit code says how the instance is, as that of a check does, and its outputs that have the
name of an attribute, or are mapped to one, become its value."""

command = look_verb("discover", HELP, asked)
