"""The inventory of a batch: the topology's instances as Ansible's hosts, with groups and variables.

Every instance is a host with its id as name, and is reached like the Compute that hosts it. Groups are ``SELF`` (the
instances of the batch; ``SOURCE`` or ``TARGET`` too, for operations of relationships), one for each node template, each
type and each group of the topology, with ``_`` in place of characters that Ansible does not allow in names.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from ordito.base.sensitive import revealed
from ordito.base.text import shell_name
from ordito.executors.ssh.settings import Become, SshSettings, settings_of
from ordito.work.inventory import Listed, OperationSubject, TopologyInventory
from ordito.work.invocation import SCRATCH, Invocation
from ordito.work.targets import CONTAINER, SSH, HostTarget, Unreachable

SELF = "SELF"
MOST_HOSTS = 2_000
"""Up to this number of instances in the topology, every inventory has all of them; above, it has those of the batch."""

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def inventory_of(
    batch: Sequence[tuple[Invocation, OperationSubject]], keep: KeepFile, work: str, area: str = ""
) -> tuple[dict[str, object], dict[str, str]]:
    """The inventory of a batch, and by instance why it cannot take part, for those that cannot. ``work`` is the folder
    that replaces ``SCRATCH``; below ``area`` the ensemble keeps its files on hosts."""
    topology = batch[0][1].topology
    own = {subject.instance: (invocation, subject) for invocation, subject in batch}
    connections = _Connections(keep, work, area)
    unfit = {name: why for name, (i, _) in own.items() if (why := connections.add(name, i.host, i.target))}
    listed = [topology.listed(name) for name in own if name not in unfit]
    others = [] if len(topology) > MOST_HOSTS else [e for e in topology.everything() if e.instance not in own]
    others = [e for e in others if not _problem(connections, topology, e)]
    variables = {e.instance: _variables(*own[e.instance], work) for e in listed}
    common = _common(list(variables.values()))
    hosts = {e.instance: {**connections.of(e.instance), **_rest(variables[e.instance], common)} for e in listed}
    hosts |= {e.instance: dict(connections.of(e.instance)) for e in others}
    groups: dict[str, list[str]] = {}
    for entry in (*listed, *others):
        for name in dict.fromkeys((entry.node, *entry.kinds, *entry.groups)):
            groups.setdefault(shell_name(name), []).append(entry.instance)
    # These names are ours, whatever else has them.
    for name in (SELF, batch[0][1].side.upper()):
        if name:
            groups[name] = [e.instance for e in listed]
    return {"hosts": hosts, "groups": groups, "common": common}, unfit


class _Connections:
    """The connection variables of instances, computed once for each target."""

    def __init__(self, keep: KeepFile, work: str, area: str) -> None:
        self._keep = keep
        self._work = work
        self._area = area
        self._by_host: dict[str, dict[str, object] | str] = {}
        self._hosts: dict[str, str] = {}

    def add(self, instance: str, host: str, target: HostTarget | None) -> str:
        """Add an instance on a host; returns why it cannot be reached, "" if it can."""
        self._hosts[instance] = host
        if host not in self._by_host:
            try:
                self._by_host[host] = connection_of(target, self._keep, self._work, self._area)
            except Unreachable as problem:
                self._by_host[host] = str(problem)
        found = self._by_host[host]
        return found if isinstance(found, str) else ""

    def of(self, instance: str) -> Mapping[str, object]:
        """The variables of an instance that can be reached."""
        found = self._by_host[self._hosts[instance]]
        assert not isinstance(found, str)
        return found

    def knows(self, host: str) -> bool:
        """Whether the variables of a host are known."""
        return host in self._by_host


def _problem(connections: _Connections, topology: TopologyInventory, entry: Listed) -> str:
    """Why an instance outside of the batch cannot be reached, "" if it can."""
    target = None
    if entry.host and not connections.knows(entry.host):
        try:
            target = topology.target(entry.host)
        except Unreachable as problem:
            return str(problem)
    return connections.add(entry.instance, entry.host, target)


def _variables(invocation: Invocation, subject: OperationSubject, work: str) -> dict[str, object]:
    """The variables of one step: those of the environment as texts, inputs as data."""
    texts = {**invocation.large, **invocation.environment}
    found: dict[str, object] = {name: _placed(text, work) for name, text in texts.items() if VARIABLE.fullmatch(name)}
    for name, value in subject.inputs.items():
        found[shell_name(name)] = _placed(revealed(value), work)
    return found


def _placed(value: object, work: str) -> object:
    """A value with the path of the scratch folder in place of its placeholder. Data is not nested deeper than
    documents."""
    if isinstance(value, str):
        return value.replace(SCRATCH, f"{work}/") if SCRATCH in value else value
    if isinstance(value, Mapping):
        return {key: _placed(one, work) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_placed(one, work) for one in value]
    return value


def _common(every: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """The variables that are the same for all hosts, which are written once."""
    if not every:
        return {}
    first, *others = every
    return {n: v for n, v in first.items() if all(_is_same(o, n, v) for o in others)}


def _is_same(variables: Mapping[str, object], name: str, value: object) -> bool:
    # True is no 1.
    return name in variables and variables[name] == value and type(variables[name]) is type(value)


def _rest(variables: Mapping[str, object], common: Iterable[str]) -> dict[str, object]:
    left = set(common)
    return {name: value for name, value in variables.items() if name not in left}


# How Ansible reaches a target: the connection variables of an inventory host.

KeepFile = Callable[[str, str], str]
"""Keeps a text (second argument) that may be secret in a file as long as the batch runs; returns its path. The first
argument says what it is for."""

KEY_TYPES = ("ssh-", "ecdsa-", "sk-")
METHODS = {"sudo": "ansible.builtin.sudo", "doas": "community.general.doas"}


def connection_of(target: HostTarget | None, keep: KeepFile, work: str, area: str = "") -> dict[str, object]:
    """The variables by which Ansible reaches a target; below ``area`` the ensemble keeps its files there. Raises
    ``Unreachable`` if Ansible cannot."""
    if target is None:
        return {"ansible_connection": "local", "ansible_remote_tmp": f"{work}/remote"}
    if target.protocol == CONTAINER:
        return _into_container(target, area)
    if target.protocol != SSH:
        raise Unreachable(
            f"playbooks are run on this machine, over SSH and in containers, and {target.name} is reached by "
            f"{target.protocol}; use a script for this operation"
        )
    settings = settings_of(target)
    found: dict[str, object] = {
        "ansible_connection": "ssh",
        "ansible_host": settings.address,
        "ansible_ssh_common_args": shlex.join(_options(target.name, settings, keep)),
        "ansible_ssh_timeout": max(1, round(settings.connect_timeout)),
        "ansible_remote_tmp": _files_there(settings.base, area),
    }
    given: dict[str, object] = {
        "ansible_port": settings.port,
        "ansible_user": settings.user,
        "ansible_password": settings.password,
    }
    found |= {variable: value for variable, value in given.items() if value}
    return {**found, **(_become(settings.become) if settings.become is not None else {})}


def _files_there(base: object, area: str) -> str:
    """The folder of Ansible on a host, which is removed with all other files of the ensemble there."""
    return "/".join(part for part in (str(base or "~/.ordito"), area, "ansible") if part)


def _into_container(target: HostTarget, area: str) -> dict[str, object]:
    """The variables by which Ansible runs something in a container."""
    settings = target.settings
    found: dict[str, object] = {
        "ansible_connection": "ordito_engine",
        "ansible_host": settings["container"],
        "ansible_ordito_engine": settings["engine"],
        "ansible_remote_tmp": _files_there(settings.get("base"), area),
    }
    return {**found, "ansible_user": settings["user"]} if settings.get("user") else found


def words_into(target: HostTarget) -> tuple[str, ...]:
    """The words with which a command in a container begins."""
    settings = target.settings
    user = ("--user", str(settings["user"])) if settings.get("user") else ()
    return (str(settings["engine"]), "exec", "--interactive", *user, str(settings["container"]))


def _become(become: Become) -> Mapping[str, object]:
    """The variables by which Ansible becomes another user."""
    found: dict[str, object] = {"ansible_become": True, "ansible_become_user": become.user}
    found["ansible_become_method"] = METHODS[become.method]
    return {**found, "ansible_become_password": become.password} if become.password else found


def _options(name: str, settings: SshSettings, keep: KeepFile) -> list[str]:
    """The options for `ssh`, jumps included."""
    options = _configuration(settings) + _trust(name, settings, keep) + _identity(name, settings, keep)
    if settings.keep_alive:
        options += ["-o", f"ServerAliveInterval={max(1, round(settings.keep_alive))}", "-o", "ServerAliveCountMax=3"]
    if settings.compression:
        options.append("-C")
    if settings.jump:
        options += ["-o", f"ProxyCommand={_through(name, settings.jump, keep)}"]
    return options


def _through(name: str, hops: Sequence[SshSettings], keep: KeepFile) -> str:
    """The command that connects to the host behind the last hop, through the hops before it."""
    *before, last = hops
    if last.password:
        raise Unreachable(f"Ansible reaches {name} through {last.address}, which asks for a password: give it a key")
    words = ["ssh", "-W", "%h:%p", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={max(1, round(last.connect_timeout))}"]
    words += [*_configuration(last), *_trust(name, last, keep), *_identity(name, last, keep)]
    if inner := (*before, *last.jump):
        # What is meant for the command inside passes the one around it doubled.
        words += ["-o", f"ProxyCommand={_through(name, inner, keep).replace('%', '%%')}"]
    if last.port:
        words += ["-p", str(last.port)]
    return shlex.join([*words, f"{last.user}@{last.address}" if last.user else last.address])


def _configuration(settings: SshSettings) -> list[str]:
    """The configuration file that OpenSSH reads."""
    if isinstance(settings.config, str):
        return ["-F", settings.config]
    return [] if settings.config else ["-F", "none"]


def _trust(name: str, settings: SshSettings, keep: KeepFile) -> list[str]:
    """The options that say which keys of a host are trusted."""
    if settings.host_key:
        keys = [_public_key(name, text) for text in settings.host_key]
        path = keep(f"{name} host key", "".join(f"* {key}\n" for key in keys))
        return ["-o", "StrictHostKeyChecking=yes", *_known(path), "-o", "GlobalKnownHostsFile=/dev/null"]
    if settings.host_key_check == "off":
        return ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"]
    options = ["-o", f"StrictHostKeyChecking={'yes' if settings.host_key_check == 'strict' else 'accept-new'}"]
    return options + (_known(settings.known_hosts) if settings.known_hosts else [])


def _known(path: str) -> list[str]:
    return ["-o", f"UserKnownHostsFile={_literal(path)}"]


def _public_key(name: str, text: str) -> str:
    """The key in a line as in ``known_hosts``."""
    words = text.split()
    at = next((index for index, word in enumerate(words[:-1]) if word.startswith(KEY_TYPES)), None)
    if at is None:
        raise Unreachable(
            f'{name}: OpenSSH, which Ansible uses, does not trust fingerprints: write the key itself into "host_key", '
            f"as ssh-keyscan prints it"
        )
    return f"{words[at]} {words[at + 1]}"


def _identity(name: str, settings: SshSettings, keep: KeepFile) -> list[str]:
    options = [] if settings.agent else ["-o", "IdentityAgent=none"]
    for identity in settings.identity:
        path = _key_file(name, identity, settings.passphrase, keep)
        options += ["-o", f"IdentityFile={_literal(path)}"]
    if settings.identity:
        options += ["-o", "IdentitiesOnly=yes"]
    return options


def _key_file(name: str, identity: str, passphrase: str, keep: KeepFile) -> str:
    """The file of a key that `ssh` can use without asking for a passphrase: the given file, or one that is removed with
    the batch."""
    is_text = "PRIVATE KEY" in identity
    if not passphrase:
        return keep(f"{name} key", identity) if is_text else str(Path(identity).expanduser())
    try:
        import asyncssh
    except ModuleNotFoundError:
        raise Unreachable(f"{name}: keys with a passphrase need asyncssh: pip install 'ordito[ssh]'") from None
    try:
        text = identity if is_text else Path(identity).expanduser().read_text()
        key = asyncssh.import_private_key(text, passphrase)
    except (OSError, asyncssh.KeyImportError) as error:
        raise Unreachable(f"{name}: its key cannot be used: {error}") from None
    return keep(f"{name} key", key.export_private_key("openssh").decode())


def _literal(path: str) -> str:
    """A path quoted so that `ssh` replaces nothing in it."""
    return path.replace("%", "%%")
