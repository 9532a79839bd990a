"""An inventory plug-in of Ansible: reads the hosts of one batch from a JSON file.

It runs inside Ansible's process and uses the standard library and Ansible's base class only; `../../files.py` says what
the file holds. The values in it are data: Ansible must never treat a text as a template, even if it has braces.
"""

# It is loaded by Ansible, by its path.
# ruff: noqa: INP001, PTH123

from __future__ import annotations

import json
import sys
from typing import Any

from ansible.plugins.inventory import BaseInventoryPlugin
from ansible.utils.unsafe_proxy import wrap_var

DOCUMENTATION = """
name: ordito_inventory
short_description: Reads the hosts of one batch of operations
description: Reads a file that Ordito writes for each batch.
options:
  plugin:
    description: Always this plug-in.
    type: string
"""

INTERPRETER = "ansible_python_interpreter"


class InventoryModule(BaseInventoryPlugin):  # type: ignore[misc]
    """Hosts with their variables, and groups."""

    NAME = "ordito_inventory"

    def verify_file(self, path: str) -> bool:
        """Whether a file is one that Ordito has written."""
        return path.endswith("/inventory.json")

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        """Add the hosts, groups and variables of the file."""
        super().parse(inventory, loader, path, cache)
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        batch = set(content["groups"]["SELF"])
        for host, own in content["hosts"].items():
            inventory.add_host(host)
            variables = {**content["common"], **own} if host in batch else own
            if variables.get("ansible_connection") == "local":
                # Modules that run here run with the interpreter that Ansible itself runs with.
                variables = {INTERPRETER: sys.executable, **variables}
            self._set(inventory, host, variables)
        for group, members in content["groups"].items():
            # Ansible may give a group another name than it is asked for.
            added = inventory.add_group(group)
            for host in members:
                inventory.add_child(added, host)

    def _set(self, inventory: Any, entity: str, variables: dict[str, Any]) -> None:
        for name, value in variables.items():
            inventory.set_variable(entity, name, wrap_var(value))
