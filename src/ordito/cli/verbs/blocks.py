"""`ordito blocks`: the group of verbs about the blocks that lifecycle steps name."""

from __future__ import annotations

from ordito.cli.grammar import BLOCKS_VERBS, VerbGroup

command = VerbGroup("blocks", BLOCKS_VERBS, {}, "Look at the blocks that lifecycle steps can name, and try them.")
