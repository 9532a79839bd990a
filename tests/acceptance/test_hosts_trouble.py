"""What goes wrong with hosts: each a clear outcome, what is recorded is true, and the same command completes it once
the trouble is gone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.on_hosts import (
    Hosted,
    application,
    has_begun,
    has_ended,
    hold,
    let_go,
    operations,
    write_inventory,
)
from tests.support.real.host_files import make_key
from tests.support.real.hosts import SshHost, SshHosts, User, silent_host

WHOLE = ["begin create", "end create", "begin configure", "end configure", "begin start", "end start"]
STARTED = ("started", "ok")
IMPATIENT = """
import ordito.executors.remote.executor as executor
from ordito.executors.remote.connection import HostTimeouts
executor.HostTimeouts = lambda: HostTimeouts(reconnect=1.0, settle=0.2)
"""
"""A host that is not reached again is given up soon, and an operation that is found running as well."""


def completes(service: Hosted, host: SshHost, *words: str) -> None:
    """The trouble is gone, and a command brings everything up, each operation once."""
    done = service.run(*words) if words else service.deploy()
    assert done.code == 0, done.both
    assert service.state("app_1") == STARTED
    assert operations(host) == WHOLE
    assert (Path(f"{host.root}/tmp/app/created")).exists()


# ------------------------------------------------------------------------------------------------ it is not reached


Spoil = Callable[[Hosted, SshHosts, SshHost], None]


def wrong_key(service: Hosted, hosts: SshHosts, host: SshHost) -> None:
    make_key(service.home / "other_key")
    write_inventory(service.inventory, hosts, [host], identity=str(service.home / "other_key"))


def changed_host_key(service: Hosted, hosts: SshHosts, host: SshHost) -> None:
    write_inventory(service.inventory, hosts, [host])
    host.set_host_key()


def nobody_listens(service: Hosted, hosts: SshHosts, host: SshHost) -> None:
    write_inventory(service.inventory, hosts, [host])
    host.stop()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (wrong_key, 'does not let "ops" in'),
        (changed_host_key, "THE HOST KEY HAS CHANGED"),
        (nobody_listens, "refuses connections"),
    ],
)
def test_a_host_that_cannot_be_reached_changes_nothing(
    ssh_hosts: SshHosts, tmp_path: Path, spoil: Spoil, said: str
) -> None:
    ssh_hosts.need_isolation()
    service = application(tmp_path)
    with ssh_hosts.some("far") as (host,):
        spoil(service, ssh_hosts, host)
        failed = service.deploy()
        assert failed.code == 4, failed.both
        assert said in failed.both, failed.both
        assert "far" in failed.both
        assert "Traceback" not in failed.both
        told = failed.err.partition("Next:")[2]
        assert (" heal machine_1" in told) == (spoil is nobody_listens), "what lets nobody in is not replaced"
        assert (" hosts check far " in told and f"{service.inventory}:3" in told) == (spoil is not nobody_listens)
        assert " deploy " in told
        assert service.instances().get("app_1", {}).get("readyState", {}).get("state", "initial") == "initial"
        if spoil is nobody_listens:
            host.start_again()
        write_inventory(service.inventory, ssh_hosts, [host])
        completes(service, host)


def test_a_host_that_never_answers(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    ssh_hosts.need_isolation()
    service = application(tmp_path)
    with ssh_hosts.some("mute") as (host,), silent_host() as (address, port):
        write_inventory(service.inventory, ssh_hosts, [host], connect_timeout="1 s")
        text = service.inventory.read_text()
        service.inventory.write_text(text.replace(host.address, address).replace(f"{host.port}", f"{port}"))
        failed = service.deploy()
        assert failed.code == 4, failed.both
        assert "mute" in failed.both
        service.inventory.write_text(text)
        completes(service, host)


# --------------------------------------------------------------------------------------- it is reached, and unfit


def test_a_full_disk(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    ssh_hosts.need_isolation()
    service = application(tmp_path)
    host = ssh_hosts.start("full", disks={"/home/ops": "16k"})
    write_inventory(service.inventory, ssh_hosts, [host])
    failed = service.deploy()
    assert failed.code == 1, failed.both
    assert "make room" in failed.both
    host.resize_disk("/home/ops", "1m")
    completes(service, host)
    ssh_hosts.stop(host)


def test_sudo_that_asks_for_a_password(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    ssh_hosts.need_isolation()
    service = application(tmp_path)
    host = ssh_hosts.start("asks", user=User("ops", "sesame-31", sudo="asks"))
    write_inventory(service.inventory, ssh_hosts, [host], become="true")
    failed = service.deploy()
    assert failed.code == 4, failed.both
    assert "password" in failed.both
    write_inventory(service.inventory, ssh_hosts, [host], become="{ password: { file: sudo-password } }")
    (tmp_path / "sudo-password").write_text("sesame-31\n")
    completes(service, host)
    assert (host.root / "tmp/app/created").stat().st_uid == 0
    ssh_hosts.stop(host)


def test_files_of_the_service_that_cannot_be_brought(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    """An artifact that cannot be read, and one whose checksum differs."""
    ssh_hosts.need_isolation()
    service = application(tmp_path)
    data, template = service.service.with_name("data.txt"), service.service.read_text()
    with ssh_hosts.some("fine") as (host,):
        write_inventory(service.inventory, ssh_hosts, [host])
        data.unlink()
        data.symlink_to(data.name)
        unreadable = service.deploy()
        assert unreadable.code == 3, unreadable.both
        assert "data.txt" in unreadable.both
        data.unlink()
        data.write_text("data\n")
        sums = "file: data.txt, checksum_algorithm: SHA-256, checksum: '" + 64 * "0" + "'"
        service.service.write_text(template.replace("file: data.txt", sums))
        differs = service.deploy()
        assert differs.code == 3, differs.both
        assert "checksum" in differs.both
        assert operations(host) == []
        service.service.write_text(template)
        completes(service, host)


# --------------------------------------------------------------------------------------------- in the middle of it


def test_a_connection_is_cut_and_the_operation_goes_on(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    """It is not begun again: the orchestrator comes back, and waits for it."""
    ssh_hosts.need_isolation()
    service = application(tmp_path)
    with ssh_hosts.some("cut") as (host,):
        write_inventory(service.inventory, ssh_hosts, [host])
        hold(host, "create")
        running = service.start(*service.deploying())
        has_begun(host)
        host.cut()
        let_go(host)
        out, err = running.communicate(60)
        assert running.wait() == 0, out + err
        assert service.state("app_1") == STARTED
        assert operations(host) == WHOLE


def test_a_connection_is_cut_and_the_operation_dies(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    ssh_hosts.need_isolation()
    service = application(tmp_path)
    with ssh_hosts.some("dies") as (host,):
        write_inventory(service.inventory, ssh_hosts, [host])
        hold(host, "configure")
        running = service.start(*service.deploying())
        has_begun(host)
        host.stop()
        host.start_again()
        out, err = running.communicate(60)
        assert running.wait() == 1, out + err
        assert "app_1" in out + err
        assert service.state("app_1") == ("error", "unknown"), out + err
        let_go(host)
        done = service.deploy()
        assert done.code == 0, done.both
        assert service.state("app_1") == STARTED
        assert operations(host).count("begin create") == 1


def test_a_host_hangs_in_the_middle(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    """Nobody knows how the operation ended; it is asked when the host is back, and nothing is done twice."""
    ssh_hosts.need_isolation()
    service = application(tmp_path)
    with ssh_hosts.some("hangs") as (host,):
        write_inventory(service.inventory, ssh_hosts, [host], connect_timeout="1 s")
        hold(host, "configure")
        running = service.start(*service.deploying(), code=IMPATIENT)
        has_begun(host)
        host.freeze()
        out, err = running.communicate(100)
        assert running.wait() == 4, out + err
        assert service.state("app_1")[1] == "unknown"
        host.thaw()
        let_go(host)
        done = service.deploy()
        assert done.code == 0, done.both
        assert service.state("app_1") == STARTED


@pytest.mark.parametrize("ends", [True, False])
def test_the_orchestrator_is_killed(ssh_hosts: SshHosts, tmp_path: Path, ends: bool) -> None:
    """What it had begun goes on alone. When the job is resumed its outcome is taken; if it still runs it is ended, and
    begun again. Never do two of them run at one time."""
    ssh_hosts.need_isolation()
    service = application(tmp_path)
    with ssh_hosts.some("left") as (host,):
        write_inventory(service.inventory, ssh_hosts, [host])
        hold(host, "create")
        running = service.start(*service.deploying())
        has_begun(host)
        running.kill()
        running.wait()
        running.communicate()
        if ends:
            let_go(host)
            has_ended(host, "create")
            completes(service, host, "jobs", "resume")
            return
        (host.root / "tmp/app/holding").unlink()
        resumed = service.start(*service.words("jobs", "resume"), code=IMPATIENT)
        has_begun(host)
        let_go(host)
        out, err = resumed.communicate(60)
        assert resumed.wait() == 0, out + err
        assert service.state("app_1") == STARTED
        assert operations(host) == ["begin create", *WHOLE]


def test_a_lost_host_is_tidied_when_it_is_found_again(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    """What was at work there when it was lost is ended before anybody else gets the host, and what the program had
    there is gone."""
    ssh_hosts.need_isolation()
    service = application(tmp_path)
    with ssh_hosts.some("found") as (host,):
        write_inventory(service.inventory, ssh_hosts, [host], connect_timeout="1 s")
        hold(host, "configure")
        running = service.start(*service.deploying())
        has_begun(host)
        running.kill()
        running.wait()
        running.communicate()
        host.freeze()
        resumed = service.start(*service.words("jobs", "resume"), code=IMPATIENT)
        out, err = resumed.communicate(60)
        assert resumed.wait() == 4, out + err
        assert service.state("app_1")[1] == "unknown"
        assert service.run("undeploy", "--yes").code == 4
        assert service.taken() == {"found": "lost"}
        host.thaw()
        checked = service.run("hosts", "check")
        assert "check whether something remains there of machine_1" in checked.both
        assert service.taken() == {}
        assert not (host.home_outside / ".ordito").exists()
        assert "do.sh" not in host.run("ps", "-eo", "args")
