"""Host keys: whether a host is the one that it claims to be.

The user's ``known_hosts`` decides, or the keys in the inventory. The message about an unknown key has the command that
accepts it; the one about a changed key has the line of ``known_hosts`` with the other key.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ordito.executors.ssh.settings import SshSettings

if TYPE_CHECKING:
    from asyncssh import SSHKey

DEFAULT = "~/.ssh/known_hosts"


class ShownKey(msgspec.Struct):
    """Why the key of a host was refused, "" if it was not."""

    refusal: str = ""


def known_hosts_file(settings: SshSettings) -> Path:
    """The ``known_hosts`` file."""
    return Path(settings.known_hosts or DEFAULT).expanduser()


def known_hosts_argument(settings: SshSettings) -> Any:
    """The keys that asyncssh trusts; about other keys it asks ``judge``."""
    if settings.host_key_check == "off" and not settings.host_key:
        return None
    path = known_hosts_file(settings)
    if settings.host_key or not path.is_file():
        return b""
    return str(path)


def judge(settings: SshSettings, host: str, address: str, port: int, key: SSHKey) -> str:
    """Why a key that is not in ``known_hosts`` is refused; "" if it is accepted (and perhaps remembered)."""
    shown = f"{_algorithm(key)} {key.get_fingerprint()}"
    where = f"{host} port {port}"
    if settings.host_key:
        if any(_is_pinned(text, key) for text in settings.host_key):
            return ""
        return (
            f'the host at {where} shows the key {shown}, which is not the one that "host_key" names: somebody may '
            "intercept the connection; if the host was installed again, correct host_key in the inventory"
        )
    path = known_hosts_file(settings)
    if line := _line_of(path, host, address, port):
        return (
            f"THE HOST KEY HAS CHANGED: the host at {where} shows the key {shown}, and {path}:{line} has another. "
            "Somebody may intercept the connection, or the host was installed again; if you know that it was, remove "
            f"the old key: ssh-keygen -R {shlex.quote(_place(host, port))} -f {shlex.quote(str(path))}"
        )
    if settings.host_key_check == "accept-new":
        return _remember(path, host, port, key)
    return (
        f"the key of the host at {where} is not known: {shown}. If that is its key, accept it: "
        f"ssh-keyscan -p {port} {shlex.quote(host)} >> {shlex.quote(str(path))} "
        "(or: `ordito hosts check --accept-new`)"
    )


def _algorithm(key: SSHKey) -> str:
    return str(key.get_algorithm())


def _place(host: str, port: int) -> str:
    """The name of a host in ``known_hosts``."""
    return host if port == 22 else f"[{host}]:{port}"


def _is_pinned(text: str, key: SSHKey) -> bool:
    if text.startswith(("SHA256:", "MD5:")):
        kind = "md5" if text.startswith("MD5:") else "sha256"
        return str(key.get_fingerprint(kind)) == text.strip()
    return _public(key).split()[1] in text.split()


def _public(key: SSHKey) -> str:
    return " ".join(key.export_public_key("openssh").decode().split()[:2])


def _line_of(path: Path, host: str, address: str, port: int) -> int:
    """The number of the first line with a key of a host, 0 for none."""
    import asyncssh

    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return 0
    for number, line in enumerate(lines, 1):
        try:
            found = asyncssh.import_known_hosts(line).match(host, address, port)
        except ValueError:
            continue
        if found[0]:
            return number
    return 0


def _remember(path: Path, host: str, port: int, key: SSHKey) -> str:
    """Add a new key to ``known_hosts``; returns why that failed, "" if it did not."""
    line = f"{_place(host, port)} {_public(key)}\n"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # In one write, so that several that learn of hosts at a time do not mix their lines.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, _new_line_before(path) + line.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        return f"the key of {host} cannot be remembered: {error.strerror}: {path}"
    return ""


def _new_line_before(path: Path) -> bytes:
    content = path.read_bytes()
    return b"" if not content or content.endswith(b"\n") else b"\n"
