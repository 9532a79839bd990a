"""Reading a service: its package is opened, its model resolved, and the blocks of its lifecycle steps are found."""

from __future__ import annotations

import msgspec

from ordito.app.services.step_blocks import NO_BLOCKS, StepBlocks, StepSources, blocks_of, search_of
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
    """Whether what a service names by URLs is fetched, as a command says."""
    return Network.ALLOWED if fetch else Network.REFUSED


class ReadService(msgspec.Struct, frozen=True):
    """A service that was read without errors, and the blocks of its lifecycle steps."""

    package: Package
    service: Service
    steps: StepBlocks = NO_BLOCKS


ANYWHERE = StepSources()
PINNED = StepSources(pinned=True)
"""Where blocks of lifecycle steps are looked for."""


def read_service(
    path: str,
    diagnostics: Diagnostics,
    allowed: Network = Network.REFUSED,
    circumstances: Circumstances = AS_WRITTEN,
    sources: StepSources = ANYWHERE,
) -> ReadService:
    """Read and resolve the service at a path; ``allowed`` says whether what it names by URLs is fetched,
    ``circumstances`` what it is resolved with besides its files, and ``sources`` where blocks of its lifecycle steps
    are. Raises ``InvalidDocument`` with all that is wrong with it."""
    package = open_package(path, diagnostics, allowed)
    if package is None:
        raise InvalidDocument(diagnostics.sorted())
    return read_package(package, diagnostics, circumstances, sources)


def read_package(
    package: Package,
    diagnostics: Diagnostics,
    circumstances: Circumstances = AS_WRITTEN,
    sources: StepSources = ANYWHERE,
) -> ReadService:
    """Resolve the service of a package. Raises ``InvalidDocument`` with all that is wrong with it."""
    search = search_of(package, sources, diagnostics)
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
    """The types of a service, which may ``fetch`` what it names by URLs, or without one those that come with the
    program. Raises ``InvalidDocument`` where the service cannot be read at all."""
    return opened_types(service, diagnostics, fetch=fetch)[1]


def opened_types(service: str, diagnostics: Diagnostics, *, fetch: bool = False) -> tuple[Package, Types]:
    """The same, with the package that the types were read from."""
    if service:
        package = open_package(service, diagnostics, network(fetch))
    else:
        package = Package(Folder(PROFILES), BUNDLED, "types", "")
    types = read_types(package, diagnostics) if package is not None else None
    if package is None or types is None:
        raise InvalidDocument(diagnostics.sorted())
    return package, types
