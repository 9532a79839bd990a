"""Hosts of blueprints that exist already: their properties say where they are, and how one gets in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ordito.base.sensitive import revealed
from ordito.model.hosting import makes_itself
from ordito.model.service import NodeTemplate
from ordito.syntax.expressions import Value

CONFIG, IP = "agent_config", "ip"
HERE = "none"
"""The way of installing agents that stands for none: what runs on such a host runs on this machine."""

FABRIC_ENV = "fabric_env"
"""The input that says on which host an operation runs."""


def is_agent_host(node: NodeTemplate, evaluate: Callable[[Value], object]) -> bool:
    """Whether a node is a host that its properties lead to: it has an address, or makes itself and says who gets in.
    ``evaluate`` gives None for what is not known yet."""
    known = _config(node, evaluate)
    if known is None or known.get("install_method") == HERE:
        return False
    written = node.properties.get(IP)
    return bool(written) or (makes_itself(node) and bool(known.get("user")))


def lacks_address(node: NodeTemplate, evaluate: Callable[[Value], object]) -> bool:
    """Whether a node is a host that says how one gets in, and not where: by no means is that this machine."""
    known = _config(node, evaluate)
    if known is None or known.get("install_method") == HERE or node.properties.get(IP):
        return False
    return any(known.get(name) for name in ("user", "key", "password"))


def is_here(node: NodeTemplate, evaluate: Callable[[Value], object]) -> bool:
    """Whether a node is a host without an agent, so that what runs on it runs on this machine."""
    known = _config(node, evaluate)
    return known is not None and known.get("install_method") == HERE


def _config(node: NodeTemplate, evaluate: Callable[[Value], object]) -> Mapping[str, object] | None:
    """What a host of a blueprint says of its agent; None for any other node."""
    if not (node.is_open and node.is_compute and CONFIG in node.properties):
        return None
    config = revealed(evaluate(node.properties[CONFIG]))
    return config if isinstance(config, Mapping) else {}


def ssh_settings(given: Mapping[str, object]) -> dict[str, object]:
    """The settings of a connection, as ``agent_config`` or ``fabric_env`` gives them."""
    found: dict[str, object] = {}
    place = str(given.get("host_string") or given.get("host") or "")
    user, _, address = place.rpartition("@")
    if ":" in address and address.rpartition(":")[2].isdigit():
        address, _, port = address.rpartition(":")
        found["port"] = int(port)
    if address:
        found["address"] = address.strip("[]")
    for name, setting in (("user", "user"), ("password", "password"), ("gateway", "jump")):
        if given.get(name):
            found[setting] = given[name]
    if user:
        found["user"] = user
    if given.get("port"):
        found["port"] = int(str(given["port"]))
    if key := given.get("key") or given.get("key_filename"):
        found["identity"] = list(key) if isinstance(key, list | tuple) else [key]
    for name in ("connect_timeout", "timeout"):
        if given.get(name):
            found["connect_timeout"] = float(str(given[name]))
    return found
