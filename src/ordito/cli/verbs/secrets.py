"""`ordito secrets`: the group of verbs about secrets."""

from __future__ import annotations

from ordito.cli.grammar import SECRETS_VERBS, VerbGroup

command = VerbGroup("secrets", SECRETS_VERBS, {}, "Keep secrets that ensemble.yaml names: { secret: NAME }.")
