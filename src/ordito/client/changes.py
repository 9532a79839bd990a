"""What a command has a server do at once with what an ensemble keeps: its records, locks, hosts and secrets."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

import msgspec

from ordito.client.connection import LONG_PATIENCE, in_path, pauses_between
from ordito.client.errors import ServerError
from ordito.client.looks import RemoteEnsemble
from ordito.results.answer import A, R, UseCase
from ordito.results.given import SECRETS
from ordito.results.records import SecretNamesData

LOCKED = "locked"


class ChangeRoute(msgspec.Struct, frozen=True):
    """Where the API has a change."""

    path: str
    """Below the ensemble."""

    in_query: frozenset[str] = frozenset()
    """The parameters that are not part of the body."""

    is_seen_first: bool = False
    """Whether it is only described, unless it is said what was seen."""


CHANGE_ROUTES: Mapping[str, ChangeRoute] = {
    "state mv": ChangeRoute("/state/mv", is_seen_first=True),
    "state rm": ChangeRoute("/state/rm", is_seen_first=True),
    "state adopt": ChangeRoute("/state/adopt", is_seen_first=True),
    "forget": ChangeRoute("/state/forget", is_seen_first=True),
    "state renew": ChangeRoute("/state/renew"),
    "jobs replay": ChangeRoute("/replay", frozenset({"write", "until", "first"})),
    "jobs unlock": ChangeRoute("/unlock", is_seen_first=True),
    "hosts check": ChangeRoute("/hosts/check"),
    "hosts release": ChangeRoute("/hosts/release"),
    "notify": ChangeRoute("/notifications"),
}
"""By the name of the use case."""


def do(
    ensemble: RemoteEnsemble,
    change: UseCase[A, R],
    asked: A,
    *,
    wait_lock: float = 0.0,
) -> R:
    """Have something done, or described where it is to be seen first. ``wait_lock`` are the
    seconds for which it is asked again while another command works on the ensemble. Raises ``ServerError``."""
    door, values = CHANGE_ROUTES[change.name], msgspec.to_builtins(asked)
    seen = values.pop("seen", "")
    values.pop("by", None)
    query = {name: value for name in door.in_query if (value := values.pop(name)) not in ("", None)}
    if door.is_seen_first and seen:
        values["digest"] = seen
    elif door.is_seen_first:
        query["dry"] = True
    until, pauses = time.monotonic() + wait_lock, pauses_between()
    while True:
        try:
            found = ensemble.connection.ask(
                "POST", ensemble.path + door.path, body=_body(values, door), query=query, patience=LONG_PATIENCE
            )
        except ServerError as error:
            if error.failure.code != LOCKED or time.monotonic() >= until:
                raise
            time.sleep(max(0.0, min(next(pauses), until - time.monotonic())))
        else:
            return ensemble.read(change, ensemble.connection.as_here(found.body))


def _body(values: Mapping[str, object], door: ChangeRoute) -> Mapping[str, object] | None:
    return values if values or not door.in_query else None


# Secrets.


def keep_secret(ensemble: RemoteEnsemble, name: str, value: str) -> None:
    """Keep a secret. Raises ``ServerError``."""
    ensemble.connection.ask("PUT", f"{ensemble.path}/secrets/{in_path(name)}", body={"value": value})


def forget_secrets(ensemble: RemoteEnsemble, names: Collection[str]) -> None:
    """Forget secrets: all of them, or none if one does not exist. Raises ``ServerError``."""
    known: SecretNamesData = ensemble.ask(SECRETS, SECRETS.asked())
    # The server says of one that it does not have why it cannot be forgotten.
    for name in sorted(dict.fromkeys(names), key=lambda one: one in known.secrets):
        ensemble.connection.ask("DELETE", f"{ensemble.path}/secrets/{in_path(name)}")
