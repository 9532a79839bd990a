"""`ordito check`."""

from __future__ import annotations

from ordito.cli.asked.check import asked
from ordito.cli.look import look_verb

HELP = """Run the check of every instance that has one, and show what is other than was recorded.

A check (interface type ordito.interfaces.Maintain, profile:ordito) changes nothing: it says by its exit code how the
instance is: 0 ok, 1 error, 3 absent, anything else unknown. What it finds is recorded."""

command = look_verb("check", HELP, asked)
