"""Where the files of a pinned service came from, so that their trees of git can be kept with the job."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from ordito.app.services.read import ReadService
from ordito.ensemble.git.job_files import stamp_of
from ordito.ensemble.layout import Layout
from ordito.ensemble.pins import Pinned
from ordito.work.records import JobSources


def sources_of(
    layout: Layout, read: ReadService, pinned: Pinned, merged: Iterable[str], inputs: Iterable[str]
) -> JobSources:
    """Where the files of a service lie of which a pin was made; further ones that were read are those ``merged`` into
    `ensemble.yaml`, and those with ``inputs``."""
    base = Path(read.package.root).absolute()
    archives = [str(base)] if read.package.is_archive else []
    definite = (*archives, *merged)
    further = [*definite, *(os.path.abspath(file) for file in inputs)]  # noqa: PTH100  (links stay as they are)
    stamps = {file: stamp for file in further if (stamp := stamp_of(Path(file)))}
    if archives:
        return JobSources(others=stamps, definite=definite)
    prefix = PurePosixPath(Path(pinned.root).relative_to(layout.artifacts / pinned.digest))
    levels = len(prefix.parts)
    origin = base.parents[levels - 1] if levels else base
    named = tuple(sorted(os.path.normpath(prefix / file) for file in pinned.digests))
    return JobSources(str(origin), named, stamps, definite)
