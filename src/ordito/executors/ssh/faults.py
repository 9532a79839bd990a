"""Why a host cannot be reached, in words: each kind of trouble has its sentence, and says what to do."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from functools import cache
from typing import Any

from ordito.executors.ssh.settings import SshSettings


def is_hopeless(error: BaseException) -> bool:
    """Whether waiting does not help."""
    import asyncssh

    kinds = (
        asyncssh.KeyImportError,
        asyncssh.KeyEncryptionError,
        asyncssh.PermissionDenied,
        asyncssh.HostKeyNotVerifiable,
    )
    return isinstance(error, kinds) or _file_of(error) != ""


def why(settings: SshSettings, error: BaseException, refusal: str) -> str:
    """A sentence for people; ``refusal`` is what was found wrong with the host's key."""
    if refusal:
        return refusal
    if file := _file_of(error):
        return _unreadable(settings, file, error)
    place = settings.address if settings.port is None else f"{settings.address} port {settings.port}"
    for kind, say in _kinds():
        if isinstance(error, kind):
            return say(settings, place, error)
    reason = error.strerror if isinstance(error, OSError) else ""
    return f"{place} cannot be reached: {reason or error}"


Say = Callable[[SshSettings, str, Any], str]


@cache
def _kinds() -> tuple[tuple[type[BaseException], Say], ...]:
    """What is said of each kind of error, the special ones first."""
    import asyncssh

    return (
        (TimeoutError, _silent),
        (socket.gaierror, _unnamed),
        (asyncssh.KeyImportError, _key_trouble),
        (asyncssh.KeyEncryptionError, _key_trouble),
        (asyncssh.PermissionDenied, _denied),
        (asyncssh.HostKeyNotVerifiable, lambda _, p, e: f"the key of the host at {p} was refused: {e.reason}"),
        (asyncssh.ChannelOpenError, lambda _, p, e: f"{p} cannot be reached by way of its jump host: {e.reason}"),
        (asyncssh.DisconnectError, lambda _, p, e: f"{p} ended the connection before it was made: {e.reason}"),
        (ConnectionRefusedError, _refused),
    )


def _file_of(error: BaseException) -> str:
    """The file on this machine because of which it failed, "" where it was no file."""
    return str(error.filename) if isinstance(error, OSError) and error.filename else ""


def _unreadable(settings: SshSettings, file: str, error: BaseException) -> str:
    what = "the private key" if file in settings.identity else "the file"
    reason = error.strerror if isinstance(error, OSError) else ""
    key = ' ("identity" in the inventory names it)' if file in settings.identity else ""
    return f"{what} {file}{key} cannot be read on this machine: {reason or error}"


def _silent(settings: SshSettings, place: str, _: object) -> str:
    return (
        f"{place} did not answer within {settings.connect_timeout:g} s; is it running, and does a firewall let SSH "
        "through?"
    )


def _unnamed(settings: SshSettings, _: str, error: socket.gaierror) -> str:
    return f'there is no host named "{settings.address}" ({error.strerror}); check its address'


def _refused(_: SshSettings, place: str, __: object) -> str:
    return f"{place} refuses connections: nothing listens there; is sshd running, and is the port right?"


def _denied(settings: SshSettings, place: str, error: Any) -> str:
    user = f'"{settings.user}"' if settings.user else "this user"
    return (
        f"{place} does not let {user} in ({str(error.reason).rstrip('.')}); tried: {_tried(settings)}. Put the right "
        "key or password into the inventory, or the public key into authorized_keys on the host"
    )


def _tried(settings: SshSettings) -> str:
    ways = [f"key {_named(text)}" for text in settings.identity]
    if not settings.identity:
        ways.append("the keys in ~/.ssh")
    if settings.agent and os.environ.get("SSH_AUTH_SOCK"):
        ways.append("the agent's keys")
    if settings.password:
        ways.append("the password")
    return ", ".join(ways)


def _key_trouble(settings: SshSettings, _: str, error: Exception) -> str:
    keys = ", ".join(_named(text) for text in settings.identity) or "a key in ~/.ssh"
    more = "" if settings.passphrase else '; if it is encrypted, give its "passphrase"'
    if "bcrypt" in str(error):
        more += "; it needs the package bcrypt (pip install 'ordito[ssh]'), or an agent that has the key (ssh-add)"
    return f"a private key cannot be used ({keys}): {error}{more}"


def _named(identity: str) -> str:
    return "given as text" if "PRIVATE KEY" in identity else identity
