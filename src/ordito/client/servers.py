"""The servers that a user knows: their names, and the tokens with which they are signed in, in one file of theirs."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from ordito.app.errors import Refused
from ordito.base.suggest import nearest

TOKEN_VARIABLE = "ORDITO_TOKEN"
"""The variable with the token of programs."""

MODE, FOLDER_MODE = 0o600, 0o700
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


class KnownServer(msgspec.Struct, frozen=True):
    """A server where somebody has signed in, or did so once."""

    url: str
    token: str = ""
    """"" after signing out."""

    user: str = ""


class _File(msgspec.Struct, frozen=True):
    servers: dict[str, KnownServer] = {}


def servers_file() -> Path:
    """The file that remembers them."""
    folder = os.environ.get("XDG_CONFIG_HOME") or ""
    # A relative path is to be passed over, says the specification of the variable.
    base = Path(folder) if Path(folder).is_absolute() else Path.home() / ".config"
    return base / "ordito" / "servers.json"


def known_servers() -> dict[str, KnownServer]:
    """All of them, by name. Raises ``Refused`` where the file cannot be read."""
    path = servers_file()
    try:
        return msgspec.json.decode(path.read_bytes(), type=_File).servers
    except FileNotFoundError:
        return {}
    except msgspec.DecodeError as error:
        hint = "repair it, or remove it and sign in again with `ordito login URL`"
        raise Refused("bad-server", f"{path} is damaged: {error}", hint) from None


def remember(name: str, server: KnownServer) -> None:
    """Keep a server under a name; the file can be read by its owner alone. Raises ``OSError`` and ``Refused``."""
    _write({**known_servers(), name: server})


def forget(name: str) -> None:
    """Forget a server. Raises ``OSError`` and ``Refused``."""
    _write({known: server for known, server in known_servers().items() if known != name})


def _write(servers: dict[str, KnownServer]) -> None:
    path = servers_file()
    path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        fresh.unlink()
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, MODE)
    with os.fdopen(handle, "wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(_File(servers)), indent=2) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def address_of(named: str) -> str:
    """The URL of a server that is named by its URL, or by the name under which it is known. Raises ``Refused``."""
    if "://" in named:
        return checked_url(named)
    known = known_servers()
    if named in known:
        return known[named].url
    near = nearest(named, known)
    hint = f'did you mean "{near[0]}"?' if near else "give its URL, or sign in with `ordito login URL --as NAME`"
    raise Refused("bad-server", f'no server is known as "{named}"', hint)


def name_of(url: str) -> str:
    """The name under which a server is known, "" for none. Raises ``Refused``."""
    return next((name for name, server in known_servers().items() if server.url == url), "")


def token_for(named: str) -> str:
    """The token for a server that is named by its URL or its name: what the variable says, else what a sign-in has
    left; "" for none. Raises ``Refused``."""
    if given := os.environ.get(TOKEN_VARIABLE, "").strip():
        return given
    known = known_servers()
    if named in known:
        return known[named].token
    url = address_of(named)
    return next((server.token for server in known.values() if server.url == url and server.token), "")


def checked_url(text: str) -> str:
    """The URL of a server, without a slash at its end. Raises ``Refused``: a token must not be sent where others can
    read it."""
    url = text.strip().rstrip("/")
    hint = "write it as in https://ordito.example.org"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise Refused("bad-server", "this is no URL of a server", hint) from None
    if parts.username or parts.password:
        raise Refused("bad-server", "the URL of a server holds no user and no password", f"{hint}; then `ordito login`")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise Refused("bad-server", f"{url} is no URL of a server", hint)
    if parts.scheme == "http" and not is_this_machine(host):
        message = f"{url} is not encrypted: whoever is in between could read the token"
        raise Refused("bad-server", message, "use https; http is only for a server on this machine")
    return url


def is_this_machine(host: str) -> bool:
    """Whether a host is the machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def usual_name(url: str) -> str:
    """The name of a server that got none: its host, with the port if it is not the usual one."""
    return urlsplit(url).netloc


def checked_name(name: str) -> str:
    """A name for a server. Raises ``Refused`` for one that could be mistaken for a URL."""
    if not NAME.fullmatch(name):
        hint = "take letters, digits, dots and dashes, as in prod"
        raise Refused("bad-server", f'"{name}" cannot be the name of a server', hint)
    return name
