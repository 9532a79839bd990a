"""The use cases that only look, asked of a server: the same struct comes back as from a directory."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ordito.client.connection import LONG_PATIENCE, PATIENCE, ServerConnection, in_path
from ordito.client.errors import unreachable
from ordito.client.events import follow
from ordito.results.answer import A, R, UseCase
from ordito.results.status import STATUS, StatusAsked, StatusData

DEFAULT_PROJECT = "default"
LATEST = "latest"
"""Names the latest job in a path."""

PATHS: Mapping[str, tuple[str, str, str]] = {
    "status": ("/status", "", ""),
    "describe": ("/nodes", "name", ""),
    "revisions": ("/revisions", "", ""),
    "jobs list": ("/jobs", "", ""),
    "jobs show": ("/jobs", "job", LATEST),
    "workflow list": ("/workflows", "", ""),
    "workflow show": ("/workflows", "name", ""),
    "policy list": ("/policies", "name", ""),
    "hosts list": ("/hosts", "", ""),
    "spec": ("/spec/evaluated", "", ""),
    "spec text": ("/spec", "", ""),
    "hosts text": ("/inventory", "", ""),
    "notifications": ("/notifications", "", ""),
    "output": ("/outputs", "name", ""),
    "secrets list": ("/secrets", "", ""),
    "state show": ("/state", "", ""),
    "state export": ("/state/export", "", ""),
}
"""By the name of the use case: its path below the ensemble, the parameter that the path goes on with, and what stands
there for an empty one."""


class RemoteEnsemble(msgspec.Struct, frozen=True):
    """An ensemble of a server."""

    connection: ServerConnection
    project: str
    name: str

    @property
    def path(self) -> str:
        """Where the API has it."""
        return f"/projects/{in_path(self.project)}/ensembles/{in_path(self.name)}"

    @property
    def shown(self) -> str:
        """How people name it."""
        return f"{self.project}/{self.name}"

    def ask(self, look: UseCase[A, R], asked: A, *, patience: float = PATIENCE) -> R:
        """The answer to a look. Raises ``ServerError``."""
        path, named, empty = PATHS[look.name]
        values = msgspec.structs.asdict(asked)
        name = values.pop(named, "") or empty
        path += f"/{in_path(name)}" if name else ""
        usual = {field.name: field.default for field in msgspec.structs.fields(type(asked))}
        query = {field: value for field, value in values.items() if value != usual[field]}
        found = self.connection.get(self.path + path, msgspec.Raw, query, patience=patience)
        return self.read(look, bytes(found))

    def read(self, look: UseCase[A, R], body: bytes) -> R:
        """An answer, as the first of the results of a use case that fits. Raises ``ServerError``."""
        return read_as(self.connection, look, body)


def read_as(connection: ServerConnection, look: UseCase[A, R], body: bytes) -> R:
    """The answer of a server, as the first of the results of a use case that fits. Raises ``ServerError``."""
    wrong = ""
    for kind in look.results:
        try:
            found: Any = msgspec.json.decode(body, type=kind)
        except msgspec.DecodeError as error:
            wrong = str(error)
        else:
            return found  # type: ignore[no-any-return]
    hint = "use a version of ordito that fits that of the server"
    raise unreachable(connection.url, f"its answer is not understood ({wrong})", hint)


# Watching an ensemble: its status again, whenever something has changed there.

SHARE = 4
"""Asking takes at most this fraction (1/SHARE) of the time."""


def watch(ensemble: RemoteEnsemble, asked: StatusAsked) -> Iterator[StatusData]:
    """The present status, and again each time something has changed; it never ends by itself. Raises
    ``ServerError``."""
    shown = ensemble.ask(STATUS, asked)
    yield shown
    for event in follow(ensemble.connection, f"ensemble:{ensemble.shown}"):
        if event is None:
            continue
        began = time.monotonic()
        found = ensemble.ask(STATUS, asked, patience=LONG_PATIENCE)
        if found != shown:
            shown = found
            yield shown
        time.sleep((time.monotonic() - began) * SHARE)
