"""Playbooks on hosts that are reached by SSH."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from ordito.base.sensitive import Sensitive
from ordito.work.invocation import Ending, Outcome
from ordito.work.targets import SSH, HostTarget
from tests.executors.ansible.stage import Stage
from tests.executors.place import auntil, until
from tests.support.real.hosts import User, free_place

if TYPE_CHECKING:
    from tests.support.real.hosts import SshHost, SshHosts

PLAYBOOK = """
- hosts: SELF
  gather_facts: false
  tasks:
    - command: id -un
      register: who
      changed_when: false
    - copy: { content: "{{ INSTANCE }}", dest: "/tmp/ordito-{{ INSTANCE }}", mode: "0600" }
    - set_stats: { data: { who: "{{ who.stdout }}", name: "{{ hostvars.app_1.ansible_host }}" }, per_host: true }
"""


def target(host: SshHost, **settings: object) -> HostTarget:
    place: dict[str, object] = {"address": host.address, "port": host.port, "user": host.user}
    return HostTarget(SSH, host.name, {**place, "config": False, "host_key": host.known_hosts_line, **settings})


def test_each_host_does_its_own_part_and_what_cannot_be_reached_holds_up_nobody(
    tmp_path: Path, ssh_hosts: SshHosts
) -> None:
    ssh_hosts.need_isolation()
    plain = ssh_hosts.start("plain")
    asking = ssh_hosts.start("asking", user=User("dev", password="in-here", sudo="asks"))
    nowhere, port = free_place()
    key, password = str(ssh_hosts.key), Sensitive("in-here")
    stage = Stage(
        tmp_path,
        4,
        {
            "server_1": target(plain, identity=key),
            "server_2": target(asking, password=password, become={"password": password}, agent=False),
            "server_3": HostTarget(SSH, "gone", {"address": nowhere, "port": port, "identity": key, "config": False}),
            "server_4": target(asking, identity=key, jump=[dict(target(plain, identity=key).settings)]),
        },
    )
    playbook = stage.write("site.yml", PLAYBOOK)
    first, second, gone, behind = stage.play(
        *(stage.invocation(number, playbook, outputs=("who", "name")) for number in (1, 2, 3, 4))
    )
    assert first.end.ending is Ending.SUCCEEDED, first.text
    assert first.end.outputs == {"who": plain.user, "name": plain.address}
    assert first.end.changed is True
    assert second.end.outputs.get("who") == "root", second.text
    assert behind.end.outputs.get("who") == "dev", behind.text
    assert gone.end.ending is Ending.UNREACHABLE
    assert "Connection refused" in gone.end.message
    assert plain.run("cat", "/tmp/ordito-app_1") == "app_1"
    assert asking.run("stat", "-c", "%U", "/tmp/ordito-app_2", "/tmp/ordito-app_4").split() == ["root", "dev"]
    # What Ansible needs on a host lies below our folder there, and goes.
    home = {file for file in plain.files() if "ordito" in file or "ansible" in file}
    assert home == {"/tmp/ordito-app_1"}
    assert "in-here" not in "".join(p.text for p in (first, second, gone, behind))
    assert stage.left() == []
    until(lambda: not [p for p in Path("/proc").glob("[0-9]*/cmdline") if is_master(p)], "the end of all connections")


def is_master(command: Path) -> bool:
    """Whether a process holds a connection open for Ansible."""
    try:
        return command.read_bytes().startswith(b"ssh: /tmp/ordito-")
    except OSError:
        return False


CUT = """
- hosts: SELF
  gather_facts: false
  tasks:
    - shell: 'echo $$ > /tmp/ordito-pid; exec sleep 1000'
      when: INSTANCE == "app_1"
    - set_stats: { data: { who: "{{ INSTANCE }}" }, per_host: true }
"""


def test_a_connection_that_is_cut_is_lost_and_others_go_on(tmp_path: Path, ssh_hosts: SshHosts) -> None:
    ssh_hosts.need_isolation()
    with ssh_hosts.some("cut", "whole") as (cut, whole):
        stage = Stage(
            tmp_path,
            2,
            {f"server_{n}": target(h, identity=str(ssh_hosts.key)) for n, h in enumerate((cut, whole), 1)},
        )
        playbook = stage.write("cut.yml", CUT)
        note = cut.root / "tmp/ordito-pid"

        async def play() -> list[Outcome]:
            batch = [stage.invocation(number, playbook, outputs=("who",)) for number in (1, 2)]
            playing = asyncio.create_task(stage.aplay(batch))
            await auntil(lambda: note.exists() and note.read_text(), "the task")
            cut.cut()
            return [played.end for played in await playing]

        lost, other = asyncio.run(play())
        assert (lost.ending, lost.changed) == (Ending.LOST, None)
        assert lost.message.startswith('task "shell" (cut.yml:5): ')
        assert (other.ending, other.outputs) == (Ending.SUCCEEDED, {"who": "app_2"})
        # What ran there had a terminal, and has ended with it.
        until(lambda: "sleep 1000" not in cut.run("ps", "-eo", "args"), "the end of the task on the host")
