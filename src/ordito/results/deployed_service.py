"""The service of an ensemble as it was deployed: what is in it, its files, and the types that it can name."""

from __future__ import annotations

from ordito.app.errors import Refused
from ordito.app.place import Place, place_of
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import Diagnostics
from ordito.ensemble.revisions import revisions
from ordito.ensemble.status import deployed_form
from ordito.ensemble.store import read_ensemble
from ordito.model.catalogue import read_types
from ordito.planning.lossy_steps import check_service
from ordito.results.answer import Asked, UseCase
from ordito.results.explained_type import TypeData
from ordito.results.packages import PackageFile, PackageSummary, file_in, summary_of, type_in
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
    """About a type that the deployed service can name."""

    name: str = ""
    kind: str = ""
    """Its kind, as in ``node``, "" for any."""

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


def _service(directory: str, asked: ServiceAsked) -> PackageSummary:
    from ordito.app.services.pinned import pinned_package, read_deployed

    place, diagnostics = place_of(directory), Diagnostics()
    form = _form(place, directory, asked.revision)
    package = pinned_package(place, form)
    with paused_collector():
        service = read_deployed(package, form, diagnostics).service
        check_service(service, diagnostics)
        types = read_types(package, Diagnostics())
    return summary_of(package, service, types, diagnostics)


def _file(directory: str, asked: ServiceFileAsked) -> PackageFile:
    from ordito.app.services.pinned import pinned_package

    place = place_of(directory)
    return file_in(pinned_package(place, _form(place, directory, asked.revision)), asked.path, "the service")


def _type(directory: str, asked: ServiceTypeAsked) -> TypeData:
    from ordito.app.services.pinned import pinned_package

    place = place_of(directory)
    return type_in(pinned_package(place, _form(place, directory, asked.revision)), asked.name, asked.kind)


SERVICE = UseCase("service show", ServiceAsked, (PackageSummary,), _service)
SERVICE_FILE = UseCase("service file", ServiceFileAsked, (PackageFile,), _file)
SERVICE_TYPE = UseCase("service type", ServiceTypeAsked, (TypeData,), _type)
