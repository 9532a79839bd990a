"""Processors of artifacts: what they are told of the host on which they are to have their effect."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from ordito.base.sensitive import Sensitive
from ordito.executors.processors import CALL, artifact_processors
from ordito.work.invocation import Ending, Printed
from ordito.work.needs import ImplementationNeeds
from ordito.work.targets import HostTarget
from tests.executors.place import Place, Ran
from tests.support.plugins import install

PACKAGE = "artifact:acme.artifacts.Package@"
RECIPE = "artifact:acme.artifacts.Recipe@"
TOKEN = "canary-of-a-target-3141"


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install("packages", tmp_path_factory.mktemp("plugins"))


@pytest.fixture(autouse=True)
def _installed(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(plugin))
    artifact_processors.cache_clear()
    yield
    artifact_processors.cache_clear()


def data(place: Place, **inputs: object) -> dict[str, object]:
    artifact = {"name": "package", "properties": {"store": str(place.scrap)}}
    return {"verb": "deploy", "artifact": artifact, "inputs": inputs}


def test_it_is_told_how_the_host_is_reached(place: Place) -> None:
    """R-13.2.6-1: protocol, address and credentials; none of it among its arguments."""
    settings = {"address": "10.0.0.7", "port": 22, "password": Sensitive(TOKEN)}
    target = HostTarget("ssh", "far", settings)
    ran = place.run("content", "package", processor=PACKAGE, data=data(place), target=target)
    assert (ran.outcome.ending, ran.text) == (Ending.SUCCEEDED, "installed package\n")
    call = json.loads((place.scrap / "package.json").read_text())
    assert call["target"] == {
        "protocol": "ssh",
        "name": "far",
        "settings": {"address": "10.0.0.7", "port": 22, "password": TOKEN},
    }
    assert TOKEN not in str(call["argv"])
    assert place.left() == []
    assert TOKEN.encode() not in b"".join(p.read_bytes() for p in place.slots.rglob("*") if p.is_file())


def test_it_runs_here_whatever_the_protocol(place: Place) -> None:
    assert place.executor.accepts((PACKAGE,), "ssh")
    assert place.executor.accepts((f"{PACKAGE}2.1",), "container")
    assert not place.executor.accepts(("artifact:acme.artifacts.Other@",), "ssh")
    assert not place.executor.accepts(("tosca.artifacts.Implementation.Bash",), "ssh")


def test_what_it_is_given_is_for_its_account_only(place: Place) -> None:
    """The file with credentials is private while the processor runs, and gone when it is cancelled."""
    place.write("templates/name.j2", "{{ dish }}")
    needs = ImplementationNeeds(templates=("templates/name.j2",), values={"dish": "wine"})
    more = {"dependencies": ("templates/name.j2",), "needs": needs, "outputs": ("served",)}
    ran = place.run("served dish\n", "recipe", processor=RECIPE, data=data(place, dish="wine"), **more)
    assert ran.outcome.outputs == {"served": "wine"}
    modes: list[int] = []

    async def run() -> Ran:
        ran = Ran()
        invocation = place.invocation("content", "package", processor=PACKAGE, data=data(place), step="package")
        async for _, progress in place.executor.run([invocation]):
            ran.take(progress)
            if not isinstance(progress, Printed):
                modes.extend(stat.S_IMODE(file.stat().st_mode) for file in place.slots.rglob(CALL))
        return ran

    assert asyncio.run(run()).outcome.ending is Ending.SUCCEEDED
    assert set(modes) == {0o400}
    assert not list(place.slots.rglob(CALL))
