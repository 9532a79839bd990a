"""How hosts are reached by SSH: the settings of the inventory, and the target that they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ordito.base.sensitive import Sensitive
from ordito.providers.shapes import (
    FLAG,
    LINES,
    SECONDS,
    TEXT,
    FlagOr,
    InventorySection,
    KnownEntries,
    ListOf,
    OneOf,
    ValueKind,
    whole,
)
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, Scalar
from ordito.source.nodes import Sequence as SequenceNode
from ordito.work.targets import SSH, HostTarget

BECOME = KnownEntries(user=TEXT, method=OneOf("sudo", "doas"), password=LINES)

CONNECTION: Mapping[str, ValueKind] = {
    "address": TEXT,
    "port": whole(1, 65_535),
    "user": TEXT,
    "identity": ListOf(LINES),
    "passphrase": LINES,
    "password": LINES,
    "agent": FLAG,
    "known_hosts": TEXT,
    "host_key": ListOf(TEXT),
    "host_key_check": OneOf("strict", "accept-new", "off"),
    "jump": TEXT,
    "config": FlagOr(TEXT),
    "become": FlagOr(BECOME),
    "base": TEXT,
    "connections": whole(1, 100),
    "connect_timeout": SECONDS,
    "keep_alive": SECONDS,
    "compression": FLAG,
}
"""The settings of a connection, each as the inventory has it:

| setting | value | of the target |
|---|---|---|
| address | a name or an IP address | the same |
| port, connections | whole numbers | the same |
| user, base | texts | the same |
| identity | files with private keys, or keys themselves | a list of absolute paths and texts of keys |
| passphrase, password | texts | the same |
| agent, compression | true or false | the same |
| known_hosts, config | a file (config also true or false) | an absolute path, true or false |
| host_key | public keys of the host, as in known_hosts | a list of texts |
| host_key_check | strict, accept-new or off | the same |
| jump | a host of the inventory, or [user@]address[:port], or several after one another with commas | a list of maps of
  settings like these, the first hop first |
| become | true or false, or a map of user, method, password | true, false, or the map |
| connect_timeout, keep_alive | times | seconds |
"""

DEFAULTS = KnownEntries(**CONNECTION)
"""The defaults for all hosts."""

SECRETS = ("passphrase", "password")
HIDDEN = frozenset({*SECRETS, "token", "secret", "secret_key", "access_key"})
"""Keys whose values are credentials, in every section of an inventory."""
KEY_TEXT = "PRIVATE KEY-----"


def ssh_target(name: str, section: InventorySection, settings: Mapping[str, Node]) -> HostTarget:
    """The target for these settings, evaluated now; its jump host is still a text. Raises ``NoValue``."""
    return HostTarget(SSH, name, values_of(section, settings, f'host "{name}"'))


def values_of(section: InventorySection, settings: Mapping[str, Node], what: str) -> dict[str, object]:
    """The present values of settings. Credentials are always ``Sensitive``. Raises ``NoValue``."""
    found: dict[str, object] = {}
    for name, node in settings.items():
        value = section.value(node, CONNECTION[name], f'"{name}" of {what}')
        if value is not None:
            found[name] = _as_target_has(name, value, section)
    return found


def _as_target_has(name: str, value: object, section: InventorySection) -> object:
    if name in SECRETS:
        return _secret(value)
    if name == "identity" and isinstance(value, list):
        return [_identity(item, section) for item in value]
    if name in {"known_hosts", "config"} and isinstance(value, str):
        return section.path(value)
    if name == "become" and isinstance(value, Mapping) and "password" in value:
        return {**value, "password": _secret(value["password"])}
    return value


def _secret(value: object) -> Sensitive:
    return value if isinstance(value, Sensitive) else Sensitive(value)


def _identity(value: object, section: InventorySection) -> object:
    """A file as its absolute path, a key as a secret."""
    if isinstance(value, Sensitive):
        return value
    text = str(value)
    return Sensitive(text) if KEY_TEXT in text else section.path(text)


def hide_credentials(root: Node) -> None:
    """Mark credentials that are written in an inventory, so that no message shows them."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, MappingNode):
            for name, value in node.values.items():
                if isinstance(value, Scalar) and (name in HIDDEN or KEY_TEXT in value.text):
                    value.source.hide((value.line, value.column), (value.end_line, value.end_column))
                else:
                    waiting.append(value)
        elif isinstance(node, SequenceNode):
            waiting.extend(node.items)


def has_credentials(root: Node, is_here: Callable[[Node], bool]) -> bool:
    """Whether an inventory contains a credential itself; ``is_here`` says whether a node holds its value, and does not
    refer to another place."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if not is_here(node):
            continue
        if isinstance(node, MappingNode):
            for name, value in node.values.items():
                if name in HIDDEN and isinstance(value, Scalar) and is_here(value):
                    return True
                waiting.append(value)
        elif isinstance(node, SequenceNode):
            waiting.extend(node.items)
        elif KEY_TEXT in node.text:
            return True
    return False


def settings_among(nodes: Sequence[Node | Mapping[str, Node] | None]) -> dict[str, Node]:
    """The connection settings among the entries of several maps; for each key the first map that has it counts."""
    maps = [n.values if isinstance(n, MappingNode) else n for n in nodes]
    found: dict[str, Node] = {}
    for entries in maps:
        for name, value in (entries if isinstance(entries, Mapping) else {}).items():
            if name in CONNECTION:
                found.setdefault(name, value)
    return found
