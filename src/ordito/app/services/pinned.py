"""Services as they were deployed: pinned once, and read again from their pin."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.app.place import Place
from ordito.app.services.files import artifact_files, definition_files
from ordito.app.services.originals import Original, original_of
from ordito.app.services.read import PINNED, ReadService, read_package
from ordito.app.services.sources import sources_of
from ordito.app.user_part import UserPart, read_user_part
from ordito.base.allowable import EVERY
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.given_service import given_service
from ordito.ensemble.layout import Layout
from ordito.ensemble.pin_restore import origins, restore
from ordito.ensemble.pins import ChangedFiles, Pinned, measure, pin, pinned_root
from ordito.model.circumstances import Circumstances
from ordito.source.opening import ARCHIVES, open_package
from ordito.source.remote import Network
from ordito.work.records import Form, GivenService, JobSources


class ReadFiles(msgspec.Struct, frozen=True):
    """Files that were read besides those of the service: those ``merged`` into `ensemble.yaml`, as absolute paths, and
    those with values of ``inputs``."""

    merged: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()


class PinnedService(msgspec.Struct, frozen=True):
    """A service as it was deployed: the digest of its pin, its entry definitions file relative to the pin's folder,
    the absolute path of its root, and where its files lay if it was pinned just now."""

    digest: str
    main: str
    root: str
    sources: JobSources = JobSources()


def read_pinned(place: Place, form: Form) -> ReadService:
    """A service as it was deployed. Its files are called as where it was deployed from, for all that is said of them.

    Raises ``EnsembleError`` where it is missing, and ``InvalidDocument`` where somebody has changed it.
    """
    root, diagnostics = _root(place, form.service, form.main), Diagnostics()
    copy = Path(place.shown) / root.relative_to(place.layout.root) / form.main
    package = open_package(os.path.normpath(copy), diagnostics, Network.KEPT)
    if package is None:
        raise InvalidDocument(diagnostics.sorted())
    package.naming = _original(place, form, root)
    # With whatever the author chose to go on, it was deployed.
    circumstances = Circumstances(inputs=form.inputs, choices=form.choices, final=True, allowed=EVERY)
    read = read_package(package, diagnostics, circumstances, PINNED)
    return read if read.service.name != form.service else _named(read, place)


def _original(place: Place, form: Form, root: Path) -> Original:
    """Where the files of a form came from, as seen from here; ``root`` is the folder of its pin."""
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
    """The services that a form may have been made from, as they are called here, the likeliest first."""
    user = read_user_part(place.layout, place.manifest, Diagnostics())
    said = set[str]()
    for named in _named_services(place, form):
        given = user.with_given(named)
        if given.service and given.service not in said:
            said.add(given.service)
            yield given.service_path(place.layout, place.shown)


def _named_services(place: Place, form: Form) -> Iterator[GivenService | None]:
    """What may have been remembered in the place of the service that the user's part names; None for nothing."""
    yield form.named
    yield given_service(place.layout)
    yield None


def _root(place: Place, digest: str, main: str) -> Path:
    """The folder of a pin; what git has left out of it is put back, if it is still where it came from."""
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
    """The user's part, with the service that is meant now."""
    return read_user_part(place.layout, place.manifest, Diagnostics()).with_given(given_service(place.layout))


def _named(read: ReadService, place: Place) -> ReadService:
    """A service without a name of its own, called as the archive that it was deployed from, not as its pin."""
    user = _user_part(place)
    given = Path(user.service or read.package.main)
    name = given.stem if given.suffix.lower() in ARCHIVES or not user.service else given.name
    return msgspec.structs.replace(read, service=msgspec.structs.replace(read.service, name=name))


def pin_service(layout: Layout, read: ReadService, measured: str, files: ReadFiles) -> PinnedService:
    """Keep a copy of a service; only for who holds the ensemble's lock. ``files`` are further ones that were read.

    Raises ``Refused`` where its files are no longer those that were ``measured`` for the plan, and ``EnsembleError``.
    """
    package = read.package
    kept = pin(layout, package.tree, package.opener, definition_files(read), artifact_files(read))
    if kept.digest != measured:
        raise Refused(
            "changed",
            "the files of the service were changed after the plan was made",
            "no operation was run; look at the plan for what they say now",
            next_words=("plan",),
            purpose="see what would be done",
        )
    main = main_in_pin(layout, kept)
    further = (*files.merged, *read.steps.sources)
    return PinnedService(kept.digest, main, kept.root, sources_of(layout, read, kept, further, files.inputs))


def measured_files(layout: Layout, read: ReadService) -> Pinned:
    """What pinning a service would give. Raises ``EnsembleError``."""
    package = read.package
    return measure(layout, package.tree, package.opener, definition_files(read), artifact_files(read))


def main_in_pin(layout: Layout, pinned: Pinned) -> str:
    """The entry definitions file of a service, relative to the folder of its pin."""
    return os.path.relpath(Path(pinned.root) / pinned.main, layout.artifacts / pinned.digest)
