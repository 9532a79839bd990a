"""Keeping a job's files in git: the files that it was made from, and checking before it begins that they can be
committed."""

from __future__ import annotations

import msgspec

from ordito.app.errors import Refused
from ordito.app.inputs.inventory import HostInventory
from ordito.base.git_process import Git, GitFailed, NoGit
from ordito.ensemble.backing import backing_of
from ordito.ensemble.git.job_files import stamp_of
from ordito.ensemble.git.keeper import ALWAYS, NEVER, GitKeeper, JobFiles, home_of, obstacles
from ordito.ensemble.git.tree import existing
from ordito.ensemble.keeping import Keeper, KeepsNothing
from ordito.ensemble.layout import Layout
from ordito.work.options import JobOptions
from ordito.work.records import JobHeader, JobSources


def keeper_of(layout: Layout, header: JobHeader, service: str, mode: str = "") -> Keeper:
    """The keeper of a job's files; ``mode`` overrides the job's own setting for committing."""
    if (mode or header.options.commit) == NEVER or backing_of(layout).is_store:
        return KeepsNothing()
    return GitKeeper(layout, header, service, mode=mode)


def with_inventory(sources: JobSources, inventory: HostInventory) -> JobSources:
    """The sources with the inventory of hosts, which decides where things are made. An inventory that git does not
    track is added, unless it contains a credential."""
    path = inventory.file.path
    stamp = stamp_of(path) if path is not None else ""
    if path is None or not stamp:
        return sources
    definite = sources.definite if inventory.has_credentials else (*sources.definite, str(path))
    return msgspec.structs.replace(sources, others={**sources.others, str(path): stamp}, definite=definite)


def shared_options(options: JobOptions) -> JobOptions:
    """The options of a job whose state other clones need: its files are always committed. Raises ``Refused``."""
    if options.commit == NEVER:
        raise Refused(
            "cannot-commit",
            "--commit never: clones of this ensemble share a lock in git, and get its state by commits",
            'leave the option out; or remove "lock: git" from ensemble.yaml if this is the only clone',
        )
    return msgspec.structs.replace(options, commit=ALWAYS)


NO_FILES = JobFiles("", JobSources())


def refuse_uncommittable(layout: Layout, options: JobOptions, files: JobFiles = NO_FILES) -> None:
    """Raise ``Refused`` if files of a job must be committed and cannot be, as far as they are known."""
    if options.commit != ALWAYS:
        return
    if shown := backing_of(layout).shown:
        raise Refused("cannot-commit", f"--commit always: the files of {shown} are in a store", "leave the option out")
    try:
        home = home_of(layout, files, ALWAYS)
        if home is None:
            raise _no_repository(layout)
        found = next(obstacles(home), None)
    except NoGit as failure:
        raise Refused("cannot-commit", f"--commit always: {failure.message}", "install git") from failure
    except GitFailed as failure:
        raise Refused("cannot-commit", f"--commit always: git says: {failure.message}") from failure
    if found is not None:
        raise Refused("cannot-commit", f"--commit always: {found.reason}", found.hint)


def _no_repository(layout: Layout) -> Refused:
    try:
        bare = Git(existing(layout.root)).line("rev-parse", "--is-bare-repository") == "true"
    except GitFailed:
        bare = False
    where = "a bare repository, which has no files" if bare else "no git repository"
    hint = "clone it, and work in the clone" if bare else f"make one: git init {layout.root}"
    return Refused("cannot-commit", f"--commit always: {layout.root} is in {where}", hint)
