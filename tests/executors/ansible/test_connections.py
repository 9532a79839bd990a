"""How Ansible is told to reach hosts."""

from __future__ import annotations

import shlex

import pytest

from ordito.base.sensitive import Sensitive
from ordito.executors.ansible.inventory import connection_of
from ordito.work.targets import CONTAINER, SSH, HostTarget, Unreachable

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"


class Kept:
    """Files that were asked for."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def __call__(self, purpose: str, text: str) -> str:
        path = f"/kept/{len(self.files)}"
        self.files[path] = text
        return path


def variables(**settings: object) -> tuple[dict[str, object], Kept]:
    kept = Kept()
    return connection_of(HostTarget(SSH, "web-1", {"address": "192.0.2.1", **settings}), kept, "/work"), kept


def options(**settings: object) -> list[str]:
    return shlex.split(str(variables(**settings)[0]["ansible_ssh_common_args"]))


def test_this_machine_is_no_connection() -> None:
    assert connection_of(None, Kept(), "/work")["ansible_connection"] == "local"


def test_a_host_with_everything() -> None:
    found, kept = variables(
        port=2222,
        user="ops",
        password=Sensitive("open"),
        identity=[Sensitive("-----BEGIN OPENSSH PRIVATE KEY-----\n..."), "/keys/100%"],
        host_key=[f"[192.0.2.1]:2222 {KEY} comment"],
        become={"user": "app", "password": Sensitive("more")},
        base="/opt/ordito",
        agent=False,
        config=False,
        connect_timeout=5,
    )
    assert (found["ansible_host"], found["ansible_port"], found["ansible_user"]) == ("192.0.2.1", 2222, "ops")
    assert (found["ansible_password"], found["ansible_become_password"]) == ("open", "more")
    assert (found["ansible_become"], found["ansible_become_user"]) == (True, "app")
    assert (found["ansible_remote_tmp"], found["ansible_ssh_timeout"]) == ("/opt/ordito/ansible", 5)
    words = str(found["ansible_ssh_common_args"])
    assert kept.files == {"/kept/0": f"* {KEY}\n", "/kept/1": "-----BEGIN OPENSSH PRIVATE KEY-----\n..."}
    for option in (
        *(
            "StrictHostKeyChecking=yes",
            "UserKnownHostsFile=/kept/0",
            "IdentityFile=/kept/1",
            "IdentityFile=/keys/100%%",
        ),
        *("IdentitiesOnly=yes", "IdentityAgent=none", "ServerAliveInterval=15"),
    ):
        assert option in shlex.split(words)
    assert words.startswith("-F none ")
    # Nothing secret is part of a command line.
    assert "open" not in words.lower().replace("openssh", "")


def test_what_ansible_has_on_a_host_goes_with_what_the_ensemble_has_there() -> None:
    for target in (
        HostTarget(SSH, "web-1", {"address": "192.0.2.1"}),
        HostTarget(CONTAINER, "web-2", {"container": "c1", "engine": "podman"}),
    ):
        assert connection_of(target, Kept(), "/work", "0a1b")["ansible_remote_tmp"] == "~/.ordito/0a1b/ansible"


def test_whom_to_trust() -> None:
    assert options()[:2] == ["-o", "StrictHostKeyChecking=yes"]
    assert "UserKnownHostsFile=/k" in options(known_hosts="/k")
    assert "StrictHostKeyChecking=accept-new" in options(host_key_check="accept-new")
    assert "StrictHostKeyChecking=no" in options(host_key_check="off")
    with pytest.raises(Unreachable, match="does not trust fingerprints"):
        options(host_key="SHA256:abc")


def test_jumps_one_inside_the_other() -> None:
    words = options(jump=[{"address": "gate", "port": 2200, "user": "ops"}, {"address": "inner", "known_hosts": "/k"}])
    proxy = next(word.removeprefix("ProxyCommand=") for word in words if word.startswith("ProxyCommand="))
    command = shlex.split(proxy)
    assert (command[:3], command[-1]) == (["ssh", "-W", "%h:%p"], "inner")
    inner = next(word.removeprefix("ProxyCommand=") for word in command if word.startswith("ProxyCommand="))
    command = shlex.split(inner)
    assert (command[:3], command[-3:]) == (["ssh", "-W", "%%h:%%p"], ["-p", "2200", "ops@gate"])
    with pytest.raises(Unreachable, match="gate, which asks for a password"):
        options(jump={"address": "gate", "password": Sensitive("x")})


def test_other_protocols_are_refused() -> None:
    with pytest.raises(Unreachable, match="box is reached by acme; use a script"):
        connection_of(HostTarget("acme", "box"), Kept(), "/work")
