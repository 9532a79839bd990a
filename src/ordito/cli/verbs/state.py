"""`ordito state`: the group of verbs about the records."""

from __future__ import annotations

from ordito.cli.grammar import STATE_VERBS, VerbGroup

command = VerbGroup("state", STATE_VERBS, {}, "Look at the records of instances, and change them by hand.")
