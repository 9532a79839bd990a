"""What lifecycle steps need in an archive: the file in which they are written, and the catalogues of their blocks, at
the places where they are looked for."""

from __future__ import annotations

import posixpath

from ordito.app.lifecycle_steps.files import kept_file
from ordito.app.services.read import ReadService
from ordito.blocks.search import FOLDER
from ordito.ensemble.pins import LIFECYCLE
from ordito.model.block import BUILT_IN
from ordito.source.opening import STEP_FILES


def is_for_pins(file: str) -> bool:
    """Whether a file is only part of pins, where what steps need lies in a folder of its own."""
    return LIFECYCLE in file.split("/")


def packed_steps(read: ReadService, *, with_built_in: bool) -> dict[str, str]:
    """The files of an archive that steps need, by their places in it, each with its place in the service. The blocks
    that come with the program are left out where the archive has them as a profile."""
    steps = read.steps
    beside = posixpath.dirname(read.package.main)
    found: dict[str, str] = {}
    if kept_file(read.package) in steps.files:
        own = steps.file or posixpath.join(beside, STEP_FILES[0])
        found[own] = own if steps.file else kept_file(read.package)
    for folder, copy in steps.copies.items():
        if copy.origin == BUILT_IN and not with_built_in:
            continue
        target = copy.inside or posixpath.join(beside, FOLDER, posixpath.basename(folder))
        for file in steps.files:
            if file.startswith(f"{folder}/"):
                place = posixpath.join(target, file.removeprefix(f"{folder}/"))
                if not copy.inside:
                    found[place] = file
                elif read.package.tree.is_file(place):
                    found[place] = place
    return found


def replaced_files(read: ReadService) -> set[str]:
    """Files of the service in which steps are written, and whose place a file has taken that lies elsewhere."""
    if read.steps.file or kept_file(read.package) not in read.steps.files:
        return set()
    beside = posixpath.dirname(read.package.main)
    return {posixpath.join(beside, name) for name in STEP_FILES}
