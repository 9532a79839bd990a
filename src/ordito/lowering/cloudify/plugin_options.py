"""What plugins are given: what of a playbook are variables, what is said to the program, and what has no effect; and
what has none of fabric (sections 16.2, 16.3)."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.lowering.cloudify.values import Values, is_call
from ordito.lowering.making import mapping, text
from ordito.source import nodes
from ordito.source.nodes import Node, Scalar, is_null
from ordito.syntax.cloudify.entities import TypeOperation

RUN_DATA = "run_data"
PLAYBOOK_PATHS = ("playbook_path", "site_yaml_path")
OPTIONS = {"tags": "tags", "ansible_become": "become"}
"""The inputs and properties that are said to the program, and what they are called there."""
_OF_COMMAND = "the program is called without options of its own"
UNHEARD = {
    "sources": "the inventory is made of the hosts of the service",
    "options_config": _OF_COMMAND,
    "ansible_env_vars": _OF_COMMAND,
    "additional_args": _OF_COMMAND,
    "start_at_task": _OF_COMMAND,
    "scp_extra_args": _OF_COMMAND,
    "sftp_extra_args": _OF_COMMAND,
    "ssh_common_args": _OF_COMMAND,
    "ssh_extra_args": _OF_COMMAND,
    "module_path": "modules are found beside the playbook, in library/",
    "roles": "roles are found beside the playbook, in roles/",
    "galaxy_collections": "nothing is installed: collections must be there",
    "extra_packages": "nothing is installed: packages must be there",
    "playbook_source_path": "playbooks are files of the blueprint",
    "ansible_playbook_executable_path": "the variable ORDITO_ANSIBLE_PLAYBOOK names the program",
    "auto_tags": "tags are written",
}
"""The inputs and properties of playbooks that have no effect, and why."""
_QUIET = (
    "debug_level",
    "log_stdout",
    "save_playbook",
    "remerge_sources",
    "store_facts",
    "number_of_attempts",
    "timeout",
)
OF_PLAYBOOKS = frozenset(
    {*PLAYBOOK_PATHS, *OPTIONS, *UNHEARD, *_QUIET, "sensitive_keys", "additional_playbook_files", "run_data"}
)
"""The inputs of a playbook that are none of its variables."""


def defaults(inherited: TypeOperation | None) -> dict[str, Node]:
    """The inputs that a type gives an operation."""
    inputs = inherited.inputs if inherited is not None else None
    return {n: i.default for n, i in (inputs or {}).items() if i.default is not None}


def _is_nothing(node: Node) -> bool:
    """Whether a value says nothing: empty, or false."""
    if isinstance(node, Scalar):
        return node.text in ("", "false", "False") or is_null(node)
    return not (node.items if isinstance(node, nodes.Sequence) else node.keys)


class Playbooks:
    """Reads what operations that are playbooks are ``given``, and the ``properties`` of their node templates."""

    def __init__(self, values: Values, diagnostics: Diagnostics) -> None:
        self._values = values
        self._diagnostics = diagnostics

    def path(self, given: Mapping[str, Node], properties: Mapping[str, Node]) -> Scalar | None:
        """The playbook that an operation names."""
        for name in PLAYBOOK_PATHS:
            node = _known(given.get(name) or properties.get(name), properties)
            if isinstance(node, Scalar) and node.text:
                return node
        return None

    def options(self, given: Mapping[str, Node], properties: Mapping[str, Node], at: Node) -> nodes.Mapping | None:
        """What is said to the program that runs playbooks."""
        found: list[tuple[Scalar, Node]] = []
        for name, own in OPTIONS.items():
            node = _known(given.get(name) or properties.get(name), properties)
            if node is not None and not _is_nothing(node):
                found.append((text(own, at), self._values.lowered(node)))
        return mapping(found, at) if found else None

    def variables(self, given: Mapping[str, Node], properties: Mapping[str, Node]) -> list[tuple[Scalar, Node]]:
        """The variables of a playbook: what ``run_data`` holds, and inputs that mean nothing to the plugin."""
        found: list[tuple[Scalar, Node]] = []
        for name, node in {RUN_DATA: properties.get(RUN_DATA), **given}.items():
            data = _known(node, properties) if name == RUN_DATA else None
            if isinstance(data, nodes.Mapping) and not is_call(data):
                found += [(k, self._values.lowered(v)) for k, v in data.entries()]
            elif node is not None and name not in OF_PLAYBOOKS:
                found.append((text(name, node), self._values.lowered(node)))
        return found

    def warn_of_options(self, given: Mapping[str, Node], properties: Mapping[str, Node]) -> None:
        """Warn of what a playbook is given and that has no effect."""
        for name, why in UNHEARD.items():
            node = _known(given.get(name) or properties.get(name), properties)
            if node is None or _is_nothing(node) or node.source.name.startswith("profile:"):
                continue
            self._diagnostics.warning("not-applied", f'"{name}" has no effect: {why}', node.span, hint="remove it")


def _known(node: Node | None, properties: Mapping[str, Node]) -> Node | None:
    """A value, or the property of the template that it is."""
    if isinstance(node, nodes.Mapping) and [k.text for k in node.keys] == ["get_property"]:
        below = node.values["get_property"]
        names = [n.text for n in below.items if isinstance(n, Scalar)] if isinstance(below, nodes.Sequence) else []
        if len(names) == 2 and names[0] == "SELF":
            return properties.get(names[1])
    return node


OF_CONNECTIONS = frozenset(
    {"host", "host_string", "user", "password", "key", "key_filename", "port", "gateway", "connect_timeout", "timeout"}
)
"""What ``fabric_env`` says of how a host is reached (``work.agents.ssh_settings``)."""
UNHEARD_BY_FABRIC = {
    "warn_only": "a command that fails fails the operation: end it with || true",
    "command_timeout": "write timeout beside the implementation",
    "forward_agent": "keys stay on this machine",
    "always_use_pty": "commands have no terminal",
}


def warn_of_fabric(given: Mapping[str, Node], diagnostics: Diagnostics) -> None:
    """Warn of what fabric is given and that has no effect."""
    env, hidden = given.get("fabric_env"), given.get("hide_output")
    for key in env.keys if isinstance(env, nodes.Mapping) and not is_call(env) else ():
        if key.text not in OF_CONNECTIONS:
            why = UNHEARD_BY_FABRIC.get(key.text, "it says nothing of the connection")
            diagnostics.warning("not-applied", f'"{key.text}" has no effect: {why}', key.span, hint="remove it")
    if isinstance(hidden, nodes.Sequence) and hidden.items:
        diagnostics.warning(
            "not-applied",
            '"hide_output" has no effect: what a script prints is kept with its job',
            hidden.span,
            hint="print nothing in the script",
        )
