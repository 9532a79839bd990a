"""Services as they were deployed: pinned once, and read again from their pins."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import msgspec

from ordito.app.errors import Refused
from ordito.app.inputs.user_part import UserPart, read_user_part
from ordito.app.place import Place
from ordito.app.services.files import artifact_files, definition_files
from ordito.app.services.read import PINNED, ReadService, read_package
from ordito.base.allowable import EVERY
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.git.job_files import stamp_of
from ordito.ensemble.layout import Layout
from ordito.ensemble.pin_restore import origins, restore
from ordito.ensemble.pins import LIFECYCLE, ChangedFiles, Pinned, given_service, measure, pin, pinned_root
from ordito.model.circumstances import Circumstances
from ordito.source.meta import META
from ordito.source.opening import ARCHIVES, DEFINITIONS_ENDINGS, STEP_FILES, open_package
from ordito.source.package import Package, read_file
from ordito.source.remote import Network
from ordito.source.tree import Folder, inside
from ordito.work.records import Form, GivenService, JobSources


class ReadFiles(msgspec.Struct, frozen=True):
    """The absolute paths of files that were read besides those of the service: those ``merged`` into `ensemble.yaml`,
    and those with values of ``inputs``."""

    merged: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()


class PinnedService(msgspec.Struct, frozen=True):
    """A pinned service: the digest of its pin, its entry definitions file relative to the pin's folder, the absolute
    path of its root, and the sources of its files if it was pinned just now."""

    digest: str
    main: str
    root: str
    sources: JobSources = JobSources()


class OwnNames(msgspec.Struct, frozen=True):
    """Names files of a service as the service itself does."""

    def name(self, file: str) -> str:
        return posixpath.normpath(file)

    def titled(self, file: str, data: bytes) -> tuple[str, str]:
        return self.name(file), ""


def pinned_package(place: Place, form: Form) -> Package:
    """The files of a service as it was deployed, named as in the service. Raises ``EnsembleError`` if it is missing,
    and ``InvalidDocument`` if it was changed."""
    diagnostics = Diagnostics()
    package = open_package(str(_root(place, form.service, form.main) / form.main), diagnostics, Network.KEPT)
    if package is None:
        raise InvalidDocument(diagnostics.sorted())
    package.naming = OwnNames()
    return package


def read_pinned(place: Place, form: Form) -> ReadService:
    """A service as it was deployed. Messages name its files by the paths from which they were deployed. Raises
    ``EnsembleError`` if it is missing, and ``InvalidDocument`` if it was changed."""
    root, diagnostics = _root(place, form.service, form.main), Diagnostics()
    copy = Path(place.shown) / root.relative_to(place.layout.root) / form.main
    package = open_package(os.path.normpath(copy), diagnostics, Network.KEPT)
    if package is None:
        raise InvalidDocument(diagnostics.sorted())
    package.naming = _original(place, form, root)
    package.catalogues = (str(place.layout.artifacts / form.service),)
    # With whatever the author chose to go on, it was deployed.
    circumstances = Circumstances(inputs=form.inputs, choices=form.choices, final=True, allowed=EVERY)
    read = read_package(package, diagnostics, circumstances, PINNED)
    return read if read.service.name != form.service else _named(read, place)


def _original(place: Place, form: Form, root: Path) -> Original:
    """The origin of the files of a deployed version; ``root`` is the folder of its pin."""
    first = Original(revision=form.revision)
    try:
        for number, service in enumerate(_services(place, form)):
            found = original_of(service, form.main, form.revision)
            if found.holds(root, form.main):
                return found
            first = first if number else found
    except (EnsembleError, OSError):
        # Whoever needs that file says what is wrong with it.
        return first
    return first


def _services(place: Place, form: Form) -> Iterator[str]:
    """The paths of the services from which a version may have been deployed, the likeliest first."""
    user = read_user_part(place.layout, place.manifest, Diagnostics())
    said = set[str]()
    for named in _named_services(place, form):
        given = user.with_given(named)
        if given.service and given.service not in said:
            said.add(given.service)
            yield given.service_path(place.layout, place.shown)


def _named_services(place: Place, form: Form) -> Iterator[GivenService | None]:
    """Services that may have been remembered instead of the one that the user's part names; None for none."""
    yield form.named
    yield given_service(place.layout)
    yield None


def _root(place: Place, digest: str, main: str) -> Path:
    """The folder of a pin; files that git has left out are restored, if their originals still exist."""
    try:
        return pinned_root(place.layout, digest)
    except EnsembleError as error:
        is_whole = restore(place.layout, digest, kept_places(place, main))
        if place.as_it_is and isinstance(error, ChangedFiles):
            return pinned_root(place.layout, digest, as_it_is=True)
        if not is_whole:
            raise
        return pinned_root(place.layout, digest)


def kept_places(place: Place, main: str) -> Iterator[Path]:
    """The folders of which a pin with this entry definitions file may be a copy."""
    user = _user_part(place)
    if user.service:
        yield from origins(Path(user.service_path(place.layout, place.shown)).resolve(), main)


def _user_part(place: Place) -> UserPart:
    """The user's part, with the service that is used now."""
    return read_user_part(place.layout, place.manifest, Diagnostics()).with_given(given_service(place.layout))


def _named(read: ReadService, place: Place) -> ReadService:
    """A service without a name of its own, named after the archive from which it was deployed, not after its pin."""
    user = _user_part(place)
    given = Path(user.service or read.package.main)
    name = given.stem if given.suffix.lower() in ARCHIVES or not user.service else given.name
    return msgspec.structs.replace(read, service=msgspec.structs.replace(read.service, name=name))


def pin_service(layout: Layout, read: ReadService, measured: str, files: ReadFiles) -> PinnedService:
    """Store a copy of a service; the caller must hold the ensemble's lock. ``files`` are further files that were read.
    Raises ``Refused`` if its files have changed since they were ``measured`` for the plan, and ``EnsembleError``."""
    package = read.package
    kept = pin(layout, package.tree, package.opener, definition_files(read), artifact_files(read))
    if kept.digest != measured:
        raise Refused(
            "changed",
            "the files of the service were changed after the plan was made",
            "no operation was run; check the plan for the new files",
            next_words=("plan",),
            purpose="see what would be done",
        )
    main = main_in_pin(layout, kept)
    further = (*files.merged, *read.steps.sources)
    return PinnedService(kept.digest, main, kept.root, sources_of(layout, read, kept, further, files.inputs))


def measured_files(layout: Layout, read: ReadService) -> Pinned:
    """The digests that pinning a service would give. Raises ``EnsembleError``."""
    package = read.package
    return measure(layout, package.tree, package.opener, definition_files(read), artifact_files(read))


def main_in_pin(layout: Layout, pinned: Pinned) -> str:
    """The entry definitions file of a service, relative to the folder of its pin."""
    return os.path.relpath(Path(pinned.root) / pinned.main, layout.artifacts / pinned.digest)


# How the files of a pin are called to people: as their author knows them, and not as the copies that nobody should
# edit.


class Original(msgspec.Struct, frozen=True):
    """Where a pinned service came from: the ``root`` of its files, a folder or an archive, "" if it is not known;
    ``revision`` is the number of its revision, 0 if it has none or it is not known."""

    root: str = ""
    is_archive: bool = False
    revision: int = 0

    def name(self, file: str) -> str:
        """The name of a file in messages, by its path from the root of the service."""
        return self._name(_names(file)[0][0])

    def titled(self, file: str, data: bytes) -> tuple[str, str]:
        """The name of a deployed file in messages, and what is added to places in it: nothing if the original file
        still has the same content."""
        names, alone = _names(file)
        contents = {name: self._content(name, len(data)) for name in names} if self.root else {}
        for name, content in contents.items():
            if content == data:
                return self._name(name), ""
        there = [name for name, content in contents.items() if content is not None]
        revision = f", revision {self.revision}" if self.revision else ""
        return self._name(there[0]) if there else alone or self._name(file), f" (as deployed{revision})"

    def holds(self, pin: Path, main: str) -> bool:
        """Whether the entry file of the pinned service still exists with the same content."""
        content = (pin / main).read_bytes()
        return bool(self.root) and self._content(_opener(main), len(content)) == content

    def _name(self, file: str) -> str:
        if self.is_archive:
            return inside(self.root, posixpath.normpath(file))
        return posixpath.normpath(posixpath.join(self.root, file))

    def _content(self, file: str, size: int) -> bytes | None:
        """The present content of a file, at most one byte more than ``size``; None if there is none."""
        if self.is_archive:
            # Needed for archives only.
            from ordito.source.archive import member_of

            return member_of(Path(self.root), file, size)
        try:
            return read_file(Folder(self.root), file, size)
        except (OSError, ValueError):
            return None


def original_of(service: str, main: str, revision: int = 0) -> Original:
    """The origin of a pin: ``service`` is the path of the service ("" if it is not known), which need not exist any
    more, ``main`` the entry file in the pin."""
    given = Path(service)
    if not service:
        return Original(revision=revision)
    if given.is_dir():
        return Original(service, revision=revision)
    if given.suffix.lower() in ARCHIVES:
        return Original(service, is_archive=True, revision=revision)
    parts = Path(_opener(main)).parts
    if given.parts[-len(parts) :] == parts:
        return Original(str(given.parents[len(parts) - 1]), revision=revision)
    if given.exists() or given.suffix in DEFINITIONS_ENDINGS:
        # It names another service now.
        return Original(revision=revision)
    return Original(service, revision=revision)


def _opener(main: str) -> str:
    """The path of the entry file of a service from its root."""
    return META if main == META or main.endswith(f"/{META}") else posixpath.basename(main)


def _names(file: str) -> tuple[list[str], str]:
    """The paths that a file of a pin may have in the service, the likeliest first; and, for files that may come from
    anywhere, as those of lifecycle steps, the name alone, else ""."""
    parts = posixpath.normpath(file).split("/")
    if LIFECYCLE not in parts:
        return [file], ""
    at = parts.index(LIFECYCLE)
    kept = "/".join(parts[at + 1 :])
    names = STEP_FILES if kept == STEP_FILES[0] else (kept,)
    return ["/".join([*parts[:at], name]) for name in names], kept


# Where the files of a pinned service came from, so that their trees of git can be kept with the job.


def sources_of(
    layout: Layout, read: ReadService, pinned: Pinned, merged: Iterable[str], inputs: Iterable[str]
) -> JobSources:
    """The sources of the files in a pin, and of further files that were read: those ``merged`` into `ensemble.yaml`,
    and those with ``inputs``."""
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
