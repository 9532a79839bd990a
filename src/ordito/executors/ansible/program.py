"""Finding `ansible-playbook`, and what its process is given as environment and settings."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from ordito.executors.ansible.files import SETTINGS

NAME = "ansible-playbook"
SETTING = "ORDITO_ANSIBLE_PLAYBOOK"
"""The variable of the orchestrator that names the program, where it is neither beside its own interpreter nor in
PATH."""

INSIDE = str(Path(__file__).with_name("inside"))
CONFIGURATION = "ansible.cfg"

USUAL = """\
[defaults]
interpreter_python = auto_silent
deprecation_warnings = false
gathering = smart
"""
"""What holds where a playbook has no `ansible.cfg` of its own beside it. There is no pipelining: without it what runs
on a host has a terminal, and ends when the connection does, which is how it is ended there."""


def find_program(own: Mapping[str, str]) -> str:
    """The file of `ansible-playbook`, "" where it is not installed. ``own`` is the environment of this process."""
    named = own.get(SETTING, "")
    if named:
        return shutil.which(named, path=own.get("PATH")) or ""
    beside = Path(sys.executable).with_name(NAME)
    if os.access(beside, os.X_OK):
        return str(beside)
    return shutil.which(NAME, path=own.get("PATH")) or ""


FURTHER = (
    *("SSH_AUTH_SOCK", "ANSIBLE_COLLECTIONS_PATH"),
    *(
        "CONTAINERS_CONF",
        "CONTAINERS_STORAGE_CONF",
        "CONTAINER_HOST",
        "DOCKER_HOST",
        "DOCKER_CONFIG",
        "XDG_RUNTIME_DIR",
    ),
)
"""Variables of the orchestrator that reach Ansible besides the basic ones: the agent that holds keys, where collections
are installed, and how engines of containers are set up."""


PLUGINS = ("library", "module_utils", "roles", "collections")


def holds_plugins(folder: str) -> bool:
    """Whether Ansible may load Python modules from beside a playbook: what it compiles must not be written there."""
    with os.scandir(folder) as entries:
        return any(entry.name in PLUGINS or entry.name.endswith("_plugins") for entry in entries)


def environment_of(base: Mapping[str, str], *, work: str, settings: str, configuration: str) -> dict[str, str]:
    """The environment of the process: what belongs to the host of the orchestrator stays out, what would be written
    into the service goes into the folder ``work``. ``configuration`` is the `ansible.cfg` that holds."""
    return {
        **base,
        # Ansible refuses to run with any other encoding.
        "LC_ALL": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        SETTINGS: settings,
        "ANSIBLE_CONFIG": configuration,
        "ANSIBLE_LOCAL_TEMP": f"{work}/local",
        "ANSIBLE_PERSISTENT_CONTROL_PATH_DIR": f"{work}/persistent",
        "ANSIBLE_RETRY_FILES_ENABLED": "0",
        "ANSIBLE_CACHE_PLUGIN": "memory",
        "ANSIBLE_INVENTORY_ENABLED": "ordito_inventory",
        "ANSIBLE_INVENTORY_PLUGINS": f"{INSIDE}/inventory",
        "ANSIBLE_CONNECTION_PLUGINS": f"{INSIDE}/connection",
        "ANSIBLE_STDOUT_CALLBACK": "ordito_report",
        "ANSIBLE_CALLBACK_PLUGINS": f"{INSIDE}/callback",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_FORCE_COLOR": "0",
    }
