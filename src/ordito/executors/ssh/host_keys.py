"""Host keys: is a host the one that it says it is?

The user's ``known_hosts`` decides, or the keys that the inventory names. An unknown key is refused with the words that
accept it, and a changed one with the line that knows another.
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
    """What was found out about the key that a host showed: why it was refused, "" while it was not."""

    refusal: str = ""


def known_hosts_file(settings: SshSettings) -> Path:
    """The file that knows the keys of hosts."""
    return Path(settings.known_hosts or DEFAULT).expanduser()


def known_hosts_argument(settings: SshSettings) -> Any:
    """What asyncssh is told to trust; what it does not trust it asks ``judge`` about."""
    if settings.host_key_check == "off" and not settings.host_key:
        return None
    path = known_hosts_file(settings)
    if settings.host_key or not path.is_file():
        return b""
    return str(path)


def judge(settings: SshSettings, host: str, address: str, port: int, key: SSHKey) -> str:
    """Why a key that ``known_hosts`` does not hold is refused; "" where it is accepted, and perhaps remembered."""
    shown = f"{_algorithm(key)} {key.get_fingerprint()}"
    where = f"{host} port {port}"
    if settings.host_key:
        if any(_is_pinned(text, key) for text in settings.host_key):
            return ""
        return (
            f'the host at {where} shows the key {shown}, which is not the one that "host_key" names: somebody may be '
            "in between; if the host was installed again, correct host_key in the inventory"
        )
    path = known_hosts_file(settings)
    if line := _line_of(path, host, address, port):
        return (
            f"THE HOST KEY HAS CHANGED: the host at {where} shows the key {shown}, and {path}:{line} knows another. "
            "Somebody may be in between, or the host was installed again; if you know that it was, remove the old key: "
            f"ssh-keygen -R {shlex.quote(_place(host, port))} -f {shlex.quote(str(path))}"
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
    """A host as ``known_hosts`` names it."""
    return host if port == 22 else f"[{host}]:{port}"


def _is_pinned(text: str, key: SSHKey) -> bool:
    if text.startswith(("SHA256:", "MD5:")):
        kind = "md5" if text.startswith("MD5:") else "sha256"
        return str(key.get_fingerprint(kind)) == text.strip()
    return _public(key).split()[1] in text.split()


def _public(key: SSHKey) -> str:
    return " ".join(key.export_public_key("openssh").decode().split()[:2])


def _line_of(path: Path, host: str, address: str, port: int) -> int:
    """The first line that knows some key for a host, 0 for none."""
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
    """Write down a new key; why that cannot be done, "" if it could."""
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
