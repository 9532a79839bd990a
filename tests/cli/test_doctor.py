"""`ordito doctor`: what this machine can run, and how an ensemble is; nothing is changed by looking."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.program import Small, make_small
from tests.acceptance.test_crash_everywhere import KILL_AT_RECORD
from tests.cli.program import Run

PLAYBOOK = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ profile:ordito ]
interface_types: { my.Work: { derived_from: tosca.interfaces.Root, operations: { tidy: {} } } }
node_types:
  my.Node:
    derived_from: tosca.nodes.Root
    interfaces: { Work: { type: my.Work, operations: { tidy: tidy.yaml } } }
topology_template: { node_templates: { one: { type: my.Node } } }
"""


def by_name(told: Any) -> dict[str, Any]:
    """The findings by their names."""
    assert told["format"] == "ordito.doctor/1"
    return {finding["name"]: finding for finding in told["findings"]}


def doctor(run: Run, *words: str, code: int = 0) -> dict[str, Any]:
    """The findings as programs get them."""
    done = run("doctor", "-o", "json", *words)
    assert done.code == code, done.out
    assert done.json["ready"] == (code == 0)
    return by_name(done.json)


def test_a_machine_without_an_ensemble(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing and not needed is no fault; nothing is made, here or at home."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setenv("ORDITO_ANSIBLE_PLAYBOOK", "nowhere")
    (tmp_path / "home").mkdir()
    write_program(tmp_path / "bin/podman", "echo cannot tell >&2; exit 125")
    write_program(tmp_path / "bin/python3", "echo Python 3.5.2")
    before = sorted(tmp_path.rglob("*"))
    shown = run("doctor")
    assert shown.code == 0, shown.out
    assert "This machine\n  ok       bash " in shown.out
    assert "pip install 'ordito[ansible]'" in shown.out
    found = doctor(run)
    assert found["bash"]["state"] == found["Python"]["state"] == "ok"
    assert found["ansible-playbook"]["state"] == found["SSH keys"]["state"] == "missing"
    assert (found["podman"]["state"], found["podman"]["found"]) == ("broken", "cannot tell")
    assert (found["python3"]["state"], found["python3"]["found"]) == ("too old", "3.5.2, below 3.7")
    assert found["ensemble"]["found"] == "none in ."
    assert sorted(tmp_path.rglob("*")) == before


def test_a_private_key_that_others_may_read_is_to_be_looked_at(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ssh would not use it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    key = tmp_path / ".ssh" / "id_ed25519"
    key.parent.mkdir()
    key.with_suffix(".pub").touch()
    key.touch()
    key.chmod(0o640)
    found = doctor(run)["SSH keys"]
    assert (found["state"], found["cure"]) == ("look", f"chmod 600 {key}")
    key.chmod(0o600)
    assert doctor(run)["SSH keys"]["state"] == "ok"


def test_what_the_ensemble_uses_is_needed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A playbook of the service, hosts and containers of the inventory."""
    (tmp_path / "service.yaml").write_text(PLAYBOOK, encoding="utf-8")
    (tmp_path / "tidy.yaml").write_text("- { hosts: all, tasks: [] }\n", encoding="utf-8")
    assert run("deploy", "service.yaml", "--yes").code == 0
    assert doctor(run)["ansible-playbook"]["needed"] == "playbooks of the service"
    monkeypatch.setenv("ORDITO_ANSIBLE_PLAYBOOK", "nowhere")
    told = run("doctor")
    assert told.code == 1
    assert "ansible-playbook is missing, but needed: playbooks of the service" in told.err
    monkeypatch.delenv("ORDITO_ANSIBLE_PLAYBOOK")
    write_program(tmp_path / "bin/docker", "exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    (tmp_path / "hosts.yaml").write_text(
        "hosts: { one: { address: 192.0.2.1, user: me } }\ncontainers: { engine: docker, image: debian }\n",
        encoding="utf-8",
    )
    found = doctor(run, code=1)
    assert found["asyncssh"]["needed"] == "hosts of hosts.yaml"
    assert found["docker"]["needed"] == "containers of hosts.yaml"
    assert found["podman"]["needed"] == ""


def test_whichever_engine_answers_will_do(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "service.yaml").write_text(PLAYBOOK.replace("tidy.yaml", "tidy.sh"), encoding="utf-8")
    (tmp_path / "tidy.sh").write_text("", encoding="utf-8")
    (tmp_path / "hosts.yaml").write_text("containers: { image: debian }\n", encoding="utf-8")
    assert run("deploy", "service.yaml", "--yes", "--hosts", "hosts.yaml").code == 0
    write_program(tmp_path / "bin/podman", "exit 1")
    write_program(tmp_path / "bin/docker", "echo 27.1")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    found = doctor(run)
    assert (found["docker"]["needed"], found["podman"]["needed"]) == ("containers of hosts.yaml", "")
    write_program(tmp_path / "bin/docker", "exit 1")
    assert doctor(run, code=1)["podman"]["needed"] == "containers of hosts.yaml"


def test_who_commits_must_be_known_where_git_keeps_the_ensemble(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    assert doctor(run)["git identity"]["needed"] == ""
    subprocess.run(["git", "init", "-q"], check=True)
    (tmp_path / "service.yaml").write_text(PLAYBOOK.replace("tidy.yaml", "tidy.sh"), encoding="utf-8")
    (tmp_path / "tidy.sh").write_text("", encoding="utf-8")
    assert run("deploy", "service.yaml", "--yes").code == 0
    found = doctor(run, code=1)
    assert (found["git identity"]["state"], found["commits"]["state"]) == ("missing", "look")
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    found = doctor(run)
    assert found["git identity"]["found"] == "Ada"
    assert found["commits"]["state"] == "ok"


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return make_small(tmp_path)


def looked(small: Small, code: int = 0) -> dict[str, Any]:
    """What the doctor says of the ensemble of a small service."""
    done = small.run("doctor", "-o", "json")
    assert done.code == code, done.both
    return by_name(json.loads(done.out))


def test_who_is_at_work_and_what_was_interrupted(small: Small) -> None:
    (small.home / "hold").touch()
    killed = small.deploy(code=KILL_AT_RECORD.format(number=2))
    assert killed.code == -signal.SIGKILL
    found = looked(small)
    assert found["job"]["state"] == "look"
    assert found["job"]["cure"].endswith("/ensemble jobs resume`"), "of this ensemble"
    assert found["lock"]["state"] == "ok"


def test_files_that_are_damaged(small: Small) -> None:
    """The pin of the service, the inventory, and the key."""
    assert small.deploy().code == 0
    assert looked(small)["service"]["state"] == "ok"
    (small.ensemble / "hosts.yaml").write_text("hosst: {}\n", encoding="utf-8")
    assert looked(small, 1)["hosts"]["state"] == "broken"
    (small.ensemble / "hosts.yaml").unlink()
    (small.ensemble / "secrets.yaml").write_text("{}\n", encoding="utf-8")
    assert looked(small, 1)["key"]["state"] == "missing"
    (small.ensemble / "secrets.yaml").unlink()
    pinned = next((small.ensemble / "artifacts").glob("*/do.sh"))
    pinned.write_text("echo other\n", encoding="utf-8")
    found = looked(small, 1)["service"]
    assert found["state"] == "broken"
    assert "are not what they were" in found["found"]


def write_program(path: Path, line: str) -> None:
    """Write a program that does this."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)
