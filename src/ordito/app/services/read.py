"""Reading a service: opening its package, resolving its model, and finding the blocks of its lifecycle steps."""

from __future__ import annotations

import msgspec

from ordito.app.services.step_blocks import NO_BLOCKS, StepBlocks, StepSources, archive_folders, blocks_of, search_of
from ordito.app.services.step_files import written_steps
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.model.catalogue import read_types
from ordito.model.circumstances import Circumstances
from ordito.model.resolve import AS_WRITTEN, resolve_service
from ordito.model.service import Service
from ordito.model.types import Types
from ordito.source.bundled import PROFILE_SCHEME, PROFILES
from ordito.source.opening import open_package
from ordito.source.package import Package
from ordito.source.remote import Network
from ordito.source.tree import Folder

BUNDLED = f"{PROFILE_SCHEME}ordito/profile.yaml"


def network(fetch: bool) -> Network:
    """The network access of a command: whether it fetches URLs that a service names."""
    return Network.ALLOWED if fetch else Network.REFUSED


class ReadService(msgspec.Struct, frozen=True):
    """A service that was read without errors, and the blocks of its lifecycle steps."""

    package: Package
    service: Service
    steps: StepBlocks = NO_BLOCKS


ANYWHERE = StepSources()
PINNED = StepSources(pinned=True)
"""Blocks of lifecycle steps are searched only in the pin."""


def read_service(
    path: str,
    diagnostics: Diagnostics,
    allowed: Network = Network.REFUSED,
    circumstances: Circumstances = AS_WRITTEN,
    sources: StepSources = ANYWHERE,
    shown: str = "",
) -> ReadService:
    """Read and resolve the service at a path; ``allowed`` says whether URLs that it names are fetched,
    ``circumstances`` what it is resolved with besides its files, ``sources`` where the blocks of its lifecycle steps
    are, and ``shown`` how messages call an archive. Raises ``InvalidDocument`` with all its errors."""
    package = open_package(path, diagnostics, allowed, shown=shown)
    if package is None:
        raise InvalidDocument(diagnostics.sorted())
    return read_package(package, diagnostics, circumstances, sources)


def read_package(
    package: Package,
    diagnostics: Diagnostics,
    circumstances: Circumstances = AS_WRITTEN,
    sources: StepSources = ANYWHERE,
) -> ReadService:
    """Resolve the service of a package. Raises ``InvalidDocument`` with all its errors."""
    search = search_of(package, sources, diagnostics)
    package.catalogues = package.catalogues or archive_folders(sources)
    written = written_steps(package, sources.file, diagnostics, pinned=sources.pinned)
    root = written.root if written is not None else None
    service = resolve_service(
        package, diagnostics, msgspec.structs.replace(circumstances, blocks=search.find, steps=root)
    )
    if service is None:
        raise InvalidDocument(diagnostics.sorted())
    if sources.looked_past:
        return ReadService(package, service)
    steps = blocks_of(package, service, circumstances.inputs, search, written, diagnostics)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    return ReadService(package, service, steps)


def types_of(service: str, diagnostics: Diagnostics, *, fetch: bool = False) -> Types:
    """The types of a service (with ``fetch``, also from URLs), or without a service those that come with the program.
    Raises ``InvalidDocument`` if the service cannot be read at all."""
    return opened_types(service, diagnostics, fetch=fetch)[1]


def opened_types(service: str, diagnostics: Diagnostics, *, fetch: bool = False) -> tuple[Package, Types]:
    """Like ``types_of``, with the package from which the types were read."""
    if service:
        package = open_package(service, diagnostics, network(fetch))
    else:
        package = Package(Folder(PROFILES), BUNDLED, "types", "")
    types = read_types(package, diagnostics) if package is not None else None
    if package is None or types is None:
        raise InvalidDocument(diagnostics.sorted())
    return package, types
