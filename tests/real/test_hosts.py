"""The hosts of the tests are real: apart from one another, reached over SSH, and gone when they are told to go."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.real.hosts import SshHost, SshHosts, User, silent_host

ROOT = Path(__file__).parents[2]
DIES = """\
import os, signal, sys
from pathlib import Path
from tests.support.real.hosts import SshHosts
host = SshHosts(Path(sys.argv[1])).start("orphan")
print(host.address, host.port, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def ssh(hosts: SshHosts, host: SshHost, *words: str) -> subprocess.CompletedProcess[str]:
    options = ["-F", "none", "-o", "BatchMode=yes", "-o", f"UserKnownHostsFile={hosts.known_hosts([host])}"]
    place = ["-i", str(host.key), "-p", str(host.port), f"{host.user}@{host.address}"]
    return subprocess.run(["ssh", *options, *place, *words], capture_output=True, text=True, check=False)


def refuses(host: SshHost) -> bool:
    with socket.socket() as attempt:
        return attempt.connect_ex((host.address, host.port)) != 0


def test_a_host_has_its_own_root_name_and_processes(ssh_hosts: SshHosts) -> None:
    with ssh_hosts.some("left", "right") as (left, right):
        done = ssh(ssh_hosts, left, "hostname; cd; pwd; echo mine > here; test -e /usr/bin/env && echo whole")
        assert done.returncode == 0, done.stderr
        assert done.stdout.split()[1:] == [str(left.home), "whole"]
        assert done.stdout.startswith("left\n") == ssh_hosts.isolated
        assert (left.home_outside / "here").read_text() == "mine\n"
        assert left.files() == {f"/{(left.home_outside / 'here').relative_to(left.root)}"}
        assert right.files() == set()
        left.set_host_key()
        assert ssh(ssh_hosts, left, "cat here").stdout == "mine\n"
        left.stop()
        assert refuses(left)
        assert not refuses(right)
        left.start_again()
        assert ssh(ssh_hosts, left, "cat here").stdout == "mine\n"


def test_a_cut_leaves_what_was_started(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    with ssh_hosts.some("cut") as (host,):
        os.mkfifo(host.home_outside / "go", 0o666)
        (host.home_outside / "go").chmod(0o666)
        words = ["ssh", "-F", "none", "-o", f"UserKnownHostsFile={ssh_hosts.known_hosts([host])}", "-i", str(host.key)]
        words += ["-p", str(host.port), f"{host.user}@{host.address}", "echo ready; read word < go; echo $word > done"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            assert running.stdout.readline() == "ready\n"
            host.cut()
            assert running.wait() == 255
        (host.home_outside / "go").write_text("on\n")
        host.run("sh", "-c", f"until test -s {host.home}/done; do :; done")
        assert (host.home_outside / "done").read_text() == "on\n"


def test_users_disks_and_sudo(ssh_hosts: SshHosts) -> None:
    ssh_hosts.need_isolation()
    host = ssh_hosts.start("small", user=User("ops", "pass", sudo="asks"), disks={"/home/ops": "64k"})
    free = ssh_hosts.start("free", user=User("ops", sudo="free"))
    assert "No space left" in ssh(ssh_hosts, host, "head -c 100000 /dev/zero > big").stderr
    host.resize_disk("/home/ops", "1m")
    assert ssh(ssh_hosts, host, "head -c 100000 /dev/zero > big").returncode == 0
    assert ssh(ssh_hosts, host, "sudo -n id -u").returncode == 1
    assert ssh(ssh_hosts, host, "echo pass | sudo -S -p '' id -u").stdout == "0\n"
    assert ssh(ssh_hosts, host, "echo false | sudo -S -p '' id -u").returncode == 1
    assert ssh(ssh_hosts, free, "sudo -n id -u").stdout == "0\n"
    ssh_hosts.stop(host)
    ssh_hosts.stop(free)


def test_a_frozen_host_and_a_silent_one_accept_and_say_nothing(ssh_hosts: SshHosts) -> None:
    with ssh_hosts.some("frozen") as (host,), silent_host() as silent:
        host.freeze()
        for place in ((host.address, host.port), silent):
            with socket.create_connection(place) as connection:
                connection.setblocking(False)
                with pytest.raises(BlockingIOError):
                    connection.recv(1)
        host.thaw()
        with socket.create_connection((host.address, host.port)) as connection:
            assert connection.recv(4) == b"SSH-"


@pytest.mark.parametrize("isolated", [True, False])
def test_a_host_ends_with_the_process_of_its_tests(ssh_hosts: SshHosts, tmp_path: Path, isolated: bool) -> None:
    if isolated:
        ssh_hosts.need_isolation()
    program = DIES.replace("sys.argv[1])", f"sys.argv[1]), isolated={isolated}")
    command = [sys.executable, "-c", program, str(tmp_path / "hosts")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == -signal.SIGKILL, done.stderr
    address, port = done.stdout.split()
    while True:
        with socket.socket() as attempt:
            if attempt.connect_ex((address, int(port))) != 0:
                break


def test_a_host_without_rights_is_a_directory(tmp_path: Path) -> None:
    with SshHosts(tmp_path / "hosts", isolated=False) as hosts:
        host = hosts.start("folder")
        done = ssh(hosts, host, "pwd; echo $HOME; echo mine > here")
        assert done.stdout.split() == [str(host.root)] * 2, done.stderr
        assert host.files() == {"/here"}
        host.stop()
        assert refuses(host)
