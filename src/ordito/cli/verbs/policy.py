"""`ordito policy`: the group of verbs about policies."""

from __future__ import annotations

from ordito.cli.grammar import POLICY_VERBS, VerbGroup

command = VerbGroup("policy", POLICY_VERBS, {}, "Look at policies, and at what their triggers make of events.")
