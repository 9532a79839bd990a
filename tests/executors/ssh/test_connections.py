"""How hosts are reached by SSH: who is let in, whom we believe, and what is said when that does not work."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import asyncssh
import pytest

from ordito.base.sensitive import Sensitive
from ordito.executors.remote.commands import RemoteHands
from ordito.executors.ssh.connector import SshConnector
from ordito.work.targets import HostTarget, TargetRefused, Unreachable
from tests.executors.ssh.far import target_of
from tests.support.real.hosts import SshHost, SshHosts, User, silent_host

WHO = ["sh", "-c", 'echo "$(id -un) at $(hostname)"']


@pytest.fixture
def host(ssh_hosts: SshHosts) -> SshHost:
    return ssh_hosts.shared()


@pytest.fixture
def known(ssh_hosts: SshHosts, host: SshHost) -> Path:
    return ssh_hosts.known_hosts([host])


@pytest.fixture(scope="module")
def guarded(ssh_hosts: SshHosts) -> Iterator[SshHost]:
    """A host on which passwords are asked for, by sshd and by sudo, and that takes few commands at a time."""
    ssh_hosts.need_isolation()
    user = User("ops", password="open sesame", sudo="asks")
    host = ssh_hosts.start("guarded", user=user, config="MaxSessions 2\nMaxStartups 2:100:2\n")
    yield host
    ssh_hosts.stop(host)


def run(*words: str) -> None:
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL, capture_output=True)


async def whoami(target: HostTarget) -> str:
    connector = SshConnector()
    try:
        ran = await RemoteHands(connector).run(target, WHO)
        return ran.out.decode().strip()
    finally:
        await connector.close()


def me(host: SshHost) -> str:
    """What somebody who is let in finds."""
    return f"{host.user} at {host.hostname}"


async def refusal(target: HostTarget) -> str:
    """Why a host is not reached; waiting would not help."""
    connector = SshConnector()
    with pytest.raises(TargetRefused) as caught:
        await RemoteHands(connector).reach(target, 30.0)
    await connector.close()
    assert str(caught.value).startswith(f"{target.name}: ")
    return str(caught.value)


async def test_keys_of_hosts_are_checked(host: SshHost, known: Path, tmp_path: Path) -> None:
    """Unknown, pinned, remembered, and not looked at: the default is to know before."""
    assert await whoami(target_of(host, known)) == me(host)
    new = tmp_path / "new/known_hosts"
    text = await refusal(target_of(host, new))
    assert "is not known: ssh-ed25519 SHA256:" in text
    assert f"ssh-keyscan -p {host.port} {host.address} >> {new}" in text
    assert "ordito hosts check --accept-new" in text
    key = host.known_hosts_line.split(" ", 1)[1]
    printed = text.split("ssh-ed25519 ")[1].split(". ")[0]
    for pinned in (key, host.known_hosts_line, [printed]):
        assert await whoami(target_of(host, new, host_key=pinned)) == me(host)
    assert 'not the one that "host_key" names' in await refusal(target_of(host, known, host_key="SHA256:other"))
    assert await whoami(target_of(host, new, host_key_check="off")) == me(host)
    assert not new.exists()
    assert await whoami(target_of(host, new, host_key_check="accept-new")) == me(host)
    assert new.read_text() == f"{host.known_hosts_line}\n"
    assert await whoami(target_of(host, new)) == me(host)


async def test_a_key_that_has_changed_is_refused_loudly(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    with ssh_hosts.some("anew") as (host,):
        known = tmp_path / "known_hosts"
        known.write_text(f"# comment\n{host.known_hosts_line}\n")
        host.set_host_key()
        text = await refusal(target_of(host, known, host_key_check="accept-new"))
        assert "THE HOST KEY HAS CHANGED" in text
        assert f"{known}:2 has another" in text
        assert f"ssh-keygen -R '[{host.address}]:{host.port}' -f {known}" in text


async def test_an_agent_is_told_of_only_where_there_is_one(
    guarded: SshHost, ssh_hosts: SshHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = ssh_hosts.known_hosts([guarded])
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "wrong"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    text = await refusal(target_of(guarded, known, identity=[str(tmp_path / "wrong")], agent=True))
    assert f"tried: key {tmp_path}/wrong." in text
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    text = await refusal(target_of(guarded, known, identity=[str(tmp_path / "wrong")], agent=True))
    assert f"tried: key {tmp_path}/wrong, the agent's keys." in text


async def test_who_is_let_in(guarded: SshHost, ssh_hosts: SshHosts, tmp_path: Path) -> None:
    """Keys as files and as texts, with a passphrase, of an agent; passwords; and what was tried where none does."""
    known = ssh_hosts.known_hosts([guarded])
    key = guarded.key.read_text()
    assert await whoami(target_of(guarded, known, identity=[Sensitive(key)])) == me(guarded)
    locked = tmp_path / "locked"
    locked.write_text(key)
    locked.chmod(0o600)
    run("ssh-keygen", "-q", "-p", "-P", "", "-N", "word", "-f", str(locked))
    text = await refusal(target_of(guarded, known, identity=str(locked)))
    assert f"a private key cannot be used ({locked})" in text
    assert '"passphrase"' in text
    opened = {"identity": str(locked), "passphrase": Sensitive("word")}
    assert await whoami(target_of(guarded, known, **opened)) == me(guarded)
    text = await refusal(target_of(guarded, known, identity=str(locked), passphrase=Sensitive("another word")))
    assert f"a private key cannot be used ({locked})" in text
    assert "another word" not in text
    by_password = {"identity": None, "password": Sensitive("open sesame")}
    assert await whoami(target_of(guarded, known, **by_password)) == me(guarded)
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "wrong"))
    wrong = {"identity": [str(tmp_path / "wrong")], "password": Sensitive("friend")}
    text = await refusal(target_of(guarded, known, **wrong))
    assert 'does not let "ops" in' in text
    assert f"tried: key {tmp_path}/wrong, the password." in text
    assert "friend" not in text


@pytest.fixture
def agent(host: SshHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An agent that has the key of the hosts."""
    socket = str(tmp_path / "agent")
    with subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.readline()
        monkeypatch.setenv("SSH_AUTH_SOCK", socket)
        run("ssh-add", "-q", str(host.key))
        yield
        running.terminate()


@pytest.mark.usefixtures("agent")
async def test_keys_of_the_agent(host: SshHost, known: Path) -> None:
    assert await whoami(target_of(host, known, identity=None, agent=True)) == me(host)


async def test_other_users_by_sudo(guarded: SshHost, ssh_hosts: SshHosts) -> None:
    """R-13.2.3-1: the password goes where nobody sees it, and sudo that wants one it is not given fails at once."""
    known = ssh_hosts.known_hosts([guarded])
    password = Sensitive("open sesame")
    assert await whoami(target_of(guarded, known, become={"password": password})) == "root at guarded"
    nobody = {"user": "nobody", "password": password}
    assert await whoami(target_of(guarded, known, become=nobody)) == "nobody at guarded"
    assert 'sudo wants a password to become "root"' in await refusal(target_of(guarded, known, become=True))
    text = await refusal(target_of(guarded, known, become={"password": Sensitive("friend")}))
    assert "sudo does not accept the password" in text
    assert "friend" not in text
    connector = SshConnector()
    target = target_of(guarded, known, become={"password": password})
    script = 'cat; for f in /proc/[0-9]*/cmdline /proc/[0-9]*/environ; do tr "\\0" " " <$f; done 2>/dev/null'
    ran = await RemoteHands(connector).run(target, ["sh", "-c", script], given=b"given ")
    await connector.close()
    assert ran.out.startswith(b"given ")
    assert b"sesame" not in ran.out


async def test_a_key_that_is_not_there(host: SshHost, known: Path, tmp_path: Path) -> None:
    """No host is blamed for it, and nobody waits for it to come."""
    missing = str(tmp_path / "id_nobody")
    said = await refusal(target_of(host, known, identity=missing))
    assert f'the private key {missing} ("identity" in the inventory names it) cannot be read' in said
    assert "No such file" in said


async def test_hosts_behind_others(host: SshHost, guarded: SshHost, ssh_hosts: SshHosts, tmp_path: Path) -> None:
    """Jump hosts, as settings and as text, and the user's own configuration."""
    known = ssh_hosts.known_hosts([host, guarded])
    hop = dict(target_of(host, known).settings)
    behind = target_of(guarded, known, jump=[hop])
    assert await whoami(behind) == me(guarded)
    assert f" from {host.address}" in guarded.log or "127.0.0.1" in guarded.log
    down = {**hop, "port": 1}
    with pytest.raises(Unreachable, match=r"guarded: at its jump host: .* port 1 refuses"):
        await whoami(target_of(guarded, known, jump=[down]))
    config = tmp_path / "config"
    config.write_text(
        f"Host web\n  HostName {host.address}\n  Port {host.port}\n  User {host.user}\n  IdentityFile {host.key}\n"
    )
    plain = {"address": "web", "config": str(config), "known_hosts": str(known), "agent": False}
    assert await whoami(HostTarget("ssh", "web", plain)) == me(host)


async def test_more_commands_than_a_connection_takes(guarded: SshHost, ssh_hosts: SshHosts) -> None:
    """A host that takes two at a time over each, and two newcomers at a time, is asked for no more."""
    connector = SshConnector()
    hands = RemoteHands(connector)
    target = target_of(guarded, ssh_hosts.known_hosts([guarded]), connections=3)
    ran = await asyncio.gather(*(hands.run(target, ["sh", "-c", f"sleep 0.05; echo {n}"]) for n in range(20)))
    assert [int(one.out) for one in ran] == [*range(20)]
    await connector.close()


async def test_hosts_that_are_not_there(host: SshHost, known: Path) -> None:
    """Each trouble has its own sentence; a host that was found down is down at once for those who come later."""
    connector = SshConnector()
    hands = RemoteHands(connector)
    with pytest.raises(Unreachable, match="nothing listens there"):
        await hands.run(target_of(host, known, port=1), WHO)
    with pytest.raises(Unreachable, match=r'no host named "no\.invalid"'):
        await hands.run(target_of(host, known, address="no.invalid"), WHO)
    with silent_host() as (address, port):
        silent = target_of(host, known, address=address, port=port, connect_timeout=0.3)
        for _ in range(20):
            with pytest.raises(Unreachable, match=r"did not answer within 0\.3 s"):
                await hands.run(silent, WHO)
        with pytest.raises(Unreachable):
            await hands.reach(silent, 0.1)
    with pytest.raises(TargetRefused, match='there is no setting "adress" for SSH; did you mean "address"'):
        await hands.run(HostTarget("ssh", "web", {"adress": "x"}), WHO)
    with pytest.raises(TimeoutError):
        await hands.run(target_of(host, known), ["sh", "-c", "exec sleep 4791"], timeout=0.5)
    assert "sleep 4791" not in host.run("ps", "-e", "-o", "args")
    await connector.close()


async def test_a_host_is_waited_for(ssh_hosts: SshHosts) -> None:
    with ssh_hosts.some("late") as (host,):
        host.refuse()
        connector = SshConnector()
        reaching = asyncio.create_task(RemoteHands(connector).reach(target_of(host, ssh_hosts.known_hosts([host])), 30))
        await asyncio.sleep(0)
        host.listen()
        await reaching
        await connector.close()


class Deaf(asyncssh.SSHServer):
    """Lets everybody in, and nobody run anything."""

    def begin_auth(self, username: str) -> bool:
        return False

    def session_requested(self) -> asyncssh.SSHServerSession[bytes]:
        return asyncssh.SSHServerSession()


async def test_a_host_that_runs_no_commands(tmp_path: Path) -> None:
    """It is asked a few times, and then said."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    async with await asyncssh.create_server(Deaf, "127.0.0.1", 0, server_host_keys=[key]) as server:
        settings = {"address": "127.0.0.1", "port": server.get_port(), "user": "x", "agent": False, "config": False}
        target = HostTarget("ssh", "deaf", {**settings, "host_key_check": "off"})
        connector = SshConnector()
        async with asyncio.timeout(20):
            with pytest.raises(Unreachable, match="deaf does not allow commands over SSH: Session request failed"):
                await RemoteHands(connector).run(target, WHO)
        await connector.close()
