"""`ordito lifecycle`: the group of verbs about files of lifecycle steps."""

from __future__ import annotations

from ordito.cli.grammar import LIFECYCLE_VERBS, VerbGroup

command = VerbGroup("lifecycle", LIFECYCLE_VERBS, {}, "Make files of lifecycle steps.")
