"""`ordito jobs`: the group of verbs about jobs."""

from __future__ import annotations

from ordito.cli.grammar import JOBS_VERBS, VerbGroup

command = VerbGroup("jobs", JOBS_VERBS, {}, "List, show, cancel, resume and retry jobs, and read their logs.")
