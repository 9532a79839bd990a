"""The service of an ensemble as it was deployed: what is in it, its files, and the types that it can name."""

from __future__ import annotations

from typing import Annotated

import msgspec

from ordito.app.errors import Refused
from ordito.app.place import Place, place_of
from ordito.base.diagnostics import Diagnostics
from ordito.ensemble.pins import LIST
from ordito.ensemble.revisions import revisions
from ordito.ensemble.status import deployed_form
from ordito.ensemble.store import read_ensemble
from ordito.results.answer import Asked, UseCase
from ordito.results.explained_type import TypeData, TypePartsData
from ordito.results.packaged import PackageFile, PackageSummary
from ordito.results.packages import file_in, graph_in, summary_of, type_in
from ordito.results.topology import GraphData
from ordito.source.package import Package
from ordito.work.records import Form


class ServiceAsked(Asked, frozen=True):
    """About the deployed service."""

    revision: int = 0
    """The revision, 0 for what is deployed now."""


class ServiceFileAsked(Asked, frozen=True):
    """About a file of the deployed service."""

    path: str = ""
    revision: int = 0
    """The revision, 0 for what is deployed now."""


class ServiceTypeAsked(Asked, frozen=True):
    """About a type that the deployed service can use, or a part of one."""

    name: str = ""
    """The name of the type, possibly followed by the names of parts, joined by dots."""

    revision: int = 0
    """The revision, 0 for what is deployed now."""


class ServiceGraphAsked(Asked, frozen=True):
    """About the nodes of the deployed service."""

    boxes: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 0
    """How many nodes at most, 0 for all."""

    revision: int = 0
    """The revision, 0 for what is deployed now."""


def _form(place: Place, directory: str, revision: int) -> Form:
    """What was deployed. Raises ``Refused``."""
    with read_ensemble(directory) as ensemble:
        status = ensemble.status
    if not status.service:
        raise Refused("not-deployed", "nothing was ever deployed here", next_words=("deploy",), purpose="deploy first")
    if not revision or revision == status.revision:
        return deployed_form(status)
    for one in revisions(place.layout):
        if one.number == revision:
            return one.form
    raise Refused(
        "unknown-revision", f"there is no revision {revision}", next_words=("revisions",), purpose="see all of them"
    )


def _package(directory: str, revision: int) -> Package:
    from ordito.app.services.pinned import pinned_package

    place = place_of(directory)
    return pinned_package(place, _form(place, directory, revision))


def _service(directory: str, asked: ServiceAsked) -> PackageSummary:
    found = summary_of(_package(directory, asked.revision), Diagnostics())
    # The list of what was pinned is no file of the service.
    return msgspec.structs.replace(found, files=tuple(file for file in found.files if file != LIST))


def _file(directory: str, asked: ServiceFileAsked) -> PackageFile:
    return file_in(_package(directory, asked.revision), asked.path, "the service")


def _type(directory: str, asked: ServiceTypeAsked) -> TypeData | TypePartsData:
    return type_in(_package(directory, asked.revision), asked.name, Diagnostics())


def _graph(directory: str, asked: ServiceGraphAsked) -> GraphData:
    return graph_in(_package(directory, asked.revision), asked.boxes, Diagnostics())


SERVICE_GRAPH = UseCase("service graph", ServiceGraphAsked, (GraphData,), _graph)
SERVICE = UseCase("service show", ServiceAsked, (PackageSummary,), _service)
SERVICE_FILE = UseCase("service file", ServiceFileAsked, (PackageFile,), _file)
SERVICE_TYPE = UseCase("service type", ServiceTypeAsked, (TypeData, TypePartsData), _type)
