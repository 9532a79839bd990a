"""A service that is at a server, at which verbs about services look: a package, or what an ensemble has deployed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ordito.cli.remote import connection_of, ensemble_named, ensemble_of
from ordito.cli.session import Session

if TYPE_CHECKING:
    from ordito.client.connection import ServerConnection


def is_there(session: Session, service: str) -> bool:
    """Whether a command about a service is about one at the server that is named: that of the ensemble, if one is named
    and no service, or a package there, if what is named is no file here. All else is about files here, as ever."""
    if not session.settings.wanted_server:
        return False
    if not service:
        return bool(session.settings.ensemble)
    from ordito.client.packages import NAMED

    return NAMED.fullmatch(service) is not None and not Path(service).exists()


def service_there(session: Session, service: str) -> tuple[ServerConnection, str]:
    """The server, and the path of a package there, or of what is deployed in the ensemble. Raises ``Refused`` and
    ``ServerError``."""
    from ordito.client.connection import in_path

    if not service:
        ensemble = ensemble_of(session.settings, session.verb)
        return ensemble.connection, f"{ensemble.path}/service"
    project = ensemble_named(session.settings.ensemble or "package")[0]
    return connection_of(session.settings, session.verb), f"/projects/{in_path(project)}/packages/{in_path(service)}"
