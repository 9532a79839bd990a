"""What a plan is told of lifecycle steps: which blocks they run, and where they will lie in the pin of the service."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from ordito.app.proposal import PlanningContext
from ordito.app.services.read import ReadService
from ordito.app.services.step_blocks import in_pin
from ordito.ensemble.done_hooks import attempts
from ordito.ensemble.layout import Layout
from ordito.ensemble.pins import Pinned
from ordito.ensemble.status import stable_form
from ordito.planning.options import Hooking
from ordito.work.hooks import Block, Transition
from ordito.work.workflows import workflow_of


def hooking_of(layout: Layout, read: ReadService, pinned: Pinned, left: Mapping[str, Block]) -> Hooking:
    """The blocks of a service's steps, as they lie in its pin; ``left`` are those of the steps about what it has left
    behind."""
    prefix = Path(pinned.root).relative_to(layout.artifacts / pinned.digest).as_posix()
    own = in_pin(read.steps.blocks, pinned.digest, prefix)
    return Hooking(blocks={**left, **own}, files=named_files(read, pinned))


def named_files(read: ReadService, pinned: Pinned) -> dict[str, dict[str, str]]:
    """The digests of the files and folders of a service that the config of its steps names, by step and path."""
    return {step: {path: pinned.digests[path] for path in paths} for step, paths in read.steps.paths.items()}


def for_workflow(hooking: Hooking, known: PlanningContext, workflow: str) -> Hooking:
    """The same as a plan of a workflow is told it: which transition that is, and what was done in earlier attempts at
    it. Raises ``EnsembleError``."""
    made = workflow_of(workflow)
    if not (made.describes or made.removes) or not hooking.blocks:
        return hooking
    transition = Transition.DELETE
    if made.describes:
        transition = Transition.UPGRADE if stable_form(known.status, known.snapshot) else Transition.INSTALL
    found = attempts(known.place.layout)
    return msgspec.structs.replace(hooking, transition=transition, done=found.done, since=found.since)
