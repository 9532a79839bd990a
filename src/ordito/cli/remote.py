"""The server that a command is given to, and its ensemble there."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import msgspec

from ordito.app.errors import Refused
from ordito.cli.settings import GlobalSettings

if TYPE_CHECKING:
    from ordito.client.connection import ServerConnection
    from ordito.client.looks import RemoteEnsemble

MOST_NAMED = 12


class _Named(msgspec.Struct, frozen=True):
    project: str
    name: str


def connection_of(settings: GlobalSettings, verb: str = "this") -> ServerConnection:
    """The server that the command names, signed in as far as a token is known. Raises ``Refused``."""
    check_extra()
    from ordito.client.connection import ServerConnection
    from ordito.client.servers import address_of, token_for

    if not settings.wanted_server:
        hint = "give --server URL, or set ORDITO_SERVER; `ordito login URL` signs in"
        raise Refused("needs-server", f"{verb} asks a server, and none is named", hint)
    return ServerConnection(address_of(settings.wanted_server), token_for(settings.wanted_server))


def check_extra() -> None:
    """Raises ``Refused`` where what asks servers is not installed."""
    if importlib.util.find_spec("urllib3") is None:
        hint = "install it: pip install 'ordito[remote]'"
        raise Refused("needs-extra", "asking a server needs urllib3", hint)


def ensemble_of(settings: GlobalSettings, verb: str = "this") -> RemoteEnsemble:
    """The ensemble that the command names at its server; the only one there needs no name. Raises ``Refused`` and
    ``ServerError``."""
    connection = connection_of(settings, verb)
    from ordito.client.looks import RemoteEnsemble

    given = settings.ensemble
    if given:
        return RemoteEnsemble(connection, *ensemble_named(given))
    found = list(connection.all("/ensembles", _Named))
    if len(found) == 1:
        return RemoteEnsemble(connection, found[0].project, found[0].name)
    names = ", ".join(f"{one.project}/{one.name}" for one in found[:MOST_NAMED])
    hint = f"give -e with one of {names}" if found else "ask an owner of a project for a role in it"
    message = "no ensemble is named" if found else "there is no ensemble that you may see"
    raise Refused("no-ensemble", f"{message} (server {connection.url})", hint)


def ensemble_named(given: str) -> tuple[str, str]:
    """The project and the name in ``[PROJECT/]ENSEMBLE``. Raises ``Refused``."""
    from ordito.client.looks import DEFAULT_PROJECT

    project, slash, name = given.rpartition("/")
    if not name or (slash and not project) or "/" in project or name.startswith("."):
        hint = "write -e PROJECT/ENSEMBLE, or -e ENSEMBLE for one of the project `default`"
        raise Refused("no-ensemble", f'"{given}" does not name an ensemble of a server', hint)
    return project or DEFAULT_PROJECT, name
