"""What a plan is told of lifecycle steps: which blocks they run, and where they will lie in the pin of the service."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ordito.app.proposal import DEPLOY, UNDEPLOY, UPGRADE, Known
from ordito.app.services import ReadService
from ordito.ensemble.done_hooks import attempts
from ordito.ensemble.layout import Layout
from ordito.ensemble.pins import Pinned
from ordito.ensemble.status import stable_form
from ordito.planning.options import Hooking
from ordito.work.hooks import Block, Transition


def hooking_of(layout: Layout, read: ReadService, pinned: Pinned) -> Hooking:
    """The blocks of a service's steps, as they lie in its pin."""
    if not read.steps.blocks:
        return Hooking()
    prefix = Path(pinned.root).relative_to(layout.artifacts / pinned.digest).as_posix()
    return Hooking(blocks=in_pin(read.steps.blocks, pinned.digest, prefix), files=named_files(read, pinned))


def named_files(read: ReadService, pinned: Pinned) -> dict[str, dict[str, str]]:
    """The digests of the files and folders of a service that the config of its steps names, by step and path."""
    return {step: {path: pinned.digests[path] for path in paths} for step, paths in read.steps.paths.items()}


def for_workflow(hooking: Hooking, known: Known, workflow: str) -> Hooking:
    """The same as a plan of a workflow is told it: which transition that is, and what was done in earlier attempts at
    it. Raises ``EnsembleError``."""
    if workflow not in TRANSITIONS or not hooking.blocks:
        return hooking
    transition = TRANSITIONS[workflow]
    if transition is Transition.UPGRADE and not stable_form(known.status, known.snapshot):
        transition = Transition.INSTALL
    found = attempts(known.place.layout)
    return msgspec.structs.replace(hooking, transition=transition, done=found.done, since=found.since)


TRANSITIONS = {DEPLOY: Transition.UPGRADE, UPGRADE: Transition.UPGRADE, UNDEPLOY: Transition.DELETE}
"""What workflows do to the topology, where a revision of it is complete. Others carry out no lifecycle steps."""


def in_pin(blocks: Mapping[str, Block], digest: str, prefix: str) -> dict[str, Block]:
    """Blocks whose folders are relative to the root of a service, as they lie in the pin with that digest, where the
    root is the folder ``prefix``."""
    return {
        name: msgspec.structs.replace(
            block, root=digest, folder=posixpath.normpath(posixpath.join(prefix, block.folder))
        )
        for name, block in blocks.items()
    }
