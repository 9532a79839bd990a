"""A connection plug-in of Ansible: into a container, by the `exec` of podman or docker.

It runs inside Ansible's process and uses the standard library and Ansible's base class only. Every command has a mark
in its environment, by which processes that still run in the container are found when Ansible had to be ended.
"""

# It is loaded by Ansible, by its path.
# ruff: noqa: INP001, PTH123

from __future__ import annotations

import os
import shlex
import subprocess
from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection import ConnectionBase

DOCUMENTATION = """
name: ordito_engine
short_description: Runs tasks in a container
description: Runs tasks in a container by the exec of podman or docker.
options:
  remote_addr:
    description: The name of the container.
    type: string
    vars: [{ name: inventory_hostname }, { name: ansible_host }]
  engine:
    description: The program of the engine.
    type: string
    vars: [{ name: ansible_ordito_engine }]
  remote_user:
    description: As whom commands run, where that is not the user of the image.
    type: string
    vars: [{ name: ansible_user }]
"""

OF_THE_ENGINE = 125
"""The exit status by which an engine says that it has failed itself."""
MARK = "ORDITO_STEP"


class Connection(ConnectionBase):  # type: ignore[misc]
    """Commands in a container."""

    transport = "ordito_engine"
    has_pipelining = True

    def _connect(self) -> Connection:
        self._connected = True
        return self

    def exec_command(self, cmd: str, in_data: bytes | None = None, sudoable: bool = True) -> tuple[int, bytes, bytes]:
        """Run a command; its status and its two outputs."""
        super().exec_command(cmd, in_data=in_data, sudoable=sudoable)
        return self._run(["/bin/sh", "-c", cmd], input=in_data or b"")

    def put_file(self, in_path: str, out_path: str) -> None:
        """Copy a file into the container."""
        super().put_file(in_path, out_path)
        with open(in_path, "rb") as file:
            self._must(["/bin/sh", "-c", f"cat >{shlex.quote(out_path)}"], out_path, stdin=file)

    def fetch_file(self, in_path: str, out_path: str) -> None:
        """Copy a file out of the container."""
        super().fetch_file(in_path, out_path)
        found = self._must(["/bin/sh", "-c", f"cat {shlex.quote(in_path)}"], in_path, input=b"")
        with open(out_path, "wb") as file:
            file.write(found)

    def close(self) -> None:
        """There is nothing to close."""
        self._connected = False

    def _must(self, words: list[str], path: str, **given: Any) -> bytes:
        status, out, err = self._run(words, **given)
        if status:
            raise AnsibleConnectionFailure(f"{path} cannot be copied: {err.decode(errors='replace').strip()}")
        return out

    def _run(self, words: list[str], **given: Any) -> tuple[int, bytes, bytes]:
        engine = str(self.get_option("engine"))
        user = self.get_option("remote_user")
        as_user = ["--user", str(user)] if user else []
        mark = ["--env", f"{MARK}={os.environ.get(MARK, '')}"]
        command = [engine, "exec", "--interactive", *mark, *as_user, str(self.get_option("remote_addr")), *words]
        done = subprocess.run(command, capture_output=True, check=False, **given)
        if done.returncode == OF_THE_ENGINE or done.returncode < 0:
            said = done.stderr.decode(errors="replace").strip()
            raise AnsibleConnectionFailure(f"no command can be run in the container: {said}")
        return done.returncode, done.stdout, done.stderr
