"""The settings of a host that is reached by SSH, as its ``HostTarget`` holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from ordito.base.sensitive import Sensitive, revealed
from ordito.base.suggest import nearest
from ordito.work.targets import HostTarget, TargetRefused

Check = Literal["strict", "accept-new", "off"]
Method = Literal["sudo", "doas"]


class Become(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The user as whom commands run, the program that switches to it, and the password that it may ask for, "" for
    none."""

    user: str = "root"
    method: Method = "sudo"
    password: str = ""


class SshSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a host is reached by SSH. ``config`` may supply what is not set here."""

    address: str
    port: int | None = None
    user: str = ""
    identity: tuple[str, ...] = ()
    """Paths of private keys, or the texts of such keys."""

    passphrase: str = ""
    password: str = ""
    agent: bool = True
    known_hosts: str = ""
    """A path, "" for the user's file."""

    host_key: tuple[str, ...] = ()
    """Lines as in ``known_hosts`` (or the part with the key), or fingerprints (``SHA256:...``): then no other key is
    accepted, and ``known_hosts`` is not read."""

    host_key_check: Check = "strict"
    jump: tuple[SshSettings, ...] = ()
    """The jump hosts, first hop first."""

    config: str | bool = True
    """The user's OpenSSH configuration: a path, or whether ``~/.ssh/config`` is read."""

    become: Become | None = None
    base: str = ""
    """The folder on the host for all files, "" for ``.ordito`` in the user's home."""

    connections: int = 8
    """How many may be open at a time."""

    connect_timeout: float = 10.0
    """In seconds."""

    keep_alive: float = 15.0
    """Seconds between two signs of life; three missed ones end a connection. 0: none."""

    compression: bool = False


def settings_of(target: HostTarget) -> SshSettings:
    """The settings of a target; raises ``TargetRefused`` if they are not valid."""
    return _decoded(target.settings, target.name)


def _decoded(settings: Mapping[str, object], name: str) -> SshSettings:
    for key in settings:
        if key not in _NAMES:
            near = nearest(key, _NAMES)
            hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(_NAMES)}"
            raise TargetRefused(f'{name}: there is no setting "{key}" for SSH; {hint}')
    values = dict(settings)
    jump = values.pop("jump", None)
    if isinstance(plain := revealed(jump), str):
        jump = [_hop(text) for text in plain.split(",") if text.strip()]
    hops = jump if isinstance(jump, list | tuple) else [jump] if jump else []
    values["jump"] = [_decoded(hop, f"{name}, jump") if isinstance(hop, Mapping) else hop for hop in hops]
    for listed in ("identity", "host_key"):
        if isinstance(values.get(listed), str | Sensitive):
            values[listed] = [values[listed]]
    if isinstance(values.get("become"), bool):
        values["become"] = {} if values["become"] else None
    try:
        made = msgspec.convert(revealed(values), SshSettings)
    except msgspec.ValidationError as error:
        raise TargetRefused(f"{name}: its settings for SSH cannot be used: {error}") from None
    return made


_NAMES = SshSettings.__struct_fields__


def _hop(text: str) -> dict[str, object]:
    """A jump host that is written ``[user@]address[:port]``."""
    user, _, place = text.strip().rpartition("@")
    address, colon, port = place.rpartition(":")
    if not colon or not port.isdigit() or (":" in address and not address.startswith("[")):
        address, port = place, ""
    hop: dict[str, object] = {"address": address.strip("[]"), "user": user}
    return {**hop, "port": int(port)} if port else hop
