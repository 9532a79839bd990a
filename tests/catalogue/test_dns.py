"""Blocks that register names, in files of hosts and with a real server of DNS."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from tests.support.blocks import Block
from tests.support.real.bind import Bind

HOSTS = "ordito.dev/lifecycle/dns@v1#RegisterHosts"
NO_HOSTS = "ordito.dev/lifecycle/dns@v1#DeregisterHosts"
REGISTER = "ordito.dev/lifecycle/dns@v1#Register"
DEREGISTER = "ordito.dev/lifecycle/dns@v1#Deregister"
OTHERS = "127.0.0.1\tlocalhost # by hand\n10.9.9.9 old # by orditorium"


@pytest.fixture
def hosts(tmp_path: Path) -> Path:
    """A file with lines of others, without an end of the last one."""
    place = tmp_path / "hosts"
    place.write_text(OTHERS)
    place.chmod(0o644)
    return place


def test_names_in_a_file(tmp_path: Path, hosts: Path) -> None:
    """Each name gets a line of ours; undone, it is what it was: not there, or what was registered before."""
    one = {"file": str(hosts), "names": ["API", "api.shop"], "address": "10.0.0.1"}
    two = {"file": str(hosts), "names": ["api", "web"], "address": "2001:DB8::0:1"}
    first = Block(HOSTS, tmp_path).execute(one, job="J1")
    assert (first.status, first.err) == (0, "")
    assert hosts.read_text() == f"{OTHERS}\n10.0.0.1 API # by ordito\n10.0.0.1 api.shop # by ordito\n"
    second = Block(HOSTS, tmp_path).execute(two, job="J2")
    assert hosts.read_text().splitlines()[-2:] == ["2001:db8::1 api # by ordito", "2001:db8::1 web # by ordito"]
    assert Block(HOSTS, tmp_path).undo(two, second.outputs).status == 0
    assert hosts.read_text() == f"{OTHERS}\n10.0.0.1 api.shop # by ordito\n10.0.0.1 api # by ordito\n"
    for _ in range(2):  # Undone twice it stays undone.
        assert Block(HOSTS, tmp_path).undo(one, first.outputs).status == 0
        assert hosts.read_text() == f"{OTHERS}\n"
    assert hosts.stat().st_mode & 0o777 == 0o644


def test_names_taken_out_of_a_file(tmp_path: Path, hosts: Path) -> None:
    """Only lines of ours go; an attempt that was cut off does not make the next one forget what was there."""
    Block(HOSTS, tmp_path).execute({"file": str(hosts), "names": ["api"], "address": "10.0.0.1"}, job="J1")
    config = {"file": str(hosts), "names": ["api", "localhost"]}
    assert Block(NO_HOSTS, tmp_path).execute(config, job="J2").status == 0
    assert hosts.read_text() == f"{OTHERS}\n"
    again = Block(NO_HOSTS, tmp_path).execute(config, job="J2")
    assert again.outputs["before"] == {"api": "10.0.0.1", "localhost": None}
    assert Block(NO_HOSTS, tmp_path).undo(config, again.outputs).status == 0
    assert hosts.read_text() == f"{OTHERS}\n10.0.0.1 api # by ordito\n"


def test_names_of_others(tmp_path: Path, hosts: Path) -> None:
    """A name in a line of somebody else is refused; what somebody else has registered since is left alone."""
    config: dict[str, object] = {"file": str(hosts), "names": ["new", "OLD"], "address": "10.0.0.1"}
    refused = Block(HOSTS, tmp_path).execute(config)
    assert refused.status == 1
    assert f"{hosts}:2: old is named here already" in refused.err
    config["names"] = ["new", "other"]
    ran = Block(HOSTS, tmp_path).execute(config)
    Block(HOSTS, tmp_path).execute({**config, "names": ["new"], "address": "10.0.0.2"}, job="J3")
    undone = Block(HOSTS, tmp_path).undo(config, ran.outputs)
    assert undone.status == 1
    assert "left alone, since somebody else has changed it: new is 10.0.0.2 now" in undone.err
    assert hosts.read_text() == f"{OTHERS}\n10.0.0.2 new # by ordito\n"


def test_a_file_that_somebody_holds(tmp_path: Path, hosts: Path) -> None:
    """The file is locked while it is changed, and who waits for it sees what the other has made of it."""
    block = Block(HOSTS, tmp_path)
    with hosts.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = block.start({"file": str(hosts), "names": ["api"], "address": "10.0.0.1"})
        while str(hosts.stat().st_ino) not in Path("/proc/locks").read_text().partition("-> ")[2]:
            assert process.poll() is None
        # As the block itself would do it, by another file in its place.
        fresh = tmp_path / "fresh"
        fresh.write_text("10.0.0.3 web # by ordito\n")
        fresh.replace(hosts)
    assert process.wait(60) == 0
    assert hosts.read_text() == "10.0.0.3 web # by ordito\n10.0.0.1 api # by ordito\n"


def test_hosts_that_are_refused(tmp_path: Path, hosts: Path) -> None:
    """Names and addresses that would be something else in the file."""
    fine: dict[str, object] = {"file": str(hosts), "names": ["api"], "address": "10.0.0.1"}
    for wrong, said in (
        ({"names": ["a\n10.0.0.1 bank"]}, "is no name of a host"),
        ({"address": "10.0.0"}, "'10.0.0' is no IP address"),
        ({"file": "hosts"}, "is no absolute path"),
    ):
        ran = Block(HOSTS, tmp_path).execute({**fine, **wrong})
        assert ran.status == 2
        assert said in ran.err
    assert "there is no file" in Block(HOSTS, tmp_path).execute({**fine, "file": str(tmp_path / "none")}).err
    assert hosts.read_text() == OTHERS


def test_a_name_in_dns(tmp_path: Path, bind: Bind) -> None:
    """It is registered in place of all that it has; undone, it is what it was, also when an attempt was cut off."""
    name = "api.shop.test"
    config = {**bind.config, "name": name, "values": ["10.0.0.2", "10.0.0.1"]}
    first = Block(REGISTER, tmp_path).execute(config, job="J1")
    assert (first.status, first.err) == (0, "")
    assert bind.ask(name) == ["10.0.0.1", "10.0.0.2"]
    second = {**config, "values": ["10.0.0.3"], "zone": "shop.test", "ttl": 5}
    Block(REGISTER, tmp_path).execute(second, job="J2")
    again = Block(REGISTER, tmp_path).execute(second, job="J2")
    assert bind.ask(name) == ["10.0.0.3"]
    assert Block(REGISTER, tmp_path).undo(second, again.outputs).status == 0
    assert bind.ask(name) == ["10.0.0.1", "10.0.0.2"]
    gone = Block(DEREGISTER, tmp_path).execute({**bind.config, "name": name}, job="J3")
    assert (gone.status, bind.ask(name)) == (0, [])
    assert Block(DEREGISTER, tmp_path).undo({**bind.config, "name": name}, gone.outputs).status == 0
    assert bind.ask(name) == ["10.0.0.1", "10.0.0.2"]
    for _ in range(2):
        assert Block(REGISTER, tmp_path).undo(config, first.outputs).status == 0
        assert bind.ask(name) == []


def test_other_records(tmp_path: Path, bind: Bind) -> None:
    """Texts and further names; what a server passes over in silence is a failure all the same."""
    text = {**bind.config, "name": "t.shop.test", "type": "TXT", "values": ['a "b" \\ c;d']}
    assert Block(REGISTER, tmp_path).execute(text, job="J1").status == 0
    assert bind.ask("t.shop.test", "TXT") == ['"a \\"b\\" \\\\ c;d"']
    alias = {**bind.config, "type": "CNAME", "values": ["ns.shop.test"]}
    assert Block(REGISTER, tmp_path).execute({**alias, "name": "w.shop.test"}, job="J2").status == 0
    ran = Block(REGISTER, tmp_path).execute({**alias, "name": "t.shop.test"}, job="J3")
    assert ran.status == 1
    assert "t.shop.test. CNAME is nothing after the update" in ran.err


def test_what_a_server_of_dns_refuses(tmp_path: Path, bind: Bind) -> None:
    """The server's word is told, with what may be the reason; never the key."""
    config: dict[str, object] = {**bind.config, "name": "x.shop.test", "values": ["10.0.0.1"]}
    unsigned = Block(REGISTER, tmp_path).execute({**config, "key": None, "secret": None}, job="J1")
    wrong = Block(REGISTER, tmp_path).execute({**config, "secret": "Z2VoZWlt"}, job="J2")
    assert unsigned.status == wrong.status == 1
    assert "REFUSED" in unsigned.err
    assert "see whether server, zone, key and secret belong together" in unsigned.err
    assert "Z2VoZWlt" not in wrong.err + wrong.out
    assert bind.ask("x.shop.test") == []
    for bad, said in (
        ({"name": "x\nsend"}, "is no name"),
        ({"values": ["10.0.0.1\nsend"]}, "is no address of IP version 4"),
        ({"secret": 'x"; }'}, "it is not written in Base64"),
        ({"server": "a b"}, "is neither a name nor an address"),
        ({"key": None}, "a secret needs the name of its key"),
    ):
        ran = Block(REGISTER, tmp_path).execute({**config, **bad}, job="J3")
        assert ran.status == 2
        assert said in ran.err


def test_changed_by_others_in_dns(tmp_path: Path, bind: Bind) -> None:
    """What somebody else has registered since is left alone, and the undo says so."""
    config = {**bind.config, "name": "o.shop.test", "values": ["10.0.0.1"]}
    ran = Block(REGISTER, tmp_path).execute(config, job="J1")
    Block(REGISTER, tmp_path).execute({**config, "values": ["10.0.0.9"]}, job="J2")
    undone = Block(REGISTER, tmp_path).undo(config, ran.outputs)
    assert undone.status == 1
    assert "o.shop.test. A was left alone: somebody else has made it 10.0.0.9" in undone.err
    assert bind.ask("o.shop.test") == ["10.0.0.9"]


def test_without_the_programs_of_dns(tmp_path: Path) -> None:
    """What is missing is said, and how to get it."""
    (tmp_path / "bin").mkdir()
    config = {"server": "127.0.0.1", "name": "x.test", "values": ["10.0.0.1"]}
    ran = Block(REGISTER, tmp_path, path=str(tmp_path / "bin")).execute(config)
    assert ran.status == 1
    assert "there is no dig" in ran.err
    assert "bind9-dnsutils" in ran.err
