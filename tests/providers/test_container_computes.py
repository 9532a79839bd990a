"""Computes that are containers of a real engine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ordito.base.sensitive import Sensitive
from ordito.executors.local_hands import LocalHands
from ordito.providers.containers.computes import ContainerProvider
from ordito.providers.containers.engine import ContainerSettings, Engines
from ordito.work.providing import Delegation, ProviderFailed, ProviderVerb
from ordito.work.targets import HOST, HostTarget, Unreachable
from tests.support.real.needs import program
from tests.support.real.podman import SMALL, Podman

ENGINES = {"podman": Engines(LocalHands(), "podman")}
"""They ask for the engine once for all tests, which costs as much as all else that a test does with it."""

KINDS = ("tosca.nodes.Compute", "tosca.nodes.Root")
NAME = "ordito-e1-inner-server_1"


@pytest.fixture
def engine(podman: Podman, monkeypatch: pytest.MonkeyPatch) -> Iterator[Podman]:
    for name, value in podman.environment.items():
        monkeypatch.setenv(name, value)
    yield podman
    for name in podman.containers():
        podman.run("rm", "--force", "--time", "0", "--volumes", name)


def _asked(job: str = "J1", properties: Mapping[str, object] | None = None, ensemble: str = "e1") -> Delegation:
    return Delegation(
        "inner-server_1", KINDS, ProviderVerb.CREATE, ensemble=ensemble, job=job, properties=properties or {}
    )


def _provider(**settings: object) -> ContainerProvider:
    made: dict[str, object] = {"image": SMALL, "engine": "podman", **settings}
    found = ContainerSettings(**made)  # type: ignore[arg-type]
    return ContainerProvider(ENGINES.get(found.engine) or Engines(LocalHands(), found.engine), lambda: found)


def test_a_compute_is_a_container_that_is_made_once_and_removed(engine: Podman) -> None:
    provider = _provider(environment={"GREETING": "hello", "TOKEN": Sensitive("s3cret")})

    async def run() -> None:
        assert provider.provides(KINDS)
        first = await provider.create(_asked())
        identity = engine.run("inspect", "--format", "{{.Id}}", NAME)
        assert engine.run("exec", NAME, "sh", "-c", 'echo "$GREETING $TOKEN"') == "hello s3cret\n"
        # Processes whose parents have ended are taken in.
        engine.run("exec", NAME, "sh", "-c", "mkfifo /tmp/end; (sh -c 'cat /tmp/end; exit' >/dev/null 2>&1 &)")
        engine.run("exec", NAME, "sh", "-c", "echo >/tmp/end; while ps | grep '[c]at /tmp/end'; do :; done")
        assert "zombie" not in engine.run("exec", NAME, "sh", "-c", "ps -o stat,comm | sed 's/^Z.*/zombie/'")
        # The same job, cut off before it could write that down, finds it.
        assert await provider.create(_asked()) == first
        assert engine.run("inspect", "--format", "{{.Id}}", NAME) == identity
        host = first.attributes[HOST]
        assert isinstance(host, dict)
        made = host["container"]
        assert host == {"provider": "container", "id": NAME, "engine": "podman", "container": made}
        assert first.attributes["private_address"] == "127.0.0.1"  # The network of the tests is that of the host.
        target = provider.target("inner-server_1", first.attributes)
        told = {"engine": "podman", "container": NAME, "made": made, "instance": "inner-server_1"}
        assert target == HostTarget("container", f"container {NAME}", told)
        seen = await provider.look(_asked())
        assert (seen.status, seen.attributes) == ("ok", first.attributes)
        # Nobody wrote down what an earlier job has made: nothing of it is wanted.
        await provider.create(_asked("J2"))
        assert engine.run("inspect", "--format", "{{.Id}}", NAME) != identity
        engine.run("stop", "--time", "5", NAME)
        assert (await provider.look(_asked())).status == "error"
        assert await provider.delete(_asked())
        assert await provider.delete(_asked())
        assert (await provider.look(_asked())).status == "absent"
        assert engine.containers() == []

    asyncio.run(run())


SLOW = """\
#!/bin/sh
if [ "$1" = run ] && mkdir "{folder}/first" 2>/dev/null; then
    "{podman}" "$@"
fi
exec "{podman}" "$@"
"""
"""Podman, but for the first `run`, which finds that another one has come before it."""


def test_what_was_made_by_a_command_that_the_killed_program_has_left_is_taken(
    engine: Podman, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine goes on where the program is killed, and may be done with an image only when the job is resumed."""
    slow = tmp_path / "podman"
    slow.write_text(SLOW.format(folder=tmp_path, podman=program("podman")))
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    async def run() -> None:
        made = await _provider().create(_asked())
        host = made.attributes[HOST]
        assert isinstance(host, dict)
        assert engine.run("inspect", "--format", "{{.Id}} {{.State.Running}}", NAME).startswith(host["container"])

    asyncio.run(run())
    assert (tmp_path / "first").exists()


def test_a_container_of_somebody_else_that_comes_first_is_left_alone(
    engine: Podman, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "podman"
    slow.write_text(
        SLOW.format(folder=tmp_path, podman=program("podman")).replace(
            '"$@"\nfi', f"run -d --name {NAME} {SMALL} sleep 1000\nfi"
        )
    )
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(ProviderFailed, match="was not made for inner-server_1"):
        asyncio.run(_provider().create(_asked()))
    assert engine.containers() == [NAME]


def test_what_cannot_be_made_says_why_and_leaves_nothing(engine: Podman) -> None:
    command = ("sh", "-c", "echo no such configuration; exit 3")

    async def run() -> None:
        with pytest.raises(ProviderFailed, match="repository name must be lowercase"):
            await _provider(image="localhost/No-Such-Image").create(_asked())
        with pytest.raises(ProviderFailed, match=r"ended with exit 3(?s:.)*no such configuration"):
            await _provider(command=command).create(_asked())
        with pytest.raises(ProviderFailed, match="asks for 4000 CPUs, but this machine has"):
            await _provider().create(_asked(properties={"host::num_cpus": 4000}))
        with pytest.raises(ProviderFailed, match="900 TB"):
            await _provider().create(_asked(properties={"host::mem_size": "900 TB"}))
        with pytest.raises(ProviderFailed, match="add one to the inventory"):
            await _provider(image="").create(_asked())
        with pytest.raises(ProviderFailed, match="several lines"):
            await _provider(environment={"KEY": "one\ntwo"}).create(_asked())
        for name in engine.containers():
            engine.run("rm", "--force", name)
        engine.run("run", "--detach", "--name", NAME, SMALL, "sleep", "1000")
        with pytest.raises(ProviderFailed, match="was not made for inner-server_1"):
            await _provider().create(_asked())

    asyncio.run(run())


def test_an_image_is_chosen_by_the_operating_system_that_is_asked_for(engine: Podman) -> None:
    settings = ContainerSettings(image="plain", images={"debian": "any", "Debian:12": "twelve"})
    assert settings.image_for("", "") == "plain"
    assert settings.image_for("Debian", "11") == "any"
    assert settings.image_for("debian", "12") == "twelve"
    assert settings.image_for("fedora", "40") == "plain"


def test_without_an_engine_it_is_said_what_each_answered(tmp_path: object) -> None:
    async def run() -> None:
        provider = _provider(engine="ordito-no-such-engine")
        with pytest.raises(ProviderFailed, match=r"ordito-no-such-engine: there is no such.*Install or start one"):
            await provider.create(_asked())
        with pytest.raises(Unreachable, match="the container of server_1 is not known"):
            provider.target("server_1", {})

    asyncio.run(run())
