"""How Ansible reaches a target: the connection variables of an inventory host."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping

from ordito.base.sensitive import revealed
from ordito.work.targets import SSH, Target, Unreachable

KeepFile = Callable[[str, str], str]
"""Keeps a text that may be secret in a file for as long as the batch runs; gives its path. First what it is for."""

KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
LOCAL: Mapping[str, object] = {"ansible_connection": "local"}


def connection_of(target: Target | None, keep: KeepFile, work: str) -> dict[str, object]:
    """The variables by which Ansible reaches a target. Raises ``Unreachable`` where it cannot."""
    if target is None:
        return {**LOCAL, "ansible_remote_tmp": f"{work}/remote"}
    if target.protocol != SSH:
        raise Unreachable(
            f"playbooks are run on this machine and over SSH, and {target.name} is reached by {target.protocol}; "
            "use a script for this operation"
        )
    settings = _plain(target.settings)
    address = str(settings.get("address", ""))
    found: dict[str, object] = {
        "ansible_connection": "ssh",
        "ansible_host": address,
        "ansible_ssh_common_args": shlex.join(_options(target.name, settings, keep)),
    }
    for name, variable in (("port", "ansible_port"), ("user", "ansible_user"), ("password", "ansible_password")):
        if settings.get(name):
            found[variable] = settings[name]
    if settings.get("passphrase"):
        found["ansible_private_key_passphrase"] = settings["passphrase"]
    return {**found, **_become(settings.get("become"), settings)}


def _plain(settings: Mapping[str, object]) -> dict[str, object]:
    plain = revealed(settings)
    assert isinstance(plain, Mapping)
    return dict(plain)


def _become(become: object, settings: Mapping[str, object]) -> dict[str, object]:
    """What makes another user of the one who logs in."""
    if not become:
        return {}
    found: dict[str, object] = {"ansible_become": True}
    details = become if isinstance(become, Mapping) else {"user": become} if isinstance(become, str) else {}
    for name in ("user", "method", "password"):
        if details.get(name):
            found[f"ansible_become_{name}"] = details[name]
    if "ansible_become_password" not in found and settings.get("password"):
        found["ansible_become_password"] = settings["password"]
    return found


def _options(name: str, settings: Mapping[str, object], keep: KeepFile) -> list[str]:
    """The options for `ssh`, jumps included."""
    options = _trust(name, settings, keep) + _identity(name, settings, keep)
    jump = settings.get("jump")
    hops = [jump] if isinstance(jump, Mapping | str) and jump else list(jump) if isinstance(jump, list | tuple) else []
    if hops:
        options += ["-o", f"ProxyCommand={_through(name, hops, keep)}"]
    return options


def _through(name: str, hops: list[object], keep: KeepFile) -> str:
    """The command that connects to the last hop's far side, through those before it."""
    *before, last = hops
    if not isinstance(last, Mapping):
        return shlex.join(["ssh", "-W", "%h:%p", str(last)])
    words = ["ssh", "-W", "%h:%p", "-o", "BatchMode=yes", *_trust(name, last, keep), *_identity(name, last, keep)]
    if last.get("password"):
        raise Unreachable(f"Ansible reaches {name} through a host that asks for a password; give that host a key")
    if before:
        # A percent sign that is meant for the inner one passes the outer one doubled.
        words += ["-o", f"ProxyCommand={_through(name, before, keep)}"]
    if last.get("port"):
        words += ["-p", str(last["port"])]
    user, address = str(last.get("user", "")), str(last.get("address", ""))
    return shlex.join([*words, f"{user}@{address}" if user else address]).replace("%h", "%h")


def _trust(name: str, settings: Mapping[str, object], keep: KeepFile) -> list[str]:
    """By which keys a host is known; without further words by those that the user knows."""
    known = settings.get("known_hosts")
    if known is False or known == "none":
        return ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"]
    options = ["-o", "StrictHostKeyChecking=yes"]
    if isinstance(known, str) and known:
        path = keep(f"{name} known hosts", known) if " " in known.strip() and "\n" in f"{known}\n" else known
        options += ["-o", f"UserKnownHostsFile={path}", "-o", "GlobalKnownHostsFile=/dev/null"]
    return options


def _identity(name: str, settings: Mapping[str, object], keep: KeepFile) -> list[str]:
    identity = settings.get("identity")
    if not isinstance(identity, str) or not identity:
        return []
    path = keep(f"{name} key", identity) if KEY.search(identity) else identity
    return ["-o", f"IdentityFile={path}", "-o", "IdentitiesOnly=yes"]
