"""Finding `ansible-playbook`, and what its process is given as environment and settings."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ordito.executors.ansible.files import SETTINGS
from ordito.executors.process_table import STEP, look_up, send
from ordito.executors.slots import remove

NAME = "ansible-playbook"
SETTING = "ORDITO_ANSIBLE_PLAYBOOK"
"""The variable of the orchestrator that names the program, for when it is neither beside the Python interpreter nor in
PATH."""

INSIDE = str(Path(__file__).with_name("inside"))
CONFIGURATION = "ansible.cfg"

USUAL = """\
[defaults]
interpreter_python = auto_silent
deprecation_warnings = false
gathering = smart
"""
"""The settings for a playbook that has no `ansible.cfg` beside it. Pipelining is off: without it a process on a host
has a terminal, and ends with the connection, which is how it is ended there."""


def find_program(own: Mapping[str, str]) -> str:
    """The file of `ansible-playbook`, "" if it is not installed. ``own`` is the environment of this process."""
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
"""Variables of the orchestrator that Ansible gets besides the basic ones: the SSH agent, where collections are
installed, and the setup of container engines."""


PLUGINS = ("library", "module_utils", "roles", "collections")


def holds_plugins(folder: str) -> bool:
    """Whether Ansible may load Python modules from the folder of a playbook; it must not write compiled files there."""
    with os.scandir(folder) as entries:
        return any(entry.name in PLUGINS or entry.name.endswith("_plugins") for entry in entries)


def environment_of(base: Mapping[str, str], *, work: str, settings: str, configuration: str) -> dict[str, str]:
    """The environment of the process: without variables of the orchestrator's own machine; files that Ansible would
    write into the service go into the folder ``work``. ``configuration`` is the `ansible.cfg` to use."""
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


# What outlives Ansible and must not outlive the batch: connections that ssh keeps open, and, where Ansible had to be
# ended, what it has started in containers.


def end_masters(sockets: str) -> None:
    """End the processes of ssh that hold connections open with sockets in a folder, and remove the folder."""
    folder = Path(sockets)
    if folder.is_dir() and any(folder.iterdir()):
        title = f"ssh: {sockets}/".encode()
        found = [look_up(int(p.name)) for p in Path("/proc").iterdir() if p.name.isdigit() and _title(p, title)]
        send([process for process in found if process is not None], signal.SIGTERM)
    remove(sockets)


def _title(process: Path, title: bytes) -> bool:
    try:
        return process.joinpath("cmdline").read_bytes().startswith(title)
    except OSError:
        return False


END_MARKED = """\
for place in /proc/[0-9]*; do
    tr '\\0' '\\n' <"$place/environ" 2>/dev/null | grep -qxF "$0" || continue
    [ "${place#/proc/}" = $$ ] || kill -9 "${place#/proc/}"
done
"""
PATIENCE = 30.0
"""Seconds that ending the processes in a container may take."""


def end_in_containers(containers: Sequence[Sequence[str]], marker: str) -> None:
    """End processes that a batch has left running in containers; each container is given by the words that begin a
    command in it."""
    for words in containers:
        command = [*words, "/bin/sh", "-c", END_MARKED, f"{STEP}={marker}"]
        try:
            subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=PATIENCE)
        except (OSError, subprocess.TimeoutExpired):
            continue  # A container whose engine does not answer runs nothing that could be ended.
