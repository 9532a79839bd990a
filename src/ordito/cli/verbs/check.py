"""`ordito check` and `ordito discover`."""

from __future__ import annotations

from ordito.cli.asked.check import asked as asked_of_check
from ordito.cli.asked.discover import asked as asked_of_discover
from ordito.cli.look import look_verb

CHECK_HELP = """Run the check of every instance that has one, and show what is other than was recorded.

A check (interface type ordito.interfaces.Maintain, profile:ordito) changes nothing: it says by its exit code how the
instance is: 0 ok, 1 error, 3 absent, anything else unknown. What it finds is recorded."""

check_command = look_verb("check", CHECK_HELP, asked_of_check)


DISCOVER_HELP = """Run the discover operation of every instance that has one, and show what is other than was recorded.

It finds out what exists: its exit code says how the instance is, as that of a check does, and its outputs that have the
name of an attribute, or are mapped to one, become its value."""

discover_command = look_verb("discover", DISCOVER_HELP, asked_of_discover)
