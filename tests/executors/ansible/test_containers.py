"""Playbooks in containers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ordito.work.invocation import Ending, Outcome, Printed, Progress
from ordito.work.targets import CONTAINER, HostTarget
from tests.executors.ansible.stage import Stage
from tests.executors.place import until
from tests.support.real.podman import LARGE, large_volumes

if TYPE_CHECKING:
    from tests.support.real.podman import Podman

PLAYBOOK = """
- hosts: SELF
  gather_facts: false
  tasks:
    - copy: { content: "{{ INSTANCE }}", dest: /tmp/mine }
    - set_stats: { data: { here: "{{ ansible_host }}" }, per_host: true }
    - debug: { msg: waiting }
      when: wish == "wait"
    - command: sleep 1000
      when: wish == "wait"
"""


def test_a_playbook_in_a_container(tmp_path: Path, podman: Podman, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in podman.environment.items():
        monkeypatch.setenv(name, value)
    volumes = [word for volume in large_volumes() for word in ("--volume", volume)]
    podman.run("run", "--detach", "--name", "played", *volumes, LARGE, "sleep", "2000")
    gone = HostTarget(CONTAINER, "gone", {"engine": "podman", "container": "not-there"})
    there = HostTarget(CONTAINER, "played", {"engine": "podman", "container": "played", "base": "/opt/ordito"})
    stage = Stage(tmp_path, 2, {"server_1": there, "server_2": gone})
    playbook = stage.write("site.yml", PLAYBOOK)
    batch = [stage.invocation(n, playbook, {"wish": "go"}, outputs=("here",)) for n in (1, 2)]
    played, unreachable = stage.play(*batch)
    assert (played.end.ending, played.end.outputs) == (Ending.SUCCEEDED, {"here": "played"}), played.text
    assert played.end.changed is True
    assert podman.run("exec", "played", "cat", "/tmp/mine") == "app_1"
    assert podman.run("exec", "played", "ls", "/opt/ordito/ansible") == ""
    assert unreachable.end.ending is Ending.UNREACHABLE
    assert "no command can be run in the container" in unreachable.end.message

    async def cancelled() -> Outcome:
        async def hear(step: str, progress: Progress) -> None:
            if isinstance(progress, Printed) and b"waiting" in progress.data:
                until(lambda: "sleep\0001000" in commands(podman), "the task")
                await stage.executor.cancel(step)

        [ended] = await stage.aplay([stage.invocation(1, playbook, {"wish": "wait"})], hear)
        return ended.end

    assert asyncio.run(cancelled()).ending is Ending.CANCELLED
    assert "sleep\0001000" not in commands(podman)
    assert "sleep\0002000" in commands(podman)
    podman.run("rm", "--force", "--time", "0", "played")


def commands(podman: Podman) -> str:
    """What runs in the container."""
    return podman.run("exec", "played", "sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null || true")
