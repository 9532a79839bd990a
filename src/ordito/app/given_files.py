"""What the user gives to an ensemble as text: the user's part of `ensemble.yaml`, and the inventory `hosts.yaml`. Read,
checked, and replaced as a whole, byte for byte, as long as they are what was seen before. An ensemble can be made of
nothing else, so that more can be given to it before anything is deployed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from ordito.app.ensemble_checks import no_ensemble
from ordito.app.errors import Refused
from ordito.app.inputs.gathered import gather_inputs
from ordito.app.inputs.inventory import InventoryFile, read_inventory
from ordito.app.inputs.user_part import new_user_part, parse_user_part
from ordito.app.inputs.variables import evaluation_of
from ordito.app.place import Place, place_of
from ordito.app.plain_secrets import masked, plain_secrets
from ordito.app.plugins import plugins_of
from ordito.app.requests import GivenInputs
from ordito.app.services.chosen import weighed
from ordito.base.diagnostics import Diagnostic, Diagnostics, InvalidDocument
from ordito.ensemble.files import read, write_whole
from ordito.ensemble.layout import HOSTS_FILE, Layout
from ordito.ensemble.manifest import holds_marker, user_part, write_user_part
from ordito.ensemble.store import open_ensemble

ANY = "*"
"""Stands for whatever is there."""

MOST_BYTES = 1 << 20


def digest_of(text: str) -> str:
    """What a text is known by."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def make_ensemble(directory: str, service: str) -> None:
    """Make the directory of an ensemble of which nothing is deployed yet, with a user's part that names the service at
    a path, as the first deployment would write it. Raises ``Refused`` where there is anything already,
    ``EnsembleError``, and ``OSError``."""
    layout = Layout(Path(directory))
    layout.root.mkdir(parents=True, exist_ok=True)
    if any(layout.root.iterdir()):
        raise Refused("exists", f"{directory} is not empty", "name a directory that is empty, or does not exist")
    with open_ensemble(directory, command="ensembles create"):
        write_user_part(layout, new_user_part(layout, service, {}))


def read_spec(directory: str) -> str:
    """The user's part. Raises ``Refused`` and ``EnsembleError``."""
    return _text(user_part(_place(directory).layout), "the user's part of ensemble.yaml")


def read_shown_spec(directory: str) -> str:
    """The user's part as anybody may see it: what it holds in plain for sensitive inputs is masked. Raises ``Refused``
    and ``EnsembleError``."""
    place, text = _place(directory), read_spec(directory)
    user = parse_user_part(place.layout, place.manifest, text.encode(), Diagnostics())
    return masked(text, plain_secrets(place, user))


def check_spec(directory: str, text: str) -> tuple[Diagnostic, ...]:
    """The findings about a user's part, which is not written. Raises ``InvalidDocument`` where it has errors, and
    ``Refused`` where the value of a sensitive input stands in it."""
    place, diagnostics = _place(directory), Diagnostics()
    content = _content(text)
    if holds_marker(content):
        hint = "give only what stands above that line"
        raise Refused("bad-spec", "the text holds a line of the status that ordito writes", hint)
    user = parse_user_part(place.layout, place.manifest, content, diagnostics)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    for name in ("", *user.environments.by_name):
        environment, found = user.environments.get(name), Diagnostics()
        gather_inputs(environment, {}, GivenInputs(), evaluation_of(place, found, environment), found)
        diagnostics.extend(map(weighed, found))
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    if plain := plain_secrets(place, user):
        hint = "keep it as a secret, and write { secret: NAME } in its place"
        raise Refused("plain-credential", f"line {plain[0].line} holds the value of a sensitive input", hint)
    return tuple(diagnostics.sorted())


def set_spec(directory: str, text: str, seen: str) -> tuple[Diagnostic, ...]:
    """Replace the user's part of an ensemble that nobody else works on; ``seen`` is the digest of what it replaces.
    Raises ``InvalidDocument``, ``Refused``, ``Locked`` and ``EnsembleError``; then nothing was written."""
    found = check_spec(directory, text)
    place = _place(directory)
    _replace(
        place, "spec set", seen, (read_spec, read_shown_spec), lambda: write_user_part(place.layout, _content(text))
    )
    return found


def read_hosts(directory: str) -> str:
    """The inventory in the ensemble's directory, "" for none. Raises ``Refused`` and ``EnsembleError``."""
    return _text(read(_place(directory).layout.root / HOSTS_FILE) or b"", HOSTS_FILE)


def check_hosts_file(directory: str, text: str) -> tuple[Diagnostic, ...]:
    """The findings about an inventory, which is not written. Raises ``InvalidDocument`` where it has errors, and
    ``Refused`` where a password or a key stands in it."""
    place = _place(directory)
    _content(text)
    file = InventoryFile(place.layout.root / HOSTS_FILE, place.path(HOSTS_FILE), HOSTS_FILE)
    inventory = read_inventory(place, file, "", text)
    if inventory.has_credentials:
        hint = "keep it as a secret, and write { secret: NAME } in its place"
        raise Refused("plain-credential", f"{HOSTS_FILE} holds a password or a key", hint)
    if not inventory.diagnostics.has_errors:
        plugins_of(place.layout, inventory)
    if inventory.diagnostics.has_errors:
        raise InvalidDocument(inventory.diagnostics.sorted())
    return tuple(inventory.diagnostics.sorted())


def set_hosts(directory: str, text: str, seen: str) -> tuple[Diagnostic, ...]:
    """Replace the inventory; otherwise like ``set_spec``."""
    found = check_hosts_file(directory, text)
    place = _place(directory)
    path = place.layout.root / HOSTS_FILE
    _replace(place, "hosts set", seen, (read_hosts,), lambda: write_whole(path, [_content(text)]))
    return found


def _replace(
    place: Place, command: str, seen: str, now: tuple[Callable[[str], str], ...], write: Callable[[], object]
) -> None:
    with open_ensemble(place.layout.root, command=command):
        if seen != ANY and all(seen != digest_of(look(place.shown)) for look in now):
            raise Refused("changed", "it was changed since it was read", "read it again, and change that")
        write()


def _place(directory: str) -> Place:
    place = place_of(directory)
    if not place.layout.exists:
        raise no_ensemble(place.name)
    return place


def _content(text: str) -> bytes:
    content = text.encode("utf-8", "replace")
    if len(content) > MOST_BYTES:
        raise Refused("too-large", f"the text has more than {MOST_BYTES:,} bytes", "put a part of it into other files")
    return content


def _text(content: bytes, what: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("encoding", f"{what} is not encoded as UTF-8", "save it as UTF-8") from None
