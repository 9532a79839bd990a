"""`ordito workflow`: the group of verbs about the workflows of a template."""

from __future__ import annotations

from ordito.cli.grammar import WORKFLOW_VERBS, VerbGroup

command = VerbGroup("workflow", WORKFLOW_VERBS, {}, "Look at the workflows of the template, and run them.")
