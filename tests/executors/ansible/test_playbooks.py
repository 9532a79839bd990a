"""Playbooks on this machine: what they are given, what comes back, and how they end."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ordito.base.sensitive import Sensitive
from ordito.executors.ansible.executor import AnsibleExecutor
from ordito.executors.process_table import is_alive
from ordito.model.artifacts import ANSIBLE
from ordito.work.invocation import Ending, InDoubt, Invocation, Outcome, Progress, Started
from ordito.work.targets import CONTAINER, SSH, HostTarget
from tests.executors.ansible.stage import Stage
from tests.executors.place import JOB, auntil, is_gone

EVERYTHING = """
- hosts: SELF:!app_5
  gather_facts: false
  tasks:
    - name: fail here
      command: sh -c 'echo out; echo why >&2; exit 3'
      when: wish == "fail"
    - name: tell
      debug:
        msg: "{{ text }} {{ numbers | sum }} {{ a_b }} {{ groups.acme_nodes_App | join(',') }}"
    - name: see the others
      assert:
        that: "hostvars.app_4.ansible_connection == 'local' and 'server_1' in groups.tosca_nodes_Compute"
    - name: write
      copy: { content: "{{ text }}", dest: "{{ folder }}/{{ INSTANCE }}" }
      when: wish == "change"
    - name: for all
      set_stats: { data: { leader: "{{ inventory_hostname }}" } }
      run_once: true
    - name: for each
      set_stats: { data: { port: "{{ 8000 + numbers[0] }}" }, per_host: true }
    - set_fact: { found: { deep: [1, "{{ wish }}"] } }
    - name: quiet
      set_stats: { data: { token: "{{ secret }}" }, per_host: true }
      no_log: true
    - set_stats: { data: { ordito_status: degraded, ordito_changed: true }, per_host: true }
      when: wish == "report"
    - name: rescued
      block: [ { command: "false" } ]
      rescue: [ { debug: { msg: saved } } ]
- hosts: all:!app_5
  gather_facts: false
  tasks:
    - debug: { msg: second }
- hosts: server
  tasks: [ { fail: { msg: never } } ]
"""


def test_a_batch_is_one_process_and_each_instance_has_its_own_end(tmp_path: Path) -> None:
    stage = Stage(tmp_path, 5)
    stage.write("plays/ansible.cfg", "[defaults]\nroles_path = roles\n")
    stage.write("plays/filter_plugins/ours.py", "class FilterModule:\n    def filters(self): return {}\n")
    playbook = stage.write("plays/site.yaml", EVERYTHING)
    before = sorted(stage.root.rglob("*"))
    batch = [
        stage.invocation(
            number,
            playbook,
            {
                "wish": wish,
                "text": "{{ lookup('pipe', 'id') }}",
                "numbers": [number, 2],
                "a-b": True,
                "folder": str(tmp_path),
                "secret": Sensitive(f"s3cret-{number}"),
            },
            outputs=("leader", "port", "found", "token"),
        )
        for number, wish in enumerate(("change", "none", "fail", "report", "absent"), 1)
    ]
    changed, same, failed, reported, nobody = stage.play(*batch)

    assert len({p.started.pid for p in (changed, same, failed, reported) if p.started}) == 1
    assert {p.end.ending for p in (changed, same, reported)} == {Ending.SUCCEEDED}
    # What was rescued has run: `command` says that it changes something.
    assert changed.end.outputs == {
        "leader": "app_1",
        "port": 8001,
        "found": {"deep": [1, "change"]},
        "token": "s3cret-1",
    }
    assert same.end.outputs["leader"] == "app_1"
    assert [p.end.changed for p in (changed, same, reported)] == [True, True, True]
    assert (reported.end.status, same.end.status) == ("degraded", "")
    assert (tmp_path / "app_1").read_text() == "{{ lookup('pipe', 'id') }}"

    assert failed.end.ending is Ending.FAILED
    assert failed.end.message == 'task "fail here" (plays/site.yaml:5): non-zero return code: why'
    assert failed.end.changed is True
    assert "  out\n" in failed.text
    assert "second" not in failed.text
    assert "ok: [tell] {{ lookup('pipe', 'id') }} 4 True app_1,app_2,app_3,app_4,app_5\n" in same.text
    assert "changed: [write]" in changed.text
    assert "changed: [write]" not in same.text
    assert "saved" in same.text
    assert not any("s3cret" in p.text or "WARNING" in p.text for p in (changed, same, failed, reported))
    # The service is as it was, and nothing secret is left but what is needed to find out how a batch ended.
    assert sorted(stage.root.rglob("*")) == before
    assert stage.left() == []
    assert nobody.end.ending is Ending.NOT_STARTED
    assert "no play of the playbook has this instance among its hosts" in nobody.end.message
    # Another process, with the same slots, finds out how it ended.
    doubt = InDoubt(JOB, "app_1.create", 1, changed.started, ("port",))
    known = asyncio.run(stage.new_executor().settle(doubt))
    assert known is not None
    assert (known.ending, known.outputs) == (Ending.SUCCEEDED, changed.end.outputs)
    stage.executor.close()
    assert not stage.slots.exists()


def test_what_ansible_does_not_understand_was_not_started(tmp_path: Path) -> None:
    stage = Stage(tmp_path, 2)
    broken = stage.write("broken.yaml", "- hosts: SELF\n  tasks:\n    - nosuchmodule: {}\n")
    played = stage.play(*(stage.invocation(number, broken) for number in (1, 2)))
    assert {p.end.ending for p in played} == {Ending.NOT_STARTED}
    assert "nosuchmodule" in played[0].end.message
    missing = stage.invocation(1, "none.yaml")
    assert stage.play(missing)[0].end.message.startswith("the artifact none.yaml is not there")
    elsewhere = stage.invocation(1, broken, target=HostTarget("acme", "box", {}))
    [refused] = stage.play(elsewhere)
    assert refused.end.ending is Ending.UNREACHABLE
    assert "box is reached by acme" in refused.end.message


WAITING = """
- hosts: SELF
  gather_facts: false
  tasks:
    - name: wait
      shell: 'echo $$ > {{ folder }}/{{ INSTANCE }}; exec sleep 1000'
"""


def test_a_timeout_and_a_cancelled_step_end_the_whole_batch(tmp_path: Path) -> None:
    stage = Stage(tmp_path, 2)
    playbook = stage.write("wait.yaml", WAITING)

    def batch(timeout: float | None) -> list[Invocation]:
        return [stage.invocation(n, playbook, {"folder": str(tmp_path)}, timeout=timeout) for n in (1, 2)]

    async def cancelled() -> list[Outcome]:
        async def hear(step: str, progress: Progress) -> None:
            if isinstance(progress, Started) and step == "app_1.create":
                await auntil(lambda: all((tmp_path / f"app_{n}").exists() for n in (1, 2)), "both tasks")
                await stage.executor.cancel(step)

        return [p.end for p in await stage.aplay(batch(None), hear)]

    ends = asyncio.run(cancelled())
    assert {end.ending for end in ends} == {Ending.CANCELLED}
    pids = [int((tmp_path / f"app_{n}").read_text()) for n in (1, 2)]
    assert all(is_gone(pid) for pid in pids)
    ends = [p.end for p in stage.play(*batch(0.2))]
    assert {end.ending for end in ends} == {Ending.TIMED_OUT}
    assert ends[0].message == "timed out after 0.2 s, and with it the whole batch of 2"
    assert stage.left() == []


SETTLED = """
- hosts: app_1
  gather_facts: false
  tasks: [ { set_stats: { data: { port: 1 }, per_host: true } } ]
- hosts: app_2
  gather_facts: false
  tasks:
    - shell: 'echo $$ > {{ folder }}/{{ INSTANCE }}; exec sleep 1000'
"""


def test_after_a_crash_nothing_of_a_batch_runs_on_and_what_was_written_down_counts(tmp_path: Path) -> None:
    stage = Stage(tmp_path, 2)
    playbook = stage.write("both.yaml", SETTLED)
    inputs = {"folder": str(tmp_path)}

    async def settled() -> tuple[Started, list[Outcome | None]]:
        loop = asyncio.get_running_loop()
        begun: asyncio.Future[Started] = loop.create_future()

        def hear(step: str, progress: Progress) -> None:
            if isinstance(progress, Started) and not begun.done():
                begun.set_result(progress)

        batch = [stage.invocation(n, playbook, inputs, outputs=("port",)) for n in (1, 2)]
        first = asyncio.create_task(stage.aplay(batch, hear))
        started = await begun
        await auntil((tmp_path / "app_2").exists, "the task")
        # Another process, with the same slots, finds out about both.
        other = stage.new_executor(patience=0.1)
        found = await asyncio.gather(
            *(other.settle(InDoubt(JOB, i.step, 1, started, i.outputs)) for i in batch),
            other.settle(InDoubt(JOB, batch[0].step, 2, None)),
        )
        assert not is_alive(started.pid, started.start_time)
        await first
        return started, list(found)

    _, found = asyncio.run(settled())
    assert found == [None, None, None]
    assert is_gone(int((tmp_path / "app_2").read_text()))


VAULTED = """\
$ANSIBLE_VAULT;1.1;AES256
38313061393638383931306535356133616638326562386265396233346132366265373535613435
3931333037336131326637303566306561393165333731300a386438326430396239646237333030
65313739343264613833333231663139656261376637646235373962303235626361383534383161
6561346539373135360a356665383738333066343039313561663431636532653964616130626461
33653733303731363734363666396231626662373436376164666237663737613433
"""
"""``hidden: treasure``, under the password that the test gives."""


def test_settings_of_the_artifact(tmp_path: Path) -> None:
    stage = Stage(tmp_path, 1)
    plain = "- hosts: SELF\n  gather_facts: false\n  vars_files: [ secrets.yaml ]\n  tasks:\n"
    tasks = (
        "    - { debug: { msg: 'it is {{ hidden }}' }, tags: wanted }\n"
        "    - { fail: { msg: no }, tags: other }\n"
        "    - { command: id -un, register: who, tags: wanted }\n"
        "    - { set_fact: { user: '{{ who.stdout }}' }, tags: wanted }\n"
    )
    playbook = stage.write("vault.yaml", plain + tasks)
    stage.write("secrets.yaml", VAULTED)
    settings: dict[str, object] = {"vault_password": Sensitive("pass-word"), "tags": ["wanted"]}
    [played] = stage.play(stage.invocation(1, playbook, settings=settings, outputs=("user",)))
    assert played.end.ending is Ending.SUCCEEDED, played.text
    assert "it is treasure" in played.text
    assert stage.left() == []


def test_without_room_for_scratch_files_nothing_is_started(tmp_path: Path) -> None:
    stage = Stage(tmp_path, 1)
    playbook = stage.write("wait.yaml", WAITING)
    stage.slots.write_text("no folder")
    [played] = stage.play(stage.invocation(1, playbook))
    assert played.end.ending is Ending.NOT_STARTED
    assert played.end.message == f"wait.yaml was not started: File exists: {stage.slots}"


def test_accepts_playbooks_where_ansible_is_installed() -> None:
    there = AnsibleExecutor("/nowhere", program="/bin/true")
    assert there.accepts((ANSIBLE,))
    assert there.accepts(("acme.Playbook", ANSIBLE), SSH)
    assert there.accepts((ANSIBLE,), CONTAINER)
    assert not there.accepts((ANSIBLE,), "acme")
    assert not there.accepts(("tosca.artifacts.Implementation.Bash",))
    assert not AnsibleExecutor("/nowhere", program="").accepts((ANSIBLE,))
